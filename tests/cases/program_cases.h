// Programs of the cases: under simulated schedules, and on threads and processes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "reshard/check.h"
#include "reshard/program_run.h"
#include "reshard/program_text.h"
#include "reshard/simulate.h"

namespace reshard {

using CaseSizes = std::map<std::string, Index>;

// `text` with every `from` replaced.
std::string with(std::string text, std::string_view from, std::string_view to);

// Runs `body` on threads, then on processes.
void on_every_fabric(Index ranks, const std::function<void(World&)>& body);
// Three calls, each with what the program expects: in twenty schedules, in which each rank is slow in turn, and on
// threads and processes.
void expect_right(std::string_view text, Index ranks, const CaseSizes& sizes = {});
// One call, under schedules in which `slow` is slow, if any: how many of twenty give something else than the program
// expects.
int wrong_schedules(std::string_view text, Index ranks, std::optional<RankId> slow);
// Of all interleavings; none where all are right.
std::optional<CheckFault> fault_of(std::string_view text, Index ranks, Index calls, const CaseSizes& sizes = {});
// Every rank of every fabric and schedule is refused with this message, in the first call.
void expect_refused(std::string_view text, Index ranks, const CaseSizes& sizes, const std::string& message);

// RESHARD_ROUNDS, or as many as that.
Index rounds_or(Index rounds);

}  // namespace reshard
