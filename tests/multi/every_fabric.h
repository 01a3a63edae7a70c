// Every test of this folder runs on every fabric at several numbers of ranks, most of them more than cores.
//
// Bodies run in threads or in other processes, where an EXPECT would not be seen: they report by throwing.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "launch.h"
#include "reshard/error.h"

namespace reshard::multi {

using namespace std::chrono_literals;

struct Setting {
  const Fabric* fabric = nullptr;
  Index ranks = 1;
};

inline void PrintTo(const Setting& s, std::ostream* out) { *out << s.fabric->name() << "_" << s.ranks; }

// Of all fabrics, or of those that suit, with as many ranks as each can start.
inline std::vector<Setting> settings(
    std::initializer_list<Index> ranks, const std::function<bool(const Traits&)>& suits = [](auto&) { return true; }) {
  std::vector<Setting> all;
  for (const Fabric* fabric : fabrics_where(suits)) {
    for (Index n : ranks)
      if (fabric->has_ranks(n)) all.push_back({fabric, n});
  }
  return all;
}

class EveryFabric : public ::testing::TestWithParam<Setting> {
 protected:
  const Fabric& fabric() const { return *GetParam().fabric; }
  Traits traits() const { return fabric().traits(); }
  Index ranks() const { return GetParam().ranks; }
  void run(const RankBody& body, const RunOptions& options = {}) const { fabric().run(ranks(), body, options); }
  std::vector<RankOutcome> try_run(const RankBody& body, const RunOptions& options = {}) const {
    return fabric().try_run(ranks(), body, options);
  }
};

// For waits that must succeed: long enough for any machine, shorter than the test's own limit.
inline Clock::time_point in_time() { return Clock::now() + 120s; }

inline RankId next_of(const Endpoint& e) { return RankId((e.rank().value() + 1) % e.ranks()); }
inline RankId previous_of(const Endpoint& e) { return RankId((e.rank().value() + e.ranks() - 1) % e.ranks()); }

[[noreturn]] inline void report(const Endpoint& e, const std::string& what) {
  throw std::logic_error("rank " + std::to_string(e.rank().value()) + ": " + what);
}

template <class A, class B>
void expect_equal(const Endpoint& e, std::string_view what, const A& actual, const B& expected) {
  if (actual == static_cast<A>(expected)) return;
  report(e, std::string(what) + " is " + std::to_string(actual) + ", expected " + std::to_string(expected));
}

// The call throws an Error of this code whose message has all of `parts`.
template <class Call>
void expect_error(const Endpoint& e, Code code, std::initializer_list<std::string> parts, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (error.code() != code) report(e, "wrong code " + std::string(name_of(error.code())) + ": " + error.what());
    for (const std::string& part : parts) {
      if (message.find(part) == message.npos) report(e, "no \"" + part + "\" in: " + error.what());
    }
    return;
  }
  report(e, "no error was thrown");
}

// What element `index` of a window of `rank` holds in round `epoch`.
inline std::uint64_t stamp(RankId rank, Index index, Index epoch = 0) {
  return static_cast<std::uint64_t>(epoch * 1'000'000'000 + rank.value() * 1'000'000 + index);
}

// A window seen as 64-bit elements.
inline std::span<std::uint64_t> elements(Endpoint& e, WindowId window) {
  const auto bytes = e.memory(window);
  return {reinterpret_cast<std::uint64_t*>(bytes.data()), bytes.size() / 8};
}

// With its fence: the value is gone when it returns.
inline void put_one(Endpoint& e, RankId peer, WindowId window, Index index, std::uint64_t value) {
  e.put(peer, window, {.target_offset = index * 8, .row_bytes = 8}, std::as_bytes(std::span(&value, 1)));
  e.fence();
}

// RESHARD_ON_EVERY_FABRIC(Suite, {1, 2, 7}); RESHARD_ON_FABRICS_WHERE(traits.may_die, Suite, {2, 3})
#define RESHARD_ON_EVERY_FABRIC(Suite, ...)                                            \
  INSTANTIATE_TEST_SUITE_P(Fabrics, Suite, ::testing::ValuesIn(settings(__VA_ARGS__)), \
                           ::testing::PrintToStringParamName())
#define RESHARD_ON_FABRICS_WHERE(condition, Suite, ...)                                                                \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Suite);                                                                \
  INSTANTIATE_TEST_SUITE_P(Fabrics, Suite,                                                                             \
                           ::testing::ValuesIn(settings(__VA_ARGS__, [](const Traits& traits) { return condition; })), \
                           ::testing::PrintToStringParamName())

}  // namespace reshard::multi
