// The wire of MPI alone: what it does when MPI fails, and what it leaves alone once a peer is dropped. Three processes
// run the tests in step.
#include "fabric/mpi/mpi_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <functional>
#include <vector>

namespace {

// Stands in front of MPI's own function and fails for one peer, as the profiling interface allows.
int failing_peer = -1;

}  // namespace

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,
                         MPI_Request* request) {
  if (to == failing_peer) return MPI_ERR_RANK;
  return PMPI_Isend(data, count, type, to, tag, communicator, request);
}

namespace reshard::fabric {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::byte kOurs{0xA5};

// What a rank is told. Payloads go to `target`.
struct Told : WireEvents {
  std::vector<std::byte> target = std::vector<std::byte>(1 << 22);
  std::vector<Index> arrived_from, finished_from, sent_to;
  std::vector<std::string> losses;

  Place arrived(RankId from, std::span<const std::byte>, Index payload_bytes) override {
    arrived_from.push_back(from.value());
    return {{target.data(), payload_bytes}, 0};
  }
  void finished(RankId from, std::uint64_t) override { finished_from.push_back(from.value()); }
  void sent(RankId to, std::uint64_t) override { sent_to.push_back(to.value()); }
  void lost(RankId peer, std::string_view why) override {
    losses.push_back("rank " + std::to_string(peer.value()) + ": " + std::string(why));
  }
};

// What the test does next, agreed upon without MPI: a rank that computes makes no progress in MPI.
class Step {
 public:
  Step() {
    void* memory = nullptr;
    const bool is_first = rank() == 0;
    MPI_Win_allocate_shared(is_first ? sizeof *step_ : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window_);
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &memory);
    step_ = static_cast<std::atomic<int>*>(memory);
    if (is_first) new (step_) std::atomic<int>(0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Step() {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window_);
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  static int rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }
  int now() const { return step_->load(); }
  void reach(int step) { step_->store(step); }
  void await(int step) const {
    while (now() < step) sched_yield();
  }

 private:
  std::atomic<int>* step_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

class MpiWireTest : public ::testing::Test {
 protected:
  MpiWireTest() {
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    wire_ = std::make_unique<MpiWire>(communicator_);
  }
  ~MpiWireTest() override {
    failing_peer = -1;
    MPI_Barrier(MPI_COMM_WORLD);  // the communicator stays, as that of a world that has lost a rank
    wire_.reset();
  }
  // Until it is so; false after a long time.
  bool progress_until(const std::function<bool()>& is_so) {
    for (const auto end = Clock::now() + 60s; !is_so(); sched_yield()) {
      if (Clock::now() > end) return false;
      wire_->progress(told_);
    }
    return true;
  }
  void progress_often() {
    for (int i = 0; i < 2000; ++i) wire_->progress(told_);
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::unique_ptr<MpiWire> wire_;
  Told told_;
};

// Rank 0 drops rank 1 in the middle of a payload that MPI is receiving; its memory is the caller's again, although rank
// 1 sends on.
TEST_F(MpiWireTest, ADroppedPeerWritesNoMore) {
  Step step;
  const RankId self = wire_->rank();
  std::vector<std::byte> payload(told_.target.size(), std::byte{0x11});
  if (self == RankId(1)) {
    wire_->send(RankId(0), std::as_bytes(std::span("put")), {payload.data(), static_cast<Index>(payload.size())}, 7);
    ASSERT_TRUE(progress_until([&] { return step.now() >= 1; }));
    step.await(2);
    progress_often();
    step.reach(3);
  } else if (self == RankId(0)) {
    ASSERT_TRUE(progress_until([&] { return told_.target.front() == payload.front(); }));
    step.reach(1);
    progress_often();
    ASSERT_THAT(told_.finished_from, IsEmpty()) << "the payload was all there before the peer could be dropped";
    wire_->drop(RankId(1));
    std::ranges::fill(told_.target, kOurs);
    step.reach(2);
    ASSERT_TRUE(progress_until([&] { return step.now() >= 3; }));
    progress_often();
    EXPECT_TRUE(std::ranges::all_of(told_.target, [](std::byte byte) { return byte == kOurs; }));
  }
}

// And reads no more of what was to be sent to it.
TEST_F(MpiWireTest, ADroppedPeerIsSentNoMore) {
  Step step;
  const RankId self = wire_->rank();
  std::vector<std::byte> payload(told_.target.size(), std::byte{0x22});
  if (self == RankId(1)) {
    wire_->send(RankId(0), std::as_bytes(std::span("put")), {payload.data(), static_cast<Index>(payload.size())}, 7);
    wire_->drop(RankId(0));
    std::ranges::fill(payload, kOurs);
    ASSERT_TRUE(progress_until([&] { return !told_.sent_to.empty(); }));
    EXPECT_THAT(told_.sent_to, ElementsAre(0));
    ASSERT_TRUE(progress_until([&] { return step.now() >= 1; }));
  } else if (self == RankId(0)) {
    ASSERT_TRUE(progress_until([&] { return told_.target.front() == std::byte{0x22}; }));
    progress_often();
    EXPECT_EQ(std::ranges::count(told_.target, kOurs), 0);
    step.reach(1);
  }
}

// What MPI says of one peer is told of that peer, once; the others go on.
TEST_F(MpiWireTest, AFailedCallLosesItsPeerAlone) {
  const RankId self = wire_->rank();
  std::vector<std::byte> payload(100'000, std::byte{0x33});
  const Strided all{payload.data(), static_cast<Index>(payload.size())};
  if (self == RankId(0)) {
    failing_peer = 1;
    wire_->send(RankId(1), std::as_bytes(std::span("put")), all, 7);
    wire_->send(RankId(1), std::as_bytes(std::span("put")), all, 8);
    wire_->send(RankId(2), std::as_bytes(std::span("put")), all, 9);
    ASSERT_TRUE(progress_until([&] { return told_.sent_to.size() == 3; }));
    wire_->send(RankId(1), std::as_bytes(std::span("put")), all, 10);
    ASSERT_TRUE(progress_until([&] { return told_.sent_to.size() == 4; }));
    EXPECT_THAT(told_.losses, ElementsAre(HasSubstr("rank 1: MPI_Isend of a header: MPI_ERR_RANK")));
  } else if (self == RankId(2)) {
    ASSERT_TRUE(progress_until([&] { return !told_.finished_from.empty(); }));
    EXPECT_THAT(told_.finished_from, ElementsAre(0));
    EXPECT_EQ(told_.target[payload.size() - 1], std::byte{0x33});
  }
}

}  // namespace
}  // namespace reshard::fabric

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
