// Collects faults: one for each rule, statement and subject, for the least number of ranks.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "program/verify/verify_text.h"
#include "reshard/program_verify.h"

namespace reshard {

// Where a fault shows: at a number of ranks, on one of them. `subject` tells faults of one statement apart; what it is
// does not depend on the number of ranks.
struct FaultPlace {
  std::size_t statement = 0;
  std::string subject = {};
  Index ranks = 0;
};

class FaultList {
 public:
  // At any number of ranks.
  void add(std::string_view rule, std::size_t statement, const std::string& message);
  void add(std::string_view rule, const FaultPlace& place, const std::string& message);
  // Of the statement: such a statement is not looked at further.
  bool has(std::size_t statement) const { return faulty_.contains(statement); }
  bool has(std::string_view rule, std::size_t statement) const;

  // In the order of the statements. `tried`: the numbers of ranks for which the program could be followed to its end.
  std::vector<ProgramFault> take(const VerifyText& text, const std::vector<Index>& tried) &&;

 private:
  struct Found {
    std::size_t statement = 0;
    std::string rule;
    std::string message;
    std::set<Index> ranks = {};
  };
  std::vector<Found> found_;
  std::map<std::tuple<std::string, std::size_t, std::string>, std::size_t> known_;
  std::set<std::size_t> faulty_;
};

}  // namespace reshard
