#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "reshard/error.h"
#include "reshard/simulate.h"
#include "simulate_programs.h"

namespace reshard {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json trace_of(const SymbolicProgram& program, const SimulateOptions& options) {
  const SimulateReport report = simulate(program, options);
  EXPECT_TRUE(report.correct) << report.message;
  return json::parse(chrome_trace(report, options.devices));
}

const SimulateOptions kOptions{.devices = {3, 1, 2}, .calls = 2, .seed = 5, .timeline = true};

TEST(SimulateTrace, NamesRanksAndTracks) {
  std::map<int, std::set<std::string>> names;
  const json trace = trace_of(simulate_test::all_to_all(3), kOptions);
  for (const json& event : trace.at("traceEvents"))
    if (event.at("ph") == "M" && event.at("args").contains("name"))
      names[event.at("pid")].insert(event.at("args").at("name").get<std::string>());
  EXPECT_EQ(names[0], (std::set<std::string>{"rank 0 (device 3)", "operations", "arrivals"}));
  EXPECT_EQ(names[2], (std::set<std::string>{"rank 2 (device 2)", "operations", "arrivals"}));
  EXPECT_EQ(names.size(), 3U);
}

TEST(SimulateTrace, SlicesFollowOneAnotherOnTheirTrack) {
  std::map<std::pair<int, int>, double> end;
  std::map<int, int> slices;
  const json trace = trace_of(simulate_test::all_to_all(3), kOptions);
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const int pid = event.at("pid"), tid = event.at("tid");
    const double ts = event.at("ts"), dur = event.at("dur");
    EXPECT_FALSE(event.at("name").get<std::string>().empty());
    EXPECT_GT(dur, 0);
    EXPECT_GE(ts, (end[{pid, tid}]) - 1e-3) << event.dump();
    end[{pid, tid}] = ts + dur;
    ++slices[tid];
  }
  // Per rank and call: 2 x 2 notifications and waits, 3 puts, a fence, 3 copies and 2 of the epilogue; 3 arrivals.
  EXPECT_EQ(slices[0], 3 * 2 * (8 + 3 + 1 + 3 + 2));
  EXPECT_EQ(slices[1], 3 * 2 * 3);
}

TEST(SimulateTrace, FlowsLeadFromNotificationsToWaits) {
  std::map<int, json> begins;
  std::vector<json> slices, ends;
  const json trace = trace_of(simulate_test::all_to_all(3), kOptions);
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "X") slices.push_back(event);
    if (event.at("ph") == "s") {
      EXPECT_TRUE(begins.emplace(event.at("id"), event).second) << "ids are unique";
    }
    if (event.at("ph") == "f") ends.push_back(event);
  }
  EXPECT_EQ(ends.size(), 3U * 2 * 4) << "each wait has one";
  EXPECT_EQ(begins.size(), ends.size());
  const auto slice_at = [&](const json& flow) {
    for (const json& slice : slices)
      if (slice.at("pid") == flow.at("pid") && slice.at("tid") == flow.at("tid") && slice.at("ts") <= flow.at("ts") &&
          slice.at("ts").get<double>() + slice.at("dur").get<double>() >= flow.at("ts"))
        return slice.at("name").get<std::string>();
    return std::string("nothing");
  };
  for (const json& end : ends) {
    const json& begin = begins.at(end.at("id"));
    EXPECT_LE(begin.at("ts"), end.at("ts"));
    EXPECT_NE(begin.at("pid"), end.at("pid"));
    EXPECT_THAT(slice_at(end), HasSubstr("wait ready[" + std::to_string(begin.at("pid").get<int>()) + "]"));
    EXPECT_THAT(slice_at(begin), HasSubstr("notify ready@" + std::to_string(end.at("pid").get<int>())));
  }
}

// Values that grow with the call are those of the call.
TEST(SimulateTrace, TextsHaveTheNumbersOfTheirCall) {
  const SimulateReport report = simulate(simulate_test::barrier(), {.devices = {0, 1}, .calls = 3, .timeline = true});
  std::set<std::string> texts;
  for (const SimulatedEvent& event : report.timeline) texts.insert(event.text);
  EXPECT_EQ(texts, (std::set<std::string>{"notify met@0[1] += 1", "notify met@1[0] += 1", "wait met[0] >= 1",
                                          "wait met[0] >= 2", "wait met[0] >= 3", "wait met[1] >= 1",
                                          "wait met[1] >= 2", "wait met[1] >= 3"}));
}

TEST(SimulateTrace, QuotesWhatJsonCannotHold) {
  SimulateReport report{.rank_seconds = {1}};
  report.timeline.push_back({.text = "a \"b\" \\ \n", .end = 1});
  const json trace = json::parse(chrome_trace(report, {0}));
  EXPECT_EQ(trace.at("traceEvents").back().at("name"), "a \"b\" \\ \n");
  EXPECT_EQ(trace.at("traceEvents").back().at("dur"), 1e6);
}

TEST(SimulateTrace, NeedsADeviceForEachRank) {
  const SimulateReport report = simulate(simulate_test::barrier());
  EXPECT_THAT([&] { chrome_trace(report, {0}); },
              testing::ThrowsMessage<Error>(HasSubstr("1 devices are named, but 2 ranks ran")));
}

}  // namespace
}  // namespace reshard
