#include "fabric/message/hosted_world.h"

#include <utility>

namespace reshard::fabric {

HostedWorld::HostedWorld(HostGroup group, std::unique_ptr<Wire> wire, CopyKernel copy,
                         std::chrono::milliseconds patience)
    : group_(std::move(group)), wire_(std::move(wire)) {
  if (wire_ == nullptr) return;
  messages_ = std::make_unique<MessageEndpoint>(
      *wire_,
      MessageOptions{.copy = copy, .hosts = group_.hosts, .patience = patience, .neighbours = group_.neighbours.get()});
}

bool HostedWorld::leave(Clock::time_point deadline) noexcept {
  const bool has_failed = std::uncaught_exceptions() > exceptions_;
  if (messages_ == nullptr) return !has_failed;  // the host sees its ranks leave
  RankOutcome outcome;
  if (has_failed) {
    outcome = {.end = RankOutcome::End::threw, .code = Code::internal, .message = "it left its world by an exception"};
  }
  return messages_->leave(outcome, deadline);
}

}  // namespace reshard::fabric
