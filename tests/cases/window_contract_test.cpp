// Class G: what may be relied on when a window is made, when a call returns, and at the edge of a window.
#include <gtest/gtest.h>
#include <sched.h>

#include <vector>

#include "cases/program_cases.h"
#include "reshard/error.h"
#include "reshard/fabric.h"

namespace reshard {
namespace {

using namespace std::chrono_literals;

[[noreturn]] void fail_on(const Endpoint& endpoint, const std::string& what) {
  throw std::logic_error("rank " + std::to_string(endpoint.rank().value()) + ": " + what);
}

std::span<const std::byte> bytes_of_value(const Index& value) { return std::as_bytes(std::span(&value, 1)); }

Clock::time_point soon() { return Clock::now() + 60s; }

// Rank 0 puts and notifies as soon as it can; rank 1 lets it run before it looks.
void notify_at_once(Endpoint& endpoint, Index round) {
  const WindowId window = endpoint.create_window("early", 8, soon());
  const SignalId signal = endpoint.create_signal("here", 1, soon());
  const Index value = 1000 + round;
  if (endpoint.rank() == RankId(0)) {
    endpoint.put(RankId(1), window, {.row_bytes = 8}, bytes_of_value(value));
    endpoint.fence();
    endpoint.notify(RankId(1), signal, 0, 1, Endpoint::Update::add);
  } else if (endpoint.rank() == RankId(1)) {
    for (int i = 0; i < 500; ++i) sched_yield();
    endpoint.wait(signal, 0, 1, Endpoint::Until::equal, soon());
    const Index seen = *reinterpret_cast<const Index*>(endpoint.memory(window).data());
    if (seen != value) fail_on(endpoint, "the window holds " + std::to_string(seen));
  }
}

TEST(CaseG, G5_ANotificationBeforeTheFirstUseIsKept) {
  on_every_fabric(3, [](World& world) {
    for (Index round = 0; round < 50; ++round) notify_at_once(world.endpoint(), round);
  });
}

constexpr std::string_view kAllToAll = R"(
program all_to_all
size n = 2
input x : i64[P, n]
output y : i64[P, n]
window data : i64[P, n]
signal met[P] : epoch
expect y[s, j] = x@s[me, j]

all_to_all(input = x, target = data, signal = met)
copy y <- data
)";

void overwrite_at_once(World& world, std::string_view text, Index rounds) {
  ProgramRun run(world, parse_program(text));
  const auto x = run.span<Index>("x"), y = run.span<Index>("y");
  const Index me = world.rank().value();
  const auto value = [](Index round, Index source, Index target, Index j) {
    return round * 10000 + source * 1000 + target * 100 + j;
  };
  for (Index round = 1; round <= rounds; ++round) {
    for (Index at = 0; at < std::ssize(x); ++at) x[static_cast<std::size_t>(at)] = value(round, me, at / 2, at % 2);
    run.call();
    std::ranges::fill(x, 9999);
    for (Index at = 0; at < std::ssize(y); ++at) {
      const Index seen = y[static_cast<std::size_t>(at)];
      if (seen == value(round, at / 2, me, at % 2)) continue;
      fail_on(world.endpoint(), "round " + std::to_string(round) + ": y holds " + std::to_string(seen));
    }
  }
}

TEST(CaseG, G7_TheSourceMayBeOverwrittenWhenTheCallReturns) {
  const Index rounds = rounds_or(10'000);
  for (const std::string_view protocol : {": epoch", ": credits-2"}) {
    const std::string text = with(std::string(kAllToAll), ": epoch", protocol);
    on_every_fabric(4, [&](World& world) { overwrite_at_once(world, text, rounds); });
    // Callers give inputs and read outputs at any time between calls.
    EXPECT_EQ(fault_of(text, 2, 3, {{"n", 1}}), std::nullopt);
  }
}

// A put of `bytes` at `offset` is refused where it is made, with a message that has all of `parts`.
void expect_refused_put(Endpoint& endpoint, WindowId window, Index offset, Index bytes, const std::string& what) {
  const std::vector<std::byte> source(static_cast<std::size_t>(bytes));
  try {
    endpoint.put(RankId(1), window, {.target_offset = offset, .row_bytes = bytes}, source);
  } catch (const Error& error) {
    if (error.code() == Code::invalid_argument && std::string_view(error.what()).find(what) != std::string_view::npos)
      return;
    throw;
  }
  fail_on(endpoint, "a put of " + std::to_string(bytes) + " bytes at " + std::to_string(offset) + " was taken");
}

TEST(CaseG, G11_PutsPastTheEndAreRefusedWhereTheyAreMade) {
  on_every_fabric(2, [](World& world) {
    Endpoint& endpoint = world.endpoint();
    const WindowId window = endpoint.create_window("weights", 65536, soon());
    const std::vector<std::byte> whole(65536, std::byte{7});
    if (world.rank() == RankId(0)) endpoint.put(RankId(1), window, {.row_bytes = 65536}, whole);
    expect_refused_put(endpoint, window, 0, 65537,
                       "offset 0, length 65537, reaches outside window \"weights\" of rank 1, which has 65536 bytes");
    expect_refused_put(endpoint, window, 65536, 1,
                       "offset 65536, length 1, reaches outside window \"weights\" of rank 1");
    endpoint.fence();
    endpoint.barrier(soon());
    if (world.rank() == RankId(1) && endpoint.memory(window).back() != std::byte{7})
      fail_on(endpoint, "the last byte did not come");
  });
}

TEST(CaseG, G11_ProgramsThatReachPastTheEndAreRefusedOnAllRanks) {
  const auto text = [](std::string_view part) {
    return with(
        "program reach\nwindow weights : u8[65536]\nlocal source : u8[65537]\nsignal s[1]\n\nfill source <- 7\n"
        "put weights@(P - 1 - me)[PART] <- source[PART]\nfence\nnotify s@(P - 1 - me)[0] = 1\nwait s[0] >= 1\n",
        "PART", part);
  };
  on_every_fabric(2, [&](World& world) {
    ProgramRun(world, parse_program(text("0..65536"))).call();
    for (const std::string_view part : {"0..65537", "65536..65537"}) {
      try {
        ProgramRun(world, parse_program(text(part)));
      } catch (const Error& error) {
        const std::string_view message = error.what();
        if (message.find("65537 of dimension 0 of weights") != message.npos) continue;
        throw;
      }
      fail_on(world.endpoint(), "a put past the end was taken");
    }
  });
}

TEST(CaseG, G12_ANotificationComesWithAPutOfNothing) {
  expect_right(R"(
program nothing
size rows = 0
input x : i64[3]
output y : i64[3]
window data : i64[3]
signal came[1]
init data[j] = 77
expect y[j] = 77

put data@((me + 1) % P)[0..rows] <- x[0..rows]
fence
notify came@((me + 1) % P)[0] += 1
wait came[0] >= call
copy y <- data
)",
               2);
  on_every_fabric(2, [](World& world) {
    Endpoint& endpoint = world.endpoint();
    const WindowId window = endpoint.create_window("empty", 0, soon());
    const SignalId signal = endpoint.create_signal("came", 1, soon());
    const RankId peer(1 - world.rank().value());
    endpoint.put(peer, window, {.row_bytes = 0}, {});
    endpoint.fence();
    endpoint.notify(peer, signal, 0, 5, Endpoint::Update::set);
    endpoint.wait(signal, 0, 5, Endpoint::Until::equal, soon());
  });
}

}  // namespace
}  // namespace reshard
