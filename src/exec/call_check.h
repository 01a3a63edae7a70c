// The check that all ranks of a world are making the same call, and what they tell each other on that occasion.
//
// Each rank writes a record of the call into its own window, tells all others, waits for theirs and reads them. Records
// alternate between two places, which suffices: a rank writes the record of call k + 2 after all others announced call
// k + 1, and they announce it after they read call k.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "reshard/error.h"
#include "reshard/fabric.h"

namespace reshard {

class CallCheck {
 public:
  // Collective.
  CallCheck(Endpoint& endpoint, Clock::time_point deadline);

  // Collective. `call` says in words what the rank is about to do; if two ranks differ, every rank throws the same
  // Error(invalid_argument) that quotes the first two that do. `released` are numbers, ascending; returns those that
  // every rank passed, or some of them if they are many; the others follow at later calls.
  std::vector<std::int64_t> agree(std::string_view call, std::span<const std::int64_t> released,
                                  Clock::time_point deadline);
  // Collective, after agree(): whether every rank could prepare the call. If one could not, every rank throws the error
  // of the first that could not.
  void settle(const std::optional<Error>& fault, Clock::time_point deadline);
  // Calls agreed on so far.
  std::uint64_t calls() const { return calls_; }

 private:
  struct Record;
  std::span<const std::int64_t> shown(std::span<const std::int64_t> released) const;
  void publish(std::uint64_t fingerprint, std::string_view text, std::span<const std::int64_t> released);
  void tell_all();
  // Reads the first `bytes` bytes of the record of `peer`.
  Record read(RankId peer, Index bytes);
  [[noreturn]] void disagree(RankId first, RankId second);

  Endpoint* endpoint_;
  WindowId window_;
  SignalId signal_;
  std::uint64_t calls_ = 0;
};

}  // namespace reshard
