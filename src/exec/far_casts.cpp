// Gets that only bring what the cast after them reads. Where the peer's memory is at hand, the cast reads it there, in
// one pass; the buffer between them is left alone.
#include <algorithm>

#include "exec/steps.h"

namespace reshard {

// The buffer must be memory of the program's own that nothing but such pairs touches, so that nobody misses the bytes.
void Executor::Steps::find_far_casts() {
  if (is_any_deferred()) return;
  std::vector<std::size_t> pairs(program_->windows.size());
  for (std::size_t s = 0; s + 1 < steps_.size(); ++s) {
    Step& get = steps_[s];
    const Step& cast = steps_[s + 1];
    get.feeds_cast = get.code == OpCode::get && cast.code == OpCode::cast && get.copies == 1 && cast.casts == 1 &&
                     casts_.read_through(cast.first_cast, get.target_window, copies_[get.first_copy]);
    if (get.feeds_cast) ++pairs[static_cast<std::size_t>(get.target_window)];
  }
  for (std::size_t w = 0; w < pairs.size(); ++w) {
    const bool is_between =
        program_->windows[w].role == BufferRole::local && 2 * pairs[w] == uses_of(static_cast<int>(w));
    if (pairs[w] == 0 || is_between) continue;
    for (Step& step : steps_) step.feeds_cast &= step.target_window != static_cast<int>(w);
  }
}

// How often steps have the window as an end.
std::size_t Executor::Steps::uses_of(int window) const {
  std::size_t uses = 0;
  for (const Step& step : steps_) {
    const bool moves = step.copies > 0;
    uses += moves && step.code != OpCode::fill && step.source_window == window;
    uses += moves && step.target_window == window;
  }
  return uses + folds_.uses_of(window) + casts_.uses_of(window);
}

void Executor::Steps::reach(Endpoint& endpoint, const Binding& binding) {
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    Step& step = steps_[s];
    const bool gets = step.code == OpCode::get, puts = step.code == OpCode::put && step.combine == nullptr;
    if (!gets && !puts) continue;
    const WindowId window = binding.windows[static_cast<std::size_t>(gets ? step.source_window : step.target_window)];
    step.far = endpoint.peer_memory(window, step.peer);
    if (step.feeds_cast) steps_[s + 1].far = step.far;
  }
}

}  // namespace reshard
