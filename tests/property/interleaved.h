// Runs the operations of all ranks of a program in one thread, one operation at a time, in a random order that the
// ordering rules of programs allow: wrong orders show as wrong bytes, or as ranks that all wait.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "property/random.h"
#include "reshard/program.h"

namespace reshard {

class Interleaved {
 public:
  // `programs[r]` has the operations of rank r; all agree on windows and signals.
  explicit Interleaved(std::vector<Program> programs) : programs_(std::move(programs)) {
    const Program& first = programs_.front();
    for (const WindowSpec& window : first.windows) {
      auto& of_ranks = windows_.emplace_back();
      for (const Index bytes : window.bytes) of_ranks.emplace_back(static_cast<std::size_t>(bytes));
    }
    for (const SignalSpec& signal : first.signals)
      signals_.emplace_back(programs_.size(), std::vector<std::uint64_t>(static_cast<std::size_t>(signal.slots)));
  }

  std::vector<std::byte>& window(int window, std::size_t rank) {
    return windows_[static_cast<std::size_t>(window)][rank];
  }

  // Every rank goes through `runs` runs; ranks may be in different ones. Throws when all ranks wait for each other.
  using Hook = std::function<void(std::size_t rank, std::uint64_t run)>;
  void run(std::uint64_t runs, Random& random, const Hook& begin, const Hook& end) {
    struct At {
      std::uint64_t run = 0;
      std::size_t operation = 0;
    };
    random_ = &random;
    std::vector<At> at(programs_.size());
    std::vector<std::size_t> going;
    for (std::size_t r = 0; r < at.size(); ++r) going.push_back(r);
    while (!going.empty()) {
      // A random rank that can go on; it goes on for a while, so that some are far ahead of others.
      bool moved = false;
      random.shuffle(going);
      for (std::size_t k = 0; k < going.size() && !moved; ++k) {
        const std::size_t rank = going[k];
        for (Index steps = random.between(1, 12); steps > 0 && at[rank].run < runs; --steps) {
          auto& [run, number] = at[rank];
          const std::vector<Operation>& operations = programs_[rank].operations[rank];
          if (number == 0) begin(rank, run);
          if (number < operations.size() && !execute(rank, operations[number], run)) break;
          moved = true;
          if (number < operations.size()) ++number;
          if (number < operations.size()) continue;
          end(rank, run);
          ++run, number = 0;
        }
      }
      if (!moved) throw std::logic_error("all of " + std::to_string(going.size()) + " ranks wait");
      std::erase_if(going, [&](std::size_t rank) { return at[rank].run == runs; });
    }
  }

 private:
  static void copy(const Block& block, std::size_t loop, const std::byte* source, std::byte* target) {
    if (loop == block.loops.size()) {
      std::memmove(target, source, static_cast<std::size_t>(block.row_bytes));
      return;
    }
    const Loop& l = block.loops[loop];
    for (Index k = 0; k < l.count; ++k)
      copy(block, loop + 1, source + k * l.source_stride, target + k * l.target_stride);
  }

  void move(const Operation& op, std::size_t from, std::size_t to) {
    for (const Block& block : op.blocks)
      copy(block, 0, window(op.source_window, from).data() + block.source_offset,
           window(op.target_window, to).data() + block.target_offset);
  }

  // Puts are as late as they may be, and in any order.
  void deliver(std::size_t rank) {
    random_->shuffle(on_their_way_[rank]);
    for (const Operation* op : on_their_way_[rank]) move(*op, rank, static_cast<std::size_t>(op->peer.value()));
    on_their_way_[rank].clear();
  }

  // False if the operation cannot be done yet.
  bool execute(std::size_t rank, const Operation& op, std::uint64_t run) {
    const auto peer = static_cast<std::size_t>(op.peer.value());
    const std::uint64_t value = op.value + run * op.per_run;
    switch (op.code) {
      case OpCode::copy:
      case OpCode::get: move(op, op.code == OpCode::get ? peer : rank, rank); return true;
      case OpCode::put: on_their_way_[rank].push_back(&op); return true;
      case OpCode::fence: deliver(rank); return true;
      case OpCode::notify: {
        std::uint64_t& slot = signals_[static_cast<std::size_t>(op.signal)][peer][static_cast<std::size_t>(op.slot)];
        if (value <= slot) throw std::logic_error("a signal does not grow");
        slot = value;
        return true;
      }
      case OpCode::wait:
        return signals_[static_cast<std::size_t>(op.signal)][rank][static_cast<std::size_t>(op.slot)] >= value;
      default: throw std::logic_error("an operation that this test does not know");
    }
  }

  std::vector<Program> programs_;
  Random* random_ = nullptr;
  std::vector<std::vector<const Operation*>> on_their_way_ =
      std::vector<std::vector<const Operation*>>(programs_.size());
  std::vector<std::vector<std::vector<std::byte>>> windows_;      // by window, rank
  std::vector<std::vector<std::vector<std::uint64_t>>> signals_;  // by signal, rank
};

}  // namespace reshard
