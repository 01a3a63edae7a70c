#include "fabric/requests.h"

namespace reshard::fabric {

void refuse_peer(Index self, RankId peer, Index ranks) {
  fail(Code::invalid_argument, "rank {}: peer {} is not one of the world's {} ranks", self, peer.value(), ranks);
}

void refuse_slot(Index self, std::string_view signal, Index owner, Index slots, Index slot) {
  fail(Code::invalid_argument, "rank {}: signal \"{}\" of rank {} has {} slots, no slot {}", self, signal, owner, slots,
       slot);
}

void check_transfer(Index self, std::string_view call, const WindowEnd& window, const StridedCopy& copy,
                    ByteRange in_window, ByteRange in_local, std::size_t local_bytes) {
  if (!is_well_formed(copy)) {
    fail(Code::invalid_argument, "rank {}: {} with window \"{}\" of rank {}: a count or row length is negative", self,
         call, window.name, window.owner);
  }
  if (!in_window.within(window.bytes)) {
    fail(Code::invalid_argument,
         "rank {}: {} at offset {}, length {}, reaches outside window \"{}\" of rank {}, which has {} bytes", self,
         call, in_window.begin, in_window.end - in_window.begin, window.name, window.owner, window.bytes);
  }
  if (!in_local.within(static_cast<Index>(local_bytes))) {
    fail(
        Code::invalid_argument,
        "rank {}: {} with window \"{}\" of rank {}: offset {}, length {}, reaches outside the local memory of {} bytes",
        self, call, window.name, window.owner, in_local.begin, in_local.end - in_local.begin, local_bytes);
  }
}

}  // namespace reshard::fabric
