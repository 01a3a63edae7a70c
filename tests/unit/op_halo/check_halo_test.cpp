// Programs of halos under any interleaving, three runs one after the other, with every element expected by the oracle.
#include <gmock/gmock.h>

#include "multi/halo/halo_oracle.h"
#include "reshard/check.h"

namespace reshard {
namespace {

using halo_oracle::Cell;
using halo_oracle::Shard;

constexpr Index kCalls = 3;

CheckInput runs_of(Program program, const std::vector<Expectation>& expect) {
  // The caller fills the source before each run and reads the target after it.
  if (!expect.empty()) {
    program.windows[0].role = BufferRole::input;
    program.windows[1].role = BufferRole::output;
  }
  CheckInput input;
  input.calls.assign(kCalls, program);
  if (!expect.empty()) input.expect.assign(kCalls, expect);
  return input;
}

Term input_at(Index rank, Index address, Dtype dtype, int sign) {
  Term term{.kind = Term::Kind::input,
            .rank = RankId(rank),
            .window = 0,
            .offset = address * bytes_of(dtype),
            .dtype = dtype};
  if (sign > 0) return term;
  Term minus{.kind = Term::Kind::constant, .dtype = dtype, .value = -1};
  return {.kind = Term::Kind::fold, .dtype = dtype, .op = ReduceOp::product, .terms = {term, minus}};
}

// Who owns a cell of the tensor in a group, and where.
const Shard& owner_of(const std::vector<Shard>& shards, Index group, Index linear, Index& address) {
  for (const Shard& shard : shards) {
    const auto found = std::ranges::find(shard.own, linear);
    if (shard.group != group || found == shard.own.end()) continue;
    address = found - shard.own.begin();
    return shard;
  }
  throw std::logic_error("nobody owns it");
}

std::vector<Expectation> exchanged(const std::vector<Shard>& shards, Dtype dtype) {
  std::vector<Expectation> expect;
  for (const Shard& shard : shards)
    for (const Cell& cell : shard.cells) {
      Expectation e{.rank = RankId(shard.rank), .window = 1, .offset = cell.address * bytes_of(dtype), .dtype = dtype};
      Index address = 0;
      if (cell.is_constant) {
        e.value = {.kind = Term::Kind::constant, .dtype = dtype, .value = static_cast<Index>(cell.value)};
      } else {
        const Shard& owner = owner_of(shards, shard.group, cell.origin, address);
        e.value = input_at(owner.rank, address, dtype, cell.sign);
      }
      expect.push_back(std::move(e));
    }
  return expect;
}

std::vector<Expectation> reduced(const std::vector<Shard>& shards, Dtype dtype) {
  std::vector<Expectation> expect;
  for (const Shard& mine : shards)
    for (std::size_t at = 0; at < mine.own.size(); ++at) {
      Term sum{.kind = Term::Kind::fold, .dtype = dtype, .op = ReduceOp::sum};
      for (const bool own : {true, false})
        for (const Shard& shard : shards)
          for (const Cell& cell : shard.cells)
            if (shard.group == mine.group && cell.is_own == own && !cell.is_constant && cell.origin == mine.own[at])
              sum.terms.push_back(input_at(shard.rank, cell.address, dtype, cell.sign));
      expect.push_back({.rank = RankId(mine.rank),
                        .window = 1,
                        .offset = static_cast<Index>(at) * bytes_of(dtype),
                        .dtype = dtype,
                        .value = sum.terms.size() == 1 ? sum.terms[0] : sum});
    }
  return expect;
}

struct Field {
  const char* layout;
  Halo halo;
};

const Field fields[] = {
    {"i64[5] on (x=2) {0: x}", {{{0, 1, 1, HaloEdge::periodic()}}}},
    {"i64[3] on (x=1) {0: x}", {{{0, 2, 2, HaloEdge::periodic()}}}},
    {"i32[5] on (x=3)@[2,0,1] {0: x}", {{{0, 3, 2, HaloEdge::mirror()}}}},
    {"i32[3,4] on (y=2, x=2) {0: y, 1: x}", {{{0, 1, 1, HaloEdge::constant(5)}, {1, 1, 1, HaloEdge::periodic()}}}},
    {"i32[2,4] on (y=2, x=2) {0: y, 1: x}", {{{0, 1, 1, HaloEdge::pole(1, true)}, {1, 1, 0, HaloEdge::periodic()}}}},
    {"i32[4] on (x=2, r=2) {0: x}", {{{0, 1, 2, HaloEdge::clamp()}}}},
    {"i32[2] on (x=4) {0: x}", {{{0, 1, 1, HaloEdge::zero()}}}},
};

std::vector<std::pair<std::string, RankHosts>> all_hosts(Index ranks) {
  std::vector<Index> own, turns;
  for (Index r = 0; r < ranks; ++r) {
    own.push_back(r);
    turns.push_back(r % 2);
  }
  return {{"nothing is known", RankHosts()}, {"own hosts", RankHosts(own)}, {"two hosts in turns", RankHosts(turns)}};
}

void expect_passes(const Program& program, const std::vector<Expectation>& expect, const std::string& what) {
  const CheckReport report = check(runs_of(program, expect));
  EXPECT_TRUE(report.passed && !report.bounded) << what << "\n" << report.text() << program.text();
}

TEST(CheckHalo, ExchangesAndReducesAreRightInAnyOrder) {
  for (const Field& field : fields) {
    const Layout in = layout(field.layout);
    const Index ranks = in.mesh().end_rank().value();
    for (const HaloScheme scheme : {HaloScheme::direct, HaloScheme::two_phase}) {
      const HaloPlan plan(in, field.halo, scheme);
      const std::vector<Shard> shards = halo_oracle::shards_of(in, field.halo, plan.out());
      for (const auto& [where, hosts] : all_hosts(ranks)) {
        const std::string what = plan.text() + ", " + where;
        expect_passes(plan.exchange_program(ranks, {}, hosts), exchanged(shards, in.dtype()), what);
        expect_passes(plan.exchange_program(ranks, {}, hosts, HaloForm::in_place), {}, what + ", in place");
        if (scheme == HaloScheme::two_phase) continue;
        expect_passes(plan.reduce_program(ranks, {}, hosts), reduced(shards, in.dtype()), what + ", reduce");
        expect_passes(plan.reduce_program(ranks, {}, hosts, HaloForm::in_place), {}, what + ", reduce in place");
      }
    }
  }
}

// Each wait and each fence of one rank is needed.
TEST(CheckHalo, AProgramWithoutOneOfItsWaitsIsFound) {
  const HaloPlan plan(layout("i64[5] on (x=2) {0: x}"), {{{0, 1, 1, HaloEdge::periodic()}}});
  for (const RankHosts& hosts : {RankHosts(), RankHosts({0, 1})})
    for (const bool reduces : {false, true}) {
      const Program program = reduces ? plan.reduce_program(2, {}, hosts) : plan.exchange_program(2, {}, hosts);
      for (std::size_t k = 0; k < program.operations[0].size(); ++k) {
        const OpCode code = program.operations[0][k].code;
        if (code != OpCode::wait && code != OpCode::fence) continue;
        Program broken = program;
        broken.operations[0].erase(broken.operations[0].begin() + static_cast<std::ptrdiff_t>(k));
        const std::vector<Shard> shards = halo_oracle::shards_of(plan.in(), plan.halo(), plan.out());
        const auto expect = reduces ? reduced(shards, Dtype::i64) : exchanged(shards, Dtype::i64);
        EXPECT_FALSE(check(runs_of(broken, expect)).passed) << "without operation " << k << " of\n" << program.text();
      }
    }
}

// What one rank works out alone is its part of the whole.
TEST(CheckHalo, OwnPartsAreThoseOfTheWhole) {
  for (const Field& field : fields) {
    const HaloPlan plan(layout(field.layout), field.halo);
    const Index ranks = plan.in().mesh().end_rank().value();
    const Program whole = plan.exchange_program(ranks), back = plan.reduce_program(ranks);
    for (Index r = 0; r < ranks; ++r) {
      const auto at = static_cast<std::size_t>(r);
      EXPECT_EQ(plan.exchange_program(ranks, RankId(r)).operations[at], whole.operations[at]);
      EXPECT_EQ(plan.reduce_program(ranks, RankId(r)).operations[at], back.operations[at]);
    }
  }
}

// In a 3 x 3 grid: 8 messages to a rank by one scheme, 4 by the other.
TEST(CheckHalo, CornersComeStraightOrRideAlong) {
  const Layout in = layout("f32[9,9] on (y=3, x=3) {0: y, 1: x}");
  const Halo halo{{{0, 1, 1, HaloEdge::periodic()}, {1, 1, 1, HaloEdge::periodic()}}};
  for (const auto& [scheme, messages] : {std::pair(HaloScheme::direct, 8), std::pair(HaloScheme::two_phase, 4)}) {
    const Program program = HaloPlan(in, halo, scheme).exchange_program(9);
    for (const auto& operations : program.operations)
      EXPECT_EQ(std::ranges::count(operations, OpCode::get, &Operation::code), messages);
  }
}

}  // namespace
}  // namespace reshard
