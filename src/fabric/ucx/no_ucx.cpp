// join_ucx in builds without UCX.
#include "base/fail.h"
#include "reshard/ucx_fabric.h"

namespace reshard {

struct UcxWorld::State {};

UcxWorld::UcxWorld(std::unique_ptr<State> state) : state_(std::move(state)) {}
UcxWorld::UcxWorld(UcxWorld&&) noexcept = default;
UcxWorld::~UcxWorld() = default;

Endpoint& UcxWorld::endpoint() { fail(Code::unsupported, "this build of reshard has no UCX"); }

bool ucx_available() { return false; }

UcxWorld join_ucx(const UcxOptions& options) {
  fail(Code::unsupported, "rank {} cannot join over UCX: this build of reshard has none; build it where libucx-dev is",
       options.rank.value());
}

}  // namespace reshard
