// The wire of UCX alone: several wires of one process, each moved along in turn, over TCP to this host.
#include "fabric/ucx/ucx_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include "counting/allocations.h"
#include "reshard/error.h"

namespace reshard::fabric {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Bytes that name where they come from: sender, number of the message, place in the payload.
std::byte origin(RankId from, std::uint64_t message, Index at) {
  return static_cast<std::byte>(static_cast<std::uint64_t>(from.value()) * 83 + message * 29 +
                                static_cast<std::uint64_t>(at) * 7 + (static_cast<std::uint64_t>(at) >> 8) * 13);
}

// A strided part of memory of its own, all else in there poisoned.
struct Part {
  static constexpr std::byte kPoison{0xA5};
  std::vector<Strided::Loop> loops;
  std::vector<std::byte> memory;
  Strided view;

  Part(Index row_bytes, std::vector<Strided::Loop> turns) : loops(std::move(turns)) {
    Index below = 0, above = row_bytes;
    for (const Strided::Loop& loop : loops) {
      if (loop.count > 0) (loop.step < 0 ? below : above) += std::abs(loop.step) * (loop.count - 1);
    }
    memory.assign(static_cast<std::size_t>(below + above), kPoison);
    view = {.base = memory.data() + below, .row_bytes = row_bytes, .loops = loops};
  }
  // Visits the bytes one by one, in order.
  template <class Visit>
  void each(const Visit& visit) {
    StridedWalk walk(view);
    for (Index at = 0; walk.left() > 0; ++at) visit(walk.next(1).front(), at);
  }
  void stamp(RankId from, std::uint64_t message) {
    each([&](std::byte& byte, Index at) { byte = origin(from, message, at); });
  }
  void expect_stamped(RankId from, std::uint64_t message) {
    each([&](std::byte& byte, Index at) {
      ASSERT_EQ(byte, origin(from, message, at))
          << "byte " << at << " of message " << message << " of " << from.value();
      byte = kPoison;
    });
    for (std::byte byte : memory) ASSERT_EQ(byte, kPoison) << "outside the payload of message " << message;
  }
};

struct Head {
  std::uint64_t message = 0;
  Index bytes = 0;
};

// What a rank is told: it keeps all, gives each payload the place that the test has set, and checks the order.
struct Rank : WireEvents {
  struct Told {
    RankId from;
    std::uint64_t message;
  };
  std::unique_ptr<UcxWire> wire;
  std::function<Strided(RankId, const Head&)> place_of;
  std::vector<std::uint64_t> next;  // message expected of each peer
  std::vector<Told> finished_messages;
  std::vector<Told> sent_messages;
  std::vector<std::string> losses;

  explicit Rank(const UcxWireOptions& options)
      : wire(std::make_unique<UcxWire>(options)), next(static_cast<std::size_t>(options.ranks)) {}

  Place arrived(RankId from, std::span<const std::byte> header, Index payload_bytes) override {
    Head head;
    if (header.size() != sizeof head) throw std::logic_error("a header of " + std::to_string(header.size()) + " bytes");
    std::memcpy(&head, header.data(), sizeof head);
    if (head.message != next[static_cast<std::size_t>(from.value())]++) throw std::logic_error("out of order");
    if (head.bytes != payload_bytes) throw std::logic_error("payload of another message");
    if (payload_bytes == 0) return {};
    return {place_of(from, head), head.message};
  }
  void finished(RankId from, std::uint64_t ticket) override { finished_messages.push_back({from, ticket}); }
  void sent(RankId to, std::uint64_t ticket) override { sent_messages.push_back({to, ticket}); }
  void lost(RankId peer, std::string_view why) override {
    losses.push_back(std::to_string(peer.value()) + ": " + std::string(why));
  }

  void send(RankId to, std::uint64_t message, const Strided& payload) {
    const Head head{message, payload.bytes()};
    wire->send(to, std::as_bytes(std::span(&head, 1)), payload, message);
  }
};

// The ranks of a test end one by one, and those that are left do not receive.
UcxWireOptions options(RankId rank, Index ranks) { return {.rank = rank, .ranks = ranks, .linger = 100ms}; }

struct Net {
  std::deque<Rank> ranks;

  explicit Net(Index count) {
    for (Index i = 0; i < count; ++i) ranks.emplace_back(options(RankId(i), count));
    for (Rank& rank : ranks) rank.wire->connect(addresses());
  }
  std::vector<std::string> addresses() const {
    std::vector<std::string> all;
    for (const Rank& rank : ranks) all.push_back(rank.wire->address());
    return all;
  }
  void until(std::string_view what, const std::function<bool()>& done) {
    const auto deadline = Clock::now() + 60s;
    while (!done()) {
      ASSERT_LT(Clock::now(), deadline) << what;
      for (Rank& rank : ranks) {
        if (rank.wire != nullptr) rank.wire->progress(rank);
      }
    }
  }
};

// The same bytes as rows of another shape, forwards or backwards.
std::vector<Strided::Loop> random_loops(std::mt19937_64& random, Index rows, Index row_bytes) {
  std::vector<Strided::Loop> loops;
  Index step = row_bytes + static_cast<Index>(random() % 3) * 5;
  while (rows > 1) {
    const Index count = rows % 2 == 0 && random() % 2 == 0 ? 2 : rows;
    loops.insert(loops.begin(), {count, random() % 2 == 0 ? step : -step});
    step *= count + static_cast<Index>(random() % 2);
    rows /= count;
  }
  return loops;
}

class UcxWireRanks : public ::testing::TestWithParam<Index> {};

TEST_P(UcxWireRanks, CarriesAnyShapeFromEachToEachAgainAndAgain) {
  const Index count = GetParam();
  const std::uint64_t seed = 20240611 + static_cast<std::uint64_t>(count);
  RecordProperty("seed", static_cast<int>(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Net net(count);
  const std::vector<Index> row_sizes{1, 3, 64, 4096, 16384, UcxWire::kPiece - 1, UcxWire::kPiece + 1, 200'001};
  for (std::uint64_t round = 0; round < 3; ++round) {
    std::map<std::tuple<Index, Index, std::uint64_t>, Part> targets;
    std::deque<Part> sources;
    std::size_t payloads = 0;
    constexpr std::uint64_t kMessages = 6;
    for (Rank& rank : net.ranks) {
      const Index here = rank.wire->rank().value();
      rank.finished_messages.clear();
      rank.sent_messages.clear();
      rank.place_of = [&targets, here](RankId from, const Head& head) {
        return targets.at({from.value(), here, head.message}).view;
      };
      for (Index to = 0; to < count; ++to) {
        for (std::uint64_t k = 0; k < kMessages; ++k) {
          const std::uint64_t message = round * kMessages + k;
          const Index row_bytes = k == 2 ? 0 : row_sizes[random() % row_sizes.size()];
          const Index rows = 1 + static_cast<Index>(random() % (row_bytes > 20'000 ? 3 : 24));
          Part& source = sources.emplace_back(row_bytes, random_loops(random, rows, row_bytes));
          if (row_bytes > 0) {
            ++payloads;
            targets.emplace(std::tuple(here, to, message), Part(row_bytes, random_loops(random, rows, row_bytes)));
            source.stamp(RankId(here), message);
          }
          rank.send(RankId(to), message, source.view);
        }
      }
    }
    net.until("payloads", [&] {
      std::size_t finished = 0, sent = 0;
      for (const Rank& rank : net.ranks) finished += rank.finished_messages.size(), sent += rank.sent_messages.size();
      return finished == payloads && sent == payloads;
    });
    for (auto& [key, target] : targets) target.expect_stamped(RankId(std::get<0>(key)), std::get<2>(key));
    for (const Rank& rank : net.ranks) {
      EXPECT_THAT(rank.next, ::testing::Each((round + 1) * kMessages));
      EXPECT_THAT(rank.losses, ::testing::IsEmpty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, UcxWireRanks, ::testing::Values(1, 2, 3, 5), ::testing::PrintToStringParamName());

TEST(UcxWireTest, AllocatesNothingOnceItIsWarm) {
  Net net(2);
  Part source(16384, {{40, 32768}}), target(16384, {{40, 16384}});
  source.stamp(RankId(0), 0);
  net.ranks[1].place_of = [&](RankId, const Head&) { return target.view; };
  for (Rank& rank : net.ranks) {
    rank.sent_messages.reserve(64);
    rank.finished_messages.reserve(64);
  }
  const auto round = [&](std::uint64_t number) {
    const Rank& to = net.ranks[1];
    for (std::uint64_t k = 0; k < 8; ++k) net.ranks[0].send(RankId(1), number * 8 + k, source.view);
    const auto deadline = Clock::now() + 60s;
    while (Clock::now() < deadline &&
           (to.finished_messages.size() < (number + 1) * 8 || net.ranks[0].sent_messages.size() < (number + 1) * 8)) {
      for (Rank& rank : net.ranks) rank.wire->progress(rank);
    }
  };
  round(0);
  const std::size_t before = allocations();
  for (std::uint64_t number = 1; number < 4; ++number) round(number);
  EXPECT_EQ(allocations() - before, 0u);
  EXPECT_EQ(net.ranks[1].finished_messages.size(), 32u);
}

TEST(UcxWireTest, APeerThatEndsIsLostOnceAndMayComeBack) {
  Net net(3);
  Part payload(1000, {});
  for (Rank& rank : net.ranks) rank.place_of = [&](RankId, const Head&) { return payload.view; };
  for (Index from : {0, 1}) net.ranks[static_cast<std::size_t>(from)].send(RankId(2), 0, {});
  net.until("first messages", [&] { return net.ranks[2].next[0] == 1 && net.ranks[2].next[1] == 1; });

  net.ranks[2].wire.reset();
  net.until("losses", [&] { return !net.ranks[0].losses.empty() && !net.ranks[1].losses.empty(); });
  EXPECT_THAT(net.ranks[0].losses, ::testing::ElementsAre(HasSubstr("2: ")));
  net.ranks[0].send(RankId(2), 7, payload.view);  // dropped
  net.until("what was sent to a lost peer", [&] { return net.ranks[0].sent_messages.size() == 1; });
  EXPECT_EQ(net.ranks[0].losses.size(), 1u);
  EXPECT_THROW(net.ranks[0].wire->reconnect(RankId(1), net.ranks[1].wire->address()), Error) << "it was never lost";

  net.ranks[2].wire = std::make_unique<UcxWire>(options(RankId(2), 3));
  net.ranks[2].wire->connect(net.addresses());
  net.ranks[2].next.assign(3, 0);
  for (Index i : {0, 1}) net.ranks[static_cast<std::size_t>(i)].wire->reconnect(RankId(2), net.addresses()[2]);
  payload.stamp(RankId(0), 0);
  Part target(1000, {});
  net.ranks[2].place_of = [&](RankId, const Head&) { return target.view; };
  net.ranks[0].send(RankId(2), 0, payload.view);
  net.ranks[2].next[0] = 0;
  net.until("a message to the new process", [&] { return net.ranks[2].finished_messages.size() == 1; });
  target.expect_stamped(RankId(0), 0);
  net.ranks[0].next[2] = 0;
  net.ranks[2].send(RankId(0), 0, {});
  net.until("a message of the new process", [&] { return net.ranks[0].next[2] == 1; });
}

TEST(UcxWireTest, ADroppedPeerNoLongerWritesNorIsReadFor) {
  Net net(2);
  Rank& here = net.ranks[0];
  Part incoming(1 << 20, {{8, 1 << 20}}), outgoing(1 << 20, {{8, 1 << 20}});
  std::optional<Part> target(std::in_place, 1 << 20, std::vector<Strided::Loop>{{8, 1 << 20}});
  bool began = false;
  here.place_of = [&](RankId, const Head&) { return began = true, target->view; };
  net.ranks[1].place_of = [&](RankId, const Head&) { return incoming.view; };
  net.ranks[1].send(RankId(0), 0, outgoing.view);
  here.send(RankId(1), 0, outgoing.view);
  net.until("the first piece", [&] { return began; });
  here.wire->drop(RankId(1));
  target.reset();  // what writes there now is caught by the address sanitizer
  net.until("what was to be sent", [&] { return here.sent_messages.size() == 1; });
  for (int i = 0; i < 1000; ++i) {
    for (Rank& rank : net.ranks) rank.wire->progress(rank);
  }
  EXPECT_THAT(here.finished_messages, ::testing::IsEmpty());
  EXPECT_THAT(here.losses, ::testing::IsEmpty()) << "a peer that was dropped is no news";
}

// What a rank says last still comes, but no payload that may be gone by then.
TEST(UcxWireTest, LastWordsComeAndWithdrawnPayloadsDoNot) {
  Net net(2);
  Rank& there = net.ranks[1];
  Part target(1 << 20, {{8, 1 << 20}});
  there.place_of = [&](RankId, const Head&) { return target.view; };
  std::optional<Part> begun(std::in_place, 1 << 20, std::vector<Strided::Loop>{{8, 1 << 20}});
  begun->stamp(RankId(0), 0);
  net.ranks[0].send(RankId(1), 0, begun->view);
  net.until("the first piece", [&] { return there.next[0] == 1; });
  net.ranks[0].send(RankId(1), 99, begun->view);  // will not be begun
  net.ranks[0].send(RankId(1), 1, {});
  net.ranks[0].wire->drop(RankId(1));
  begun.reset();
  std::jthread leaving([&] { net.ranks[0].wire.reset(); });
  const auto deadline = Clock::now() + 60s;
  while (there.next[0] < 2 && Clock::now() < deadline) there.wire->progress(there);
  EXPECT_EQ(there.next[0], 2u);
  EXPECT_THAT(there.finished_messages, ::testing::IsEmpty());
  Index stamped = 0;
  target.each([&](std::byte& byte, Index at) {
    if (byte == origin(RankId(0), 0, at))
      ++stamped;
    else
      ASSERT_EQ(byte, Part::kPoison) << at;
  });
  EXPECT_GE(stamped, UcxWire::kPiece);
}

TEST(UcxWireTest, WhatEventsThrowLeavesProgressAndTheWireGoesOn) {
  Net net(2);
  net.ranks[1].next[0] = 5;  // so that message 0 is out of order
  net.ranks[0].send(RankId(1), 0, {});
  EXPECT_THROW(net.until("a failure", [] { return false; }), std::logic_error);
  net.ranks[0].send(RankId(1), 6, {});
  net.until("the next", [&] { return net.ranks[1].next[0] == 7; });
}

TEST(UcxWireTest, APlaceOfAnotherSizeIsAnError) {
  Net net(2);
  Part payload(100, {}), small(99, {});
  net.ranks[1].place_of = [&](RankId, const Head&) { return small.view; };
  net.ranks[0].send(RankId(1), 0, payload.view);
  try {
    net.until("a failure", [] { return false; });
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a place of 99 bytes for a payload of 100 from rank 0"));
  }
}

TEST(UcxWireTest, SleepsUntilAMessageOrTheDeadline) {
  Net net(2);
  net.ranks[0].send(RankId(1), 0, {});
  net.until("the first", [&] { return net.ranks[1].next[0] == 1; });
  for (int i = 0; i < 100; ++i) {
    for (Rank& rank : net.ranks) rank.wire->progress(rank);
  }
  const auto start = Clock::now();
  while (Clock::now() < start + 30ms) net.ranks[1].wire->sleep(start + 30ms), net.ranks[1].wire->progress(net.ranks[1]);
  // Would last a minute if the message did not wake it.
  const auto deadline = Clock::now() + 60s;
  std::jthread other([&] {
    std::this_thread::sleep_for(20ms);
    net.ranks[0].send(RankId(1), 1, {});
    for (int i = 0; i < 1000; ++i) net.ranks[0].wire->progress(net.ranks[0]);
  });
  while (net.ranks[1].next[0] < 2 && Clock::now() < deadline) {
    net.ranks[1].wire->sleep(deadline);
    net.ranks[1].wire->progress(net.ranks[1]);
  }
  EXPECT_EQ(net.ranks[1].next[0], 2u);
  EXPECT_LT(Clock::now(), deadline);
}

TEST(UcxWireTest, AddressesMustBeThereAndBeAddresses) {
  Net net(2);
  UcxWire wire({.rank = RankId(0), .ranks = 2});
  EXPECT_THROW(wire.connect({net.addresses()[0]}), Error);
  EXPECT_THROW(wire.connect({net.addresses()[0], "short"}), Error);
}

}  // namespace
}  // namespace reshard::fabric
