// Follows one rank through one call.
#pragma once

#include <memory>

#include "program/symbolic/unroller.h"
#include "program/verify/verify_run.h"

namespace reshard {

class RankWalk {
 public:
  RankWalk(std::shared_ptr<const PlacedProgram> program, const LoweredText& lowered, const VerifyText& text, RankId me,
           FaultList& faults)
      : program_(*program),
        lowered_(lowered),
        text_(text),
        me_(me),
        faults_(faults),
        scope_(program->scope_of(me)),
        unroller_(std::move(program), me, operations_) {}

  // False where it stops: at a require that does not hold, and when `limit` statements have been run.
  bool walk(Index& limit);
  bool refused() const { return refused_; }
  std::size_t refused_at() const { return origin_; }
  std::vector<VerifyEvent> take() && { return std::move(events_); }

 private:
  bool walk(const Body& body, Index& limit);
  bool run(const Statement& statement, Index& limit);
  bool run(const For& loop, Index& limit);
  bool run(const If& branch, Index& limit);
  void run_leaf(const Statement& statement);
  void move(const Statement& statement, OpCode code);
  void place(const Statement& statement, const SliceUse& use, VerifyEvent& event) const;
  // False where there is a fault.
  bool notify(const Notify& notify);
  bool wait(const Wait& wait);
  bool peer_exists(const std::optional<Expression>& peer, const std::string& subject);
  bool place_slot(const Slot& slot, VerifyEvent& event);
  void unroll(const Statement& statement);
  void check_overlaps(const VerifyEvent& event);
  void defer(const Statement& statement);
  void add_touched(const Statement& statement, VerifyEvent& event);
  // Whether all operands have values; adds a fault where one never has.
  bool is_known(const Statement& statement);
  bool mentions_unknown(const Statement& statement) const;
  void fault(std::string_view rule, const std::string& subject, const std::string& message);

  const PlacedProgram& program_;
  const LoweredText& lowered_;
  const VerifyText& text_;
  RankId me_;
  FaultList& faults_;
  Scope scope_;
  std::set<std::string, std::less<>> unknown_ = {};  // names given by memory
  std::size_t origin_ = 0;
  bool refused_ = false;
  std::vector<VerifyEvent> events_ = {};
  std::vector<Operation> operations_ = {};  // of the last statement
  Unroller unroller_;
};

}  // namespace reshard
