// G12. Each CASE but 0 takes what a wait compares by for what a notification does, or the reverse, and must be refused
// by the compiler.
#include "reshard/builder.h"
#include "reshard/fabric.h"

using namespace reshard;

void use(Kernel& k, const SignalRef& s, Endpoint& e, SignalId id) {
#if CASE == 0
  k.notify(s[0], Add, 1);
  k.wait(s[0], Ge, 1);
  e.notify(RankId(0), id, 0, 1, Endpoint::Update::add);
  e.wait(id, 0, 1, Endpoint::Until::equal, {});
#elif CASE == 1
  k.wait(s[0], Add, 1);
#elif CASE == 2
  k.notify(s[0], Ge, 1);
#elif CASE == 3
  e.wait(id, 0, 1, Endpoint::Update::set, {});
#elif CASE == 4
  e.notify(RankId(0), id, 0, 1, Endpoint::Until::greater_equal);
#elif CASE == 5
  k.statement({Wait{.slot = s.slot(), .compare = NotifyOp::set}});
#elif CASE == 6
  k.wait(s[0], 1, 1);
#endif
}
