// Changes to a program that make it pass, tried one after the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reshard/check.h"

namespace reshard::explore {

// A changed program and what was changed, in words and in two lines: where, and the statement to add or change.
struct Edit {
  std::string description;
  SymbolicProgram program;
};

// The first that passes the same check: one change, or else two. `program` has no composites.
std::optional<Repair> find_repair(const SymbolicProgram& program, const CheckOptions& options,
                                  const CheckReport& report);

// Single changes, those most likely for this fault first.
std::vector<Edit> edits_for(const SymbolicProgram& program, CheckFault fault);

// Of the order of data and notifications.
void add_fences(const SymbolicProgram& program, std::vector<Edit>& edits);
void fence_each_put(const SymbolicProgram& program, std::vector<Edit>& edits);
void move_notifications(const SymbolicProgram& program, std::vector<Edit>& edits);
void move_waits(const SymbolicProgram& program, std::vector<Edit>& edits);
// A round in which every rank hears from every other, at each place of the body; first before the first put.
void add_rounds(const SymbolicProgram& program, std::vector<Edit>& edits);
void double_windows(const SymbolicProgram& program, std::vector<Edit>& edits);
// Of what is notified and awaited.
void wait_for_at_least(const SymbolicProgram& program, std::vector<Edit>& edits);
void count_calls(const SymbolicProgram& program, std::vector<Edit>& edits);
void add_one_each(const SymbolicProgram& program, std::vector<Edit>& edits);
void subtract_instead_of_reset(const SymbolicProgram& program, std::vector<Edit>& edits);
void wait_for_all(const SymbolicProgram& program, std::vector<Edit>& edits);
void notify_from_all(const SymbolicProgram& program, std::vector<Edit>& edits);

}  // namespace reshard::explore
