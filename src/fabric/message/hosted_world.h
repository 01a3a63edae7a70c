// One rank's part of a world that may span hosts: ranks of one host share memory, all others are reached by a wire.
#pragma once

#include <exception>
#include <memory>

#include "fabric/message/host_group.h"
#include "fabric/message/message_endpoint.h"

namespace reshard::fabric {

class HostedWorld {
 public:
  // `wire` is null where the group is the whole world, and nowhere else. `patience`: see MessageOptions.
  HostedWorld(HostGroup group, std::unique_ptr<Wire> wire, CopyKernel copy, std::chrono::milliseconds patience);

  Endpoint& endpoint() { return messages_ ? *messages_ : group_.host->endpoint(); }
  // Collective: serves the others until all have left. Where an exception has come up since this was made, they are
  // told. Returns whether all have left in good order. No call after it.
  bool leave(Clock::time_point deadline) noexcept;

 private:
  int exceptions_ = std::uncaught_exceptions();
  HostGroup group_;
  std::unique_ptr<Wire> wire_;
  std::unique_ptr<MessageEndpoint> messages_;
};

}  // namespace reshard::fabric
