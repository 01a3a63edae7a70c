// What reports say: each fault once, the trace, limits, ordered networks, the picture.
#include <gmock/gmock.h>

#include "check_programs.h"
#include "reshard/error.h"

namespace reshard {
namespace {

using testing::HasSubstr;

CheckReport checked(const std::string& text, CheckOptions options = {}) {
  options.suggest = false;
  return check(parse_program("program test\n" + text), options);
}

const SymbolicProgram& one_round() {
  static const SymbolicProgram program =
      exchange("signal s[P] : credits-1",
               kPut +
                   "fence\nfor p in peers { notify s@p[me] += 1 }\nfor q in peers { wait s[q] >= 1 }\n"
                   "for q in peers { notify s@me[q] += -1 }\n" +
                   kRead);
  return program;
}

TEST(CheckReport, ARaceIsTheShortestScheduleThatGoesWrong) {
  const CheckReport report = check(one_round(), {.ranks = 2, .calls = 3});
  EXPECT_EQ(report.message,
            "`put data@0[1] <- x[0]` of rank 1 in call 2 may overwrite data[1] of rank 0 before `copy y[1] <- data[1]` "
            "of rank 0 in call 1 has read it: nothing orders them");
  ASSERT_EQ(report.trace.size(), 18U);
  const TraceStep& arrival = report.trace[16];
  EXPECT_EQ(arrival, (TraceStep{.rank = RankId(1),
                                .call = 2,
                                .operation = 0,
                                .text = "put data@0[1] <- x[0]",
                                .arrival = true,
                                .culprit = true}));
  const TraceStep& read = report.trace[17];
  EXPECT_EQ(read,
            (TraceStep{.rank = RankId(0), .call = 1, .operation = 7, .text = "copy y[1] <- data[1]", .culprit = true}));
  const std::string text = report.text();
  EXPECT_THAT(text, HasSubstr("FAULT: race (2 ranks, 3 calls; "));
  EXPECT_THAT(text, HasSubstr("17 c2 !                                   ~> put data@0[1] <- x[0] arrives\n"
                              "18 c1 !copy y[1] <- data[1]\n"));
  EXPECT_THAT(text, HasSubstr("Repair, proven by the same check: add a round in which all ranks say"));
}

TEST(CheckReport, TracesStayNarrow) {
  const std::string text = check(one_round(), {.ranks = 4, .calls = 2, .suggest = false}).text();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 100U) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(CheckReport, AMissingFenceIsNamed) {
  const std::string body =
      "put data@((me + 1) % P) <- x\nnotify s@((me + 1) % P)[0] += 1\nwait s[0] >= 1\ncopy y <- data\n";
  const std::string head =
      "input x : f32[1]\noutput y : f32[1]\nwindow data : f32[1]\nsignal s[1]\n"
      "expect y[i] = x@((me - 1) % P)[i]\n";
  const CheckReport report = checked(head + body, {.calls = 1});
  EXPECT_EQ(report.fault, CheckFault::race);
  EXPECT_THAT(report.message,
              HasSubstr("rank 1 has heard from rank 0 since, but no fence stands between the put and the "
                        "notification"));
  EXPECT_TRUE(checked(head + body, {.calls = 1, .ordered_puts = true}).passed);
}

TEST(CheckReport, APutReadsItsSourceLate) {
  const std::string head = "input x : f32[2]\noutput y : f32[1]\nlocal b : f32[1]\nwindow data : f32[2]\n";
  const std::string body = "copy b <- x[0..1]\nput data@me[0..1] <- b\n";
  EXPECT_EQ(checked(head + body + "copy b <- x[1..2]\n", {.calls = 1}).fault, CheckFault::race);
  EXPECT_TRUE(checked(head + body + "fence\ncopy b <- x[1..2]\n", {.calls = 1}).passed);
  // The end of a call waits for that, so inputs may be given anew.
  EXPECT_TRUE(checked("input x : f32[2]\nwindow data : f32[2, 2]\nput data@me[call % 2] <- x\n", {.calls = 2}).passed);
}

TEST(CheckReport, AWrongValueNamesBothOrigins) {
  const CheckReport report = checked(
      "input x : f32[P]\noutput y : f32[P]\nwindow data : f32[P]\nexpect y[s] = x@me[s]\n"
      "for s in 0..P { copy y[s] <- x[(s + 1) % P] }\n");
  EXPECT_EQ(report.fault, CheckFault::wrong_value);
  EXPECT_EQ(report.message,
            "y[0] of rank 0 in call 1 holds x[1] of rank 0 in call 1, expected x[0] of rank 0 in call 1");
  ASSERT_FALSE(report.trace.empty());
  EXPECT_TRUE(report.trace.back().culprit);
  EXPECT_EQ(report.trace.back().text, "copy y[0] <- x[1]");
}

TEST(CheckReport, AStaleRowIsOfTheCallBefore) {
  // Everything is ordered, but the row of the last call is read.
  const CheckReport report = checked(
      "input x : f32[1]\noutput y : f32[1]\nwindow data : f32[1]\nexpect y[i] = x[i]\n"
      "copy y <- data\ncopy data <- x\n",
      {.ranks = 1, .calls = 2});
  EXPECT_EQ(report.message, "y of rank 0 in call 1 holds 0, expected x of rank 0 in call 1");
}

TEST(CheckReport, SumsDoNotDependOnTheirOrder) {
  const std::string text =
      "input x : i32[2]\noutput y : i32[2]\nwindow a : i32[2]\nsignal r[P]\nsignal s[1]\n"
      "expect y[j] = sum(q in 0..P, x@q[j])\n"
      "fill a <- 0\nfor p in peers { notify r@p[me] += 1 }\nfor p in peers { wait r[p] >= 2 * call - 1 }\n"
      "for p in 0..P { put a@p <- x accumulate sum }\nfence\nfor p in peers { notify s@p[0] += 1 }\n"
      "wait s[0] >= (P - 1) * call\ncopy y <- a\n"
      "for p in peers { notify r@p[me] += 1 }\nfor p in peers { wait r[p] >= 2 * call }\n";
  EXPECT_TRUE(checked(text, {.ranks = 4, .calls = 3}).passed);
  std::string plain = text;
  plain.erase(plain.find(" accumulate sum"), std::string(" accumulate sum").size());
  EXPECT_EQ(checked(plain, {.ranks = 3}).fault, CheckFault::race);
}

TEST(CheckReport, AccumulatingIntoOneCellAsTwoDtypesIsARace) {
  const auto with = [](std::string_view second) {
    return checked(fmt::format("input x : i32[1]\ninput z : f32[1]\nwindow a : i32[1]\nview real : f32[1] of a\n"
                               "if me == 1 {{ put a@0 <- x accumulate sum }}\nif me == 2 {{ put {} accumulate sum }}\n",
                               second),
                   {.ranks = 3, .calls = 1});
  };
  EXPECT_TRUE(with("a@0 <- x").passed);
  EXPECT_EQ(with("real@0 <- z").fault, CheckFault::race);
}

TEST(CheckReport, ADeadlockNamesTheMissingNotification) {
  const CheckReport silent =
      checked("signal s[P]\nif me > 0 { notify s@0[me] += 1 }\nfor q in peers { wait s[q] >= call }\n", {.ranks = 2});
  EXPECT_EQ(
      silent.message,
      "rank 1 waits for ever in call 1 at `wait s[0] >= 1`: s[0] holds 0, nobody ever notifies it; by its slot, a "
      "notification of rank 0 is missing");
  EXPECT_TRUE(silent.trace.back().blocked);
  const CheckReport circle =
      checked("signal s[P]\nfor q in peers { wait s[q] >= call }\nfor p in peers { notify s@p[me] += 1 }\n");
  EXPECT_THAT(circle.message, HasSubstr("rank 1 is stuck before its `notify s@0[1] += 1` of call 1"));
  EXPECT_EQ(circle.trace.size(), 2U);
}

TEST(CheckReport, ContractsOfSignals) {
  const std::string round = "for p in peers { notify s@p[me] += 1 }\nfor q in peers { wait s[q] >= ";
  EXPECT_TRUE(checked("signal s[P] : epoch\n" + round + "call }\n").passed);
  const CheckReport credits = checked("signal s[P] : credits-2\n" + round + "call }\n");
  EXPECT_EQ(credits.fault, CheckFault::contract);
  EXPECT_EQ(credits.message, "s[0] of rank 1 holds 1 after call 1, and credits-2 promises 0 between calls");
  const CheckReport uneven = checked("signal s[P] : epoch\nnotify s@me[0] += call\n");
  EXPECT_EQ(uneven.message,
            "s[0] of rank 0 grows by 1 in call 1 and by 2 in call 2, and epoch promises that every call adds the same");
}

TEST(CheckReport, CountersOfFewBits) {
  const CheckReport later = checked("signal s[P] : 16 bits\nnotify s@me[0] += 1\nwait s[0] >= call\n");
  EXPECT_EQ(later.fault, CheckFault::overflow);
  EXPECT_THAT(later.message, HasSubstr("passes its 16 bits in call 65536"));
  EXPECT_TRUE(checked("signal s[P] : 16 bits\nnotify s@me[0] += 1\nwait s[0] >= 1\nnotify s@me[0] += -1\n").passed);
  EXPECT_THAT(checked("signal s[P] : 2 bits\nfor i in 0..4 { notify s@me[0] += 1 }\n").message,
              HasSubstr("reaches 4, past its 2 bits"));
  EXPECT_THAT(checked("signal s[P]\nnotify s@me[0] += -1\n").message, HasSubstr("goes below zero, to -1"));
}

const std::string kCounted =
    "input counts : i32[1]\ninput x : f32[4]\noutput y : f32[4]\nwindow data : f32[4]\n"
    "init counts[i] = ";

TEST(CheckReport, OperationsFollowMemory) {
  const std::string body =
      "for j in 0..counts[0] { copy data[j] <- x[j] }\nfor j in 0..counts[0] { copy y[j] <- data[j] }\n";
  EXPECT_TRUE(checked(kCounted + "me + call\nexpect y[j] = x[j] if j < me + call\n" + body).passed);
  EXPECT_EQ(checked(kCounted + "me + call\nexpect y[j] = x[j] if j < me + call + 1\n" + body).fault,
            CheckFault::wrong_value);
  const CheckReport beyond = checked(kCounted + "me + 4\n" + body);
  EXPECT_EQ(beyond.fault, CheckFault::out_of_bounds);
  EXPECT_THAT(beyond.message, HasSubstr("rank 1 in call 1"));
}

TEST(CheckReport, AVerdictOfAllRanksIsNoFault) {
  const std::string body = "require counts[0] < 3, \"{counts[0]} rows, and there is room for 2\"\n";
  EXPECT_TRUE(checked(kCounted + "3\n" + body).passed);
  const CheckReport lone = checked(kCounted + "2 + me\n" + body);
  EXPECT_EQ(lone.fault, CheckFault::refused);
  EXPECT_EQ(lone.message,
            "rank 1 refuses call 1 (\"program test: 3 rows, and there is room for 2\") and rank 0 does not; all ranks "
            "must come to the same verdict");
}

TEST(CheckReport, LimitsAreSaid) {
  const SymbolicProgram program = exchange(
      "signal s[P]", "for p in peers { notify s@p[me] += 1 }\nfor q in peers { wait s[q] >= 1 }\n" + kPut +
                         "fence\nfor p in peers { notify s@p[me] += 1 }\n" + "for q in peers { wait s[q] >= 2 }\n" +
                         "for q in peers { notify s@me[q] = 0 }\n" + kRead);
  Index told = 0;
  const CheckReport report =
      check(program, {.ranks = 4, .calls = 1, .max_states = 40'000, .progress = [&](Index states) { told = states; }});
  EXPECT_TRUE(report.passed);
  EXPECT_TRUE(report.bounded);
  EXPECT_GT(told, 0);
  EXPECT_THAT(report.text(), HasSubstr("nothing found, but not all was explored (4 ranks, 1 call; "));
}

TEST(CheckReport, WhatCannotBeUnrolledIsRefused) {
  EXPECT_THROW(checked("window w : f32[1]\nput w@P <- w\n"), Error);
  EXPECT_THROW(check(CheckInput{}), Error);
}

TEST(CheckReport, CountersThatStartTooFarAreRefused) {
  try {
    checked("signal s[1] : starts 4611686018427387905\nnotify s@me[0] += 1\n");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unsupported);
    EXPECT_STREQ(error.what(), "signal s starts at 4611686018427387905; counters can be checked from up to 2^62 on");
  }
}

TEST(CheckReport, ThePictureStandsAlone) {
  const std::string svg = svg_of(check(one_round(), {.ranks = 2, .calls = 2}));
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\""));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("arrives: put data@0[1] &lt;- x[0]"));
  // Two notifications reach their waits, and one put its target.
  std::size_t arrows = 0;
  for (std::size_t at = svg.find("<path d=\"M"); at != std::string::npos; at = svg.find("<path d=\"M", at + 1))
    ++arrows;
  EXPECT_EQ(arrows, 2U + 3U);
}

}  // namespace
}  // namespace reshard
