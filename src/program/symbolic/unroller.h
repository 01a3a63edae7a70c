// Walks statements for one rank and appends what they do.
#pragma once

#include <memory>
#include <vector>

#include "program/symbolic/placed_slice.h"
#include "program/symbolic/written_bytes.h"

namespace reshard {

class Unroller {
 public:
  Unroller(std::shared_ptr<const PlacedProgram> program, RankId me, std::vector<Operation>& operations);
  // While the program runs: the first statement of what is walked may read elements, which lie in `memory`.
  Unroller(std::shared_ptr<const PlacedProgram> program, RankId me, std::vector<Operation>& operations,
           ElementReader& reader, MemoryReader& memory);

  // Statements from number `first` on.
  void walk(const Body& body, std::size_t first, Scope& scope);
  // One statement; names given by it are forgotten.
  void walk_one(const Statement& statement, Scope& scope);
  // Bytes of the hidden buffer that casts and accumulating gets pass through.
  Index scratch_bytes() const { return scratch_bytes_; }

 private:
  // What runs later, once memory can be read: statement number `at` of `body`, and with `rest` all after it.
  void defer(const Body& body, std::size_t at, bool rest, const Scope& scope);
  void run(const Statement& statement, Scope& scope, ElementReader* reader);
  void run(const For& loop, Scope& scope, ElementReader* reader);
  // Iterations from `from` on that differ from the one before it by two offsets only; the first that is left.
  Index run_rows(const For& loop, Index from, Index to, Scope& scope, ElementReader& reader);
  void run(const If& condition, Scope& scope, ElementReader* reader);
  void run(const DataMove& move, Scope& scope, ElementReader* reader);
  void run(const Reduce& reduce, Scope& scope, ElementReader* reader);
  void run(const Fill& fill, Scope& scope, ElementReader* reader);
  void run(const Notify& notify, Scope& scope, ElementReader* reader);
  void run(const Wait& wait, Scope& scope, ElementReader* reader);
  void run(const Require& require, Scope& scope, ElementReader* reader);
  void run(const Composite& composite, Scope& scope, ElementReader* reader);
  void local_move(const DataMove& move, const PlacedSlice& target, const PlacedSlice& source, std::string label);
  void remote_move(const DataMove& move, const PlacedSlice& target, const PlacedSlice& source, std::string label);
  Operation one_way(OpCode code, const PlacedSlice& target, const PlacedSlice& source, std::string label);
  void get_by_tiles(const DataMove& move, const PlacedSlice& target, const PlacedSlice& source,
                    const std::string& label);
  PlacedSlice scratch_like(const PlacedSlice& shape, Dtype dtype);
  PlacedSlice scratch_at(Index offset, const PlacedSlice& shape, Dtype dtype);
  void count_statement();
  bool joins_last(const Operation& operation);
  void append(Operation operation);
  void join_last(std::span<const Block> blocks);
  Index slot_of(const Slot& slot, const Scope& scope, ElementReader* reader, std::string& label) const;

  std::shared_ptr<const PlacedProgram> program_;
  RankId me_;
  std::vector<Operation>* operations_;
  ElementReader* reader_ = nullptr;
  MemoryReader* memory_ = nullptr;
  bool at_once_ = false;
  bool later_ = false;  // the operations are made while the program runs
  Index scratch_bytes_ = 0;
  Index walked_ = 0;
  std::size_t joinable_from_ = 0;  // operations before this number are left as they are
  WrittenBytes written_;           // by the last operation, if it may be joined
};

}  // namespace reshard
