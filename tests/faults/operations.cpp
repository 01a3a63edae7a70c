#include "faults/operations.h"

#include <fmt/format.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>

#include "multi/program/exchanges.h"
#include "reshard/collective.h"
#include "reshard/notation.h"
#include "reshard/program_run.h"
#include "reshard/stamp.h"

namespace reshard::multi {
namespace {

using Value = std::int64_t;
constexpr Index kCount = 500;

Value value_of(RankId from, Index place, std::uint64_t epoch) {
  return static_cast<Value>(epoch) * 1'000'000 + from.value() * 10'000 + place;
}

void expect_value(const World& world, Index place, Value actual, Value expected) {
  if (actual == expected) return;
  throw std::logic_error(
      fmt::format("rank {}: wrong value {} at {}, expected {}", world.rank().value(), actual, place, expected));
}

// Of an operation with input() and output(): what the output holds at a place.
template <class Operation>
ReadyOperation filled(World& world, std::shared_ptr<Operation> operation,
                      const std::function<Value(Index place, std::uint64_t epoch)>& expected) {
  return {.fill =
              [&world, operation](std::uint64_t epoch) {
                const std::span<Value> input = operation->template input<Value>();
                for (std::size_t i = 0; i < input.size(); ++i)
                  input[i] = value_of(world.rank(), static_cast<Index>(i), epoch);
              },
          .run = [operation] { operation->run(); },
          .expect =
              [&world, operation, expected](std::uint64_t epoch) {
                const std::span<Value> output = operation->template output<Value>();
                for (std::size_t i = 0; i < output.size(); ++i)
                  expect_value(world, static_cast<Index>(i), output[i], expected(static_cast<Index>(i), epoch));
              }};
}

Value sum_of(const World& world, Index place, std::uint64_t epoch) {
  Value sum = 0;
  for (Index r = 0; r < world.ranks(); ++r) sum += value_of(RankId(r), place, epoch);
  return sum;
}

ReadyOperation all_to_all_operation(World& world) {
  return filled(world, std::make_shared<AllToAll>(world, kCount * 8), [&world](Index i, std::uint64_t epoch) {
    return value_of(RankId(i / kCount), world.rank().value() * kCount + i % kCount, epoch);
  });
}

ReadyOperation all_gather_operation(World& world) {
  return filled(world, std::make_shared<AllGather>(world, kCount * 8),
                [](Index i, std::uint64_t epoch) { return value_of(RankId(i / kCount), i % kCount, epoch); });
}

ReadyOperation reduce_scatter_operation(World& world) {
  return filled(
      world, std::make_shared<ReduceScatter>(world, kCount, Dtype::i64),
      [&world](Index i, std::uint64_t epoch) { return sum_of(world, world.rank().value() * kCount + i, epoch); });
}

ReadyOperation all_reduce_operation(World& world) {
  return filled(world, std::make_shared<AllReduce>(world, kCount, Dtype::i64),
                [&world](Index i, std::uint64_t epoch) { return sum_of(world, i, epoch); });
}

// One window is input and output: ranks other than the root fill theirs with what must be gone.
ReadyOperation broadcast_operation(World& world) {
  return filled(world, std::make_shared<Broadcast>(world, kCount * 8, RankId(world.ranks() - 1)),
                [&world](Index i, std::uint64_t epoch) { return value_of(RankId(world.ranks() - 1), i, epoch); });
}

ReadyOperation barrier_operation(World& world) {
  const auto barrier = std::make_shared<Barrier>(world);
  return {.fill = [](std::uint64_t) {}, .run = [barrier] { barrier->run(); }, .expect = [](std::uint64_t) {}};
}

ReadyOperation redistribute_operation(World& world) {
  const auto layout_by = [&](int dimension) {
    return layout(fmt::format("i64[61,37] on (r={}) {{{}: r}}", world.ranks(), dimension));
  };
  const auto rows = std::make_shared<Tensor>(world.allocate(layout_by(0), "rows"));
  const auto columns = std::make_shared<Tensor>(world.allocate(layout_by(1), "columns"));
  return {.fill = [rows](std::uint64_t epoch) { stamp(*rows, epoch); },
          .run = [&world, rows, columns] { redistribute(world, *rows, *columns); },
          .expect = [columns](std::uint64_t epoch) { expect_stamped(*columns, epoch); }};
}

ReadyOperation program_operation(World& world) {
  const auto program =
      std::make_shared<ProgramRun>(world, all_to_all_by_credits(), std::map<std::string, Index>{{"n", 9}});
  return {.fill = [program](std::uint64_t) { program->fill_inputs(); },
          .run = [program] { program->call(); },
          .expect = [program](std::uint64_t) { program->check_outputs(); }};
}

}  // namespace

const std::vector<NamedOperation>& operations_under_fault() {
  static const std::vector<NamedOperation> all{
      {"all_to_all", all_to_all_operation},         {"all_gather", all_gather_operation},
      {"reduce_scatter", reduce_scatter_operation}, {"all_reduce", all_reduce_operation},
      {"broadcast", broadcast_operation},           {"barrier", barrier_operation},
      {"redistribute", redistribute_operation},     {"program", program_operation},
  };
  return all;
}

}  // namespace reshard::multi
