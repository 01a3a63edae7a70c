// Random small programs against the naive explorer: the same programs pass, and what the checker reports is there.
#include <gmock/gmock.h>

#include <map>

#include "property/explorer_oracle.h"
#include "property/random.h"
#include "reshard/check.h"

namespace reshard {
namespace {

constexpr Index kCells = 2, kElement = 4;
#ifdef __SANITIZE_ADDRESS__
constexpr Index kPrograms = 2'000;
#else
constexpr Index kPrograms = 20'000;
#endif
enum Buffer { kX, kY, kW };

Operation notification(Index peer, int signal, Index slot, NotifyOp op, Index value) {
  return {.code = OpCode::notify,
          .peer = RankId(peer),
          .signal = signal,
          .slot = slot,
          .value = static_cast<std::uint64_t>(value),
          .notify_op = op};
}

Operation wait_for(int signal, Index slot, WaitCompare compare, Index value) {
  return {.code = OpCode::wait,
          .signal = signal,
          .slot = slot,
          .value = static_cast<std::uint64_t>(value),
          .compare = compare};
}

class RandomPrograms {
 public:
  explicit RandomPrograms(Random& random) : random_(random) {}

  CheckInput input() {
    ranks_ = random_.one_in(8) ? 3 : 2;
    slots_ = random_.between(1, 2);
    const Index calls = ranks_ == 3 ? 1 : random_.between(1, 2);
    grows_ = random_.one_in(2);
    Program program = body();
    CheckInput input;
    for (Index call = 1; call <= calls; ++call) input.calls.push_back(program);
    if (grows_)
      for (Index call = 2; call <= calls; ++call) grow(input.calls[static_cast<std::size_t>(call - 1)], call);
    input.expect.resize(static_cast<std::size_t>(calls));
    for (auto& expect : input.expect) expect = expectations(program);
    return input;
  }

 private:
  // Half of them start from something sound, which is then spoilt.
  Program body() {
    Program program{.name = "random", .ranks = ranks_};
    const std::vector<Index> bytes(static_cast<std::size_t>(ranks_), kCells * kElement);
    program.windows = {{.name = "x", .bytes = bytes, .role = BufferRole::input},
                       {.name = "y", .bytes = bytes, .role = BufferRole::output},
                       {.name = "w", .bytes = bytes, .role = BufferRole::window}};
    program.signals = {{.name = "s", .slots = slots_}};
    program.operations.resize(static_cast<std::size_t>(ranks_));
    random_.one_in(4) ? write_at_random(program) : write_exchange(program);
    return program;
  }

  void write_at_random(Program& program) {
    for (Index r = 0; r < ranks_; ++r) {
      const Index count = random_.between(1, ranks_ == 3 ? 3 : 4);
      for (Index i = 0; i < count; ++i) program.operations[static_cast<std::size_t>(r)].push_back(operation());
    }
  }

  // A rank puts, fences and notifies; another waits, copies, and answers, or not; then up to two changes.
  void write_exchange(Program& program) {
    const Index from = random_.below(ranks_), to = (from + random_.between(1, ranks_ - 1)) % ranks_;
    auto& sends = program.operations[static_cast<std::size_t>(from)];
    auto& receives = program.operations[static_cast<std::size_t>(to)];
    const Index slot = random_.below(slots_), cell = random_.below(kCells);
    const NotifyOp op = random_.one_in(3) ? NotifyOp::set : NotifyOp::add;
    const WaitCompare compare = random_.one_in(4) ? WaitCompare::equal : WaitCompare::greater_equal;
    const bool pulls = random_.one_in(4), answers = !random_.one_in(4);
    if (pulls) {
      sends.push_back(move(OpCode::copy, from, kX, cell, kW, cell));
    } else {
      sends.push_back(move(OpCode::put, to, kX, random_.below(kCells), kW, cell));
      sends.push_back({.code = OpCode::fence});
    }
    sends.push_back(notification(to, 0, slot, op, 1));
    receives.push_back(wait_for(0, slot, compare, 1));
    receives.push_back(pulls ? move(OpCode::get, from, kW, cell, kY, cell)
                             : move(OpCode::copy, to, kW, cell, kY, cell));
    if (random_.one_in(3)) receives.push_back(notification(to, 0, slot, NotifyOp::add, -1));
    if (random_.one_in(6)) receives.push_back(notification(to, 0, slot, NotifyOp::set, 0));
    if (answers) {
      const Index back = random_.one_in(2) ? slot : random_.below(slots_);
      receives.push_back(notification(from, 0, back, op, 1));
      sends.push_back(wait_for(0, back, compare, 1));
      if (random_.one_in(3)) sends.push_back(notification(from, 0, back, NotifyOp::add, -1));
    }
    for (Index changes = random_.below(3); changes > 0; --changes)
      spoil(program.operations[static_cast<std::size_t>(random_.below(ranks_))]);
  }

  void spoil(std::vector<Operation>& operations) {
    const auto count = static_cast<Index>(operations.size());
    const Index what = random_.below(3);
    if (what == 0 && count < 6) {
      operations.insert(operations.begin() + random_.below(count + 1), operation());
    } else if (what == 1 && count > 0) {
      operations.erase(operations.begin() + random_.below(count));
    } else if (count > 1) {
      const Index at = random_.below(count - 1);
      std::swap(operations[static_cast<std::size_t>(at)], operations[static_cast<std::size_t>(at + 1)]);
    }
  }

  Operation operation() {
    const Index peer = random_.below(ranks_), slot = random_.below(slots_);
    switch (random_.below(8)) {
      case 0: return move(OpCode::put, peer, random_.one_in(4) ? kW : kX, cell(), kW, cell());
      case 1: return move(OpCode::get, peer, kW, cell(), random_.one_in(4) ? kW : kY, cell());
      case 2: return move(OpCode::copy, 0, random_.one_in(2) ? kW : kX, cell(), random_.one_in(3) ? kW : kY, cell());
      case 3: return notification(peer, 0, slot, NotifyOp::set, random_.below(3));
      case 4: return notification(peer, 0, slot, NotifyOp::add, random_.one_in(4) ? -1 : random_.between(1, 2));
      case 5: return wait_for(0, slot, WaitCompare::greater_equal, random_.between(1, 2));
      case 6: return wait_for(0, slot, WaitCompare::equal, random_.below(3));
      default: return {.code = OpCode::fence};
    }
  }
  Index cell() { return random_.below(kCells); }

  static Operation move(OpCode code, Index peer, Buffer from, Index source, Buffer to, Index target) {
    return {
        .code = code,
        .peer = RankId(peer),
        .source_window = from,
        .target_window = to,
        .blocks = {{.source_offset = source * kElement, .target_offset = target * kElement, .row_bytes = kElement}}};
  }

  // Sets and waits name the call, as epochs do.
  static void grow(Program& program, Index call) {
    for (auto& operations : program.operations)
      for (Operation& op : operations)
        if (op.code == OpCode::wait || (op.code == OpCode::notify && op.notify_op == NotifyOp::set))
          op.value *= static_cast<std::uint64_t>(call);
  }

  // What the outputs hold if each rank's puts come at once and ranks take turns by luck: whatever one schedule gives.
  std::vector<Expectation> expectations(const Program& program) {
    std::vector<Expectation> expect;
    for (Index r = 0; r < ranks_; ++r) {
      for (const Operation& op : program.operations[static_cast<std::size_t>(r)]) {
        if (op.target_window != kY || op.blocks.empty()) continue;
        if (op.source_window == kX) add(expect, r, op, r, op.blocks[0].source_offset);
        if (op.source_window != kW) continue;
        const Index holder = op.code == OpCode::get ? op.peer.value() : r;
        add_writer(expect, program, r, op, holder);
      }
    }
    return expect;
  }

  // Of the last operation that writes the cell of `holder` from an input.
  void add_writer(std::vector<Expectation>& expect, const Program& program, Index r, const Operation& op,
                  Index holder) {
    for (Index w = 0; w < ranks_; ++w) {
      for (const Operation& write : program.operations[static_cast<std::size_t>(w)]) {
        const bool writes = write.code == OpCode::copy || write.code == OpCode::put;
        const Index target = write.code == OpCode::put ? write.peer.value() : w;
        if (!writes || write.target_window != kW || write.source_window != kX || target != holder) continue;
        if (write.blocks[0].target_offset == op.blocks[0].source_offset)
          add(expect, r, op, w, write.blocks[0].source_offset);
      }
    }
  }

  static void add(std::vector<Expectation>& expect, Index rank, const Operation& op, Index from, Index offset) {
    const Index target = op.blocks[0].target_offset;
    std::erase_if(expect, [&](const Expectation& e) { return e.rank == RankId(rank) && e.offset == target; });
    expect.push_back({.rank = RankId(rank),
                      .window = kY,
                      .offset = target,
                      .dtype = Dtype::i32,
                      .value = {.kind = Term::Kind::input, .rank = RankId(from), .window = kX, .offset = offset}});
  }

  Random& random_;
  Index ranks_ = 2, slots_ = 1;
  bool grows_ = false;
};

std::string text_of_all(const CheckInput& input) {
  std::string text;
  for (const Program& call : input.calls) text += call.text();
  return text;
}

TEST(CheckRandom, AgreesWithEveryInterleaving) {
  const unsigned seed = seed_from_environment();
  Random random(seed);
  RandomPrograms programs(random);
  std::map<std::string, Index> seen;
  for (Index i = 0; i < kPrograms; ++i) {
    const CheckInput input = programs.input();
    const OracleVerdict oracle = explore_naively(input, 100'000);
    if (!oracle.complete) continue;
    const CheckReport report = check(input);
    ASSERT_FALSE(report.bounded);
    ASSERT_EQ(report.passed, oracle.faults.empty()) << "seed " << seed << ", program " << i << "\n"
                                                    << text_of_all(input) << report.text();
    if (report.fault) {
      ASSERT_TRUE(oracle.faults.contains(*report.fault)) << "seed " << seed << ", program " << i << "\n"
                                                         << text_of_all(input) << report.text();
    }
    ++seen[report.fault ? std::string(name_of(*report.fault)) : "passed"];
  }
  for (const auto& [verdict, count] : seen) std::cout << verdict << ": " << count << "\n";
  EXPECT_GT(seen["passed"], kPrograms / 10);
  EXPECT_GT(seen["race"], kPrograms / 10);
  EXPECT_GT(seen["deadlock"], kPrograms / 10);
  EXPECT_GT(seen["wrong value"], kPrograms / 200);
}

}  // namespace
}  // namespace reshard
