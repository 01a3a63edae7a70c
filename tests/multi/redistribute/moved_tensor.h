// What must be in every buffer before and after a move, from the oracle: no plan, no program, no region.
//
// Bodies run in threads or in other processes, where an EXPECT would not be seen: they report by throwing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "launch.h"
#include "reshard/world.h"

namespace reshard::multi {

// As run_worlds, within the timeout that worlds have of themselves.
void run_ranks(const Fabric* fabric, Index ranks, const std::function<void(World&)>& body, WorldOptions options = {});
// The least world that has all ranks of both layouts.
Index world_of(const Layout& source, const Layout& target);

[[noreturn]] void report(const World& world, const std::string& what);

// Elements get values that name their index and the epoch; all else gets the poison.
void fill(World& world, Tensor& tensor, std::uint64_t epoch, std::byte poison);
// Every element has its value of this epoch, every other byte is still the poison.
void expect_filled(World& world, const Tensor& tensor, std::uint64_t epoch, std::byte poison);
void poison_all(Tensor& tensor, std::byte poison);

inline constexpr std::byte source_poison{0x5a};
inline constexpr std::byte target_poison{0xa5};

// Moves `calls` times with other values each time. The target's elements are right and its other bytes untouched, the
// source is as before. Returns what the last call moved.
Traffic expect_redistribute(World& world, const Layout& source, const Layout& target, int calls = 3,
                            const PlanOptions& options = {});

}  // namespace reshard::multi
