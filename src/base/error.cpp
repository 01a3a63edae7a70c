#include "reshard/error.h"

namespace reshard {

std::string_view name_of(Code code) {
  switch (code) {
    case Code::invalid_argument: return "invalid argument";
    case Code::unsupported: return "unsupported";
    case Code::timeout: return "timeout";
    case Code::peer_lost: return "peer lost";
    case Code::corrupt: return "corrupt";
    case Code::io: return "io";
    case Code::internal: return "internal";
  }
  return "unknown";
}

}  // namespace reshard
