// Traces: one row per rank, a slice per call, and an arrow to each wait from the notification that ended it.
#include <cstring>
#include <nlohmann/json.hpp>

#include "every_fabric.h"
#include "reshard/wrap.h"

namespace reshard::multi {
namespace {

using Json = nlohmann::json;

class Traced : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(Traced, {1, 2, 3, 7});

void expect_that(const Endpoint& e, bool condition, const std::string& what) {
  if (!condition) report(e, what);
}

// Every rank's part at rank 0.
std::vector<std::string> parts_at_root(Endpoint& e, const std::string& mine) {
  constexpr Index kRoom = 1 << 16;
  const WindowId parts = e.create_window("parts", e.rank() == RankId(0) ? kRoom * e.ranks() : 0, in_time());
  e.put(RankId(0), parts, {.target_offset = kRoom * e.rank().value(), .row_bytes = static_cast<Index>(mine.size())},
        std::as_bytes(std::span(mine)));
  e.fence();
  e.barrier(in_time());
  std::vector<std::string> all;
  for (Index r = 0; r < e.ranks() && e.rank() == RankId(0); ++r)
    all.emplace_back(reinterpret_cast<const char*>(e.memory(parts).data()) + kRoom * r);
  e.barrier(in_time());
  return all;
}

// Rounds of a ring, half of which add and half of which set.
void go_round(Endpoint& e, int rounds) {
  const WindowId window = e.create_window("ring", 16, in_time());
  const SignalId full = e.create_signal("full", 2, in_time());
  const std::vector<std::byte> source(12);
  for (int round = 1; round <= rounds; ++round) {
    e.put(next_of(e), window, {.row_bytes = 12}, source);
    e.fence();
    e.notify(next_of(e), full, 0, 1, Endpoint::Update::add);
    e.notify(next_of(e), full, 1, round, Endpoint::Update::set);
    e.wait(full, 0, round, Endpoint::Until::greater_equal, in_time());
    e.wait(full, 1, round, Endpoint::Until::greater_equal, in_time());
  }
  e.barrier(in_time());
}

void expect_trace(const Endpoint& e, const Json& trace, int rounds) {
  std::map<std::string, Index> slices, phases;
  std::map<Index, const Json*> begun;
  for (const Json& event : trace.at("traceEvents")) {
    const std::string phase = event.at("ph");
    ++phases[phase];
    if (phase == "X") ++slices[event.at("cat")];
    if (phase == "X" && event.at("cat") == "put") {
      expect_equal(e, "bytes of a put", event.at("args").at("bytes").get<Index>(), 12);
      expect_that(e, event.at("args").at("object") == "ring", "window without its name");
    }
    if (phase == "s") begun[event.at("id")] = &event;
    if (phase != "f") continue;
    const Json& from = *begun.at(event.at("id"));
    const Index to = event.at("tid");
    expect_equal(e, "row of the arrow's beginning", from.at("tid").get<Index>(), (to + e.ranks() - 1) % e.ranks());
    expect_that(e, from.at("ts") <= event.at("ts"), "an arrow goes back in time");
  }
  expect_equal(e, "rows", phases["M"], e.ranks());
  expect_equal(e, "puts", slices["put"], rounds * e.ranks());
  expect_equal(e, "notifications", slices["notify"], 2 * rounds * e.ranks());
  expect_equal(e, "collective calls", slices["collective"], 2 * e.ranks());
  expect_equal(e, "arrows", phases["f"], 2 * rounds * e.ranks());
  expect_equal(e, "beginnings of arrows", phases["s"], 2 * rounds * e.ranks());
}

TEST_P(Traced, RanksMergeIntoOneFile) {
  run([](Endpoint& inner) {
    TraceLog log(inner.rank(), 1000);
    const std::unique_ptr<Endpoint> e = traced(inner, log);
    go_round(*e, 5);
    expect_equal(inner, "calls", log.calls().size(), 2 + 6 * 5 + 1);
    expect_equal(inner, "dropped", log.dropped(), 0);
    const auto parts = parts_at_root(inner, trace_part(log));
    if (inner.rank() != RankId(0)) return;
    expect_trace(inner, Json::parse(chrome_trace(parts)), 5);
  });
}

TEST_P(Traced, TheLastCallsStay) {
  run([](Endpoint& inner) {
    TraceLog log(inner.rank(), 10);
    const std::unique_ptr<Endpoint> e = traced(inner, log);
    go_round(*e, 5);
    expect_equal(inner, "calls", log.calls().size(), 10);
    expect_equal(inner, "dropped", log.dropped(), 23);
    expect_that(inner, log.calls().back().kind == CallKind::barrier, "the last call is not the last");
    const Json trace = Json::parse(chrome_trace({trace_part(log)}));
    const std::string row = "rank " + std::to_string(inner.rank().value());
    expect_equal(inner, "dropped of the file", trace.at("dropped").at(row).get<Index>(), 23);
    inner.barrier(in_time());
  });
}

// A call that fails has its slice, too.
TEST_P(Traced, FailedCallsAreDrawn) {
  run([](Endpoint& inner) {
    TraceLog log(inner.rank());
    const std::unique_ptr<Endpoint> e = traced(inner, log);
    const SignalId never = e->create_signal("never", 1, in_time());
    expect_error(*e, Code::timeout, {"never"},
                 [&] { e->wait(never, 0, 1, Endpoint::Until::equal, Clock::now() + 5ms); });
    expect_that(inner, log.calls().back().kind == CallKind::wait, "no wait");
    expect_that(inner, log.calls().back().end - log.calls().back().begin >= 5ms, "a wait without its time");
    const Json trace = Json::parse(chrome_trace({trace_part(log)}));
    expect_that(inner, trace.at("traceEvents").back().at("name") == "wait never[0]", "wrong name");
    inner.barrier(in_time());
  });
}

TEST(TracePart, ThatIsNoneIsRefused) {
  for (const char* text : {"", "{}", "[1]", R"({"rank": 0, "dropped": 0, "calls": [[1]]})"}) {
    try {
      chrome_trace({text});
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::corrupt);
    }
  }
}

}  // namespace
}  // namespace reshard::multi
