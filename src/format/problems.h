// Collects what is wrong with many tensors, to report it together.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fail.h"

namespace reshard {

class Problems {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    if (++count_ <= kShown) shown_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  // Whether another problem would be shown: hints that cost time can be left out otherwise.
  bool shows_more() const { return count_ < kShown; }
  bool empty() const { return count_ == 0; }

  // Throws Error(invalid_argument) with the first ten; nothing if there are none.
  void raise(std::string_view heading) const {
    if (empty()) return;
    std::string text = fmt::format("{} ({} problem{})", heading, count_, count_ == 1 ? "" : "s");
    for (const std::string& problem : shown_) text += "\n  - " + problem;
    if (count_ > kShown) text += fmt::format("\n  ... and {} more", count_ - kShown);
    throw Error(Code::invalid_argument, text);
  }

 private:
  static constexpr std::size_t kShown = 10;
  std::size_t count_ = 0;
  std::vector<std::string> shown_;
};

}  // namespace reshard
