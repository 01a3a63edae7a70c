// Windows over memory that exists: of threads, of processes by shared pages, by the kernel's copies, and by their
// owner.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "fabric/shm/kernel_copy.h"
#include "reshard/shm_fabric.h"
#include "reshard/thread_fabric.h"

namespace reshard::fabric {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

enum class Way { thread, kernel, owner };

struct ExposedSetting {
  Way way = Way::thread;
  Exposure how = Exposure::shared;
  Index ranks = 1;
};

void PrintTo(const ExposedSetting& s, std::ostream* out) {
  *out << (s.way == Way::thread   ? "thread"
           : s.way == Way::kernel ? "kernel"
                                  : "owner")
       << (s.how == Exposure::shared ? "_shared_" : "_in_place_") << s.ranks;
}

std::vector<ExposedSetting> exposed_settings(std::initializer_list<Index> ranks) {
  std::vector<ExposedSetting> all;
  for (Way way : {Way::thread, Way::kernel, Way::owner}) {
    for (Exposure how : {Exposure::shared, Exposure::in_place}) {
      for (Index n : ranks) all.push_back({way, how, n});
    }
  }
  return all;
}

Clock::time_point soon_enough() { return Clock::now() + 120s; }

void check(bool is_so, const Endpoint& e, const std::string& what) {
  if (!is_so) throw std::logic_error("rank " + std::to_string(e.rank().value()) + ": not so: " + what);
}

RankId after(const Endpoint& e, Index steps = 1) { return RankId((e.rank().value() + steps) % e.ranks()); }

// What byte `index` of the memory of `rank` holds in `epoch`.
std::byte byte_of(RankId rank, Index index, Index epoch) {
  return static_cast<std::byte>(rank.value() * 131 + index * 7 + index / 256 + epoch * 29);
}

// Memory of a rank, with neighbours before and behind that are nobody's business.
class Neighbourhood {
 public:
  Neighbourhood(const Endpoint& e, Index bytes, Index epoch = 0)
      : rank_(e.rank()), before_(1000 + 3 * e.rank().value()), bytes_(bytes), all_(before_ + bytes + 777) {
    for (Index i = 0; i < static_cast<Index>(all_.size()); ++i) all_[i] = std::byte{0xee};
    for (Index i = 0; i < bytes; ++i) all_[before_ + i] = byte_of(rank_, i, epoch);
  }
  std::span<std::byte> memory() { return std::span(all_).subspan(before_, bytes_); }
  bool is_untouched_around() const {
    const auto is_quiet = [](std::byte b) { return b == std::byte{0xee}; };
    return std::all_of(all_.begin(), all_.begin() + before_, is_quiet) &&
           std::all_of(all_.begin() + before_ + bytes_, all_.end(), is_quiet);
  }

 private:
  RankId rank_;
  Index before_, bytes_;
  std::vector<std::byte> all_;
};

class ExposedWindow : public ::testing::TestWithParam<ExposedSetting> {
 protected:
  Index ranks() const { return GetParam().ranks; }
  Exposure how() const { return GetParam().how; }
  std::vector<RankOutcome> try_run(const RankBody& body) const {
    if (GetParam().way == Way::thread) return try_threads(ranks(), body);
    return try_processes(ranks(), body, {.kernel_copies = GetParam().way == Way::kernel});
  }
  void run(const RankBody& body) const {
    for (const RankOutcome& outcome : try_run(body))
      EXPECT_EQ(outcome.end, RankOutcome::End::returned) << outcome.message;
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, ExposedWindow, ::testing::ValuesIn(exposed_settings({1, 2, 3, 4, 7})),
                         ::testing::PrintToStringParamName());
class ExposedTogether : public ExposedWindow {};
INSTANTIATE_TEST_SUITE_P(Ways, ExposedTogether, ::testing::ValuesIn(exposed_settings({2, 7})),
                         ::testing::PrintToStringParamName());

TEST_P(ExposedWindow, OnlyTheOwnersServiceIsAskedFor) {
  run([this](Endpoint& e) {
    const bool is_served = GetParam().way == Way::owner || (GetParam().way == Way::kernel && !allow_kernel_copies());
    check(e.capabilities().needs_service == is_served, e, "what needs_service says");
    check(e.capabilities().exposes_private, e, "what exposes_private says");
  });
}

// More rows than the kernel takes at a time, and more bytes than the owner's chunks, in rows that end nowhere near a
// page; three windows, one after another, over new memory and over the same again.
TEST_P(ExposedWindow, MovesRowsBothWaysAndLeavesTheNeighboursAlone) {
  run([this](Endpoint& e) {
    constexpr Index kRows = 1700, kPitch = 391, kRow = 310;
    const Stride apart[] = {{kRows, kPitch, kRow}}, together[] = {{kRows, kRow, kPitch}};
    for (Index epoch = 0; epoch < 3; ++epoch) {
      Neighbourhood mine(e, kRows * kPitch, epoch);
      const WindowId window = e.expose_window("mine", mine.memory(), how(), soon_enough());
      check(e.memory(window).data() == mine.memory().data(), e, "where the window's memory is");
      e.barrier(soon_enough());

      std::vector<std::byte> got(kRows * kRow);
      e.get(after(e), window, {.row_bytes = kRow, .loops = apart}, got);
      for (Index i = 0; i < kRows * kRow; ++i) {
        const Index there = i / kRow * kPitch + i % kRow;
        if (got[i] != byte_of(after(e), there, epoch)) check(false, e, "byte " + std::to_string(i) + " that was got");
      }
      e.barrier(soon_enough());

      for (Index i = 0; i < kRows * kRow; ++i) got[i] = byte_of(e.rank(), i, epoch + 100);
      e.put(after(e), window, {.row_bytes = kRow, .loops = together}, got);
      e.fence();
      e.barrier(soon_enough());
      const RankId writer = after(e, e.ranks() - 1);
      for (Index i = 0; i < kRows * kPitch; ++i) {
        const bool is_put = i % kPitch < kRow;
        const std::byte expected =
            is_put ? byte_of(writer, i / kPitch * kRow + i % kPitch, epoch + 100) : byte_of(e.rank(), i, epoch);
        if (mine.memory()[i] != expected) check(false, e, "byte " + std::to_string(i) + " of the memory");
      }
      const std::vector<std::byte> before(mine.memory().begin(), mine.memory().end());
      e.destroy_window(window, soon_enough());
      check(std::ranges::equal(mine.memory(), before), e, "that the memory stays as it is");
      check(mine.is_untouched_around(), e, "that the neighbours stay as they are");
    }
  });
}

void add_words(std::byte* target, const std::byte* source, const StridedCopy& copy) {
  const auto add_row = [&](std::byte* to, const std::byte* from) {
    for (Index i = 0; i < copy.row_bytes; i += 8) {
      std::uint64_t a = 0, b = 0;
      std::memcpy(&a, to + i, 8);
      std::memcpy(&b, from + i, 8);
      a += b;
      std::memcpy(to + i, &a, 8);
    }
  };
  if (copy.loops.empty()) return add_row(target + copy.target_offset, source + copy.source_offset);
  for (Index i = 0; i < copy.loops.front().count; ++i) {
    const Stride& loop = copy.loops.front();
    StridedCopy inner = copy;
    inner.loops = copy.loops.subspan(1);
    inner.target_offset += i * loop.target_bytes;
    inner.source_offset += i * loop.source_bytes;
    add_words(target, source, inner);
  }
}

// Every rank adds into every rank, all at the same time.
TEST_P(ExposedWindow, AccumulatesFromAll) {
  run([this](Endpoint& e) {
    constexpr Index kRows = 333, kWords = 40, kPitch = 47;
    std::vector<std::uint64_t> mine(kRows * kPitch, 1000), terms(kRows * kWords);
    for (Index i = 0; i < kRows * kWords; ++i) terms[i] = static_cast<std::uint64_t>(e.rank().value() * 10'000 + i);
    const WindowId window = e.expose_window("sums", std::as_writable_bytes(std::span(mine)), how(), soon_enough());
    const Stride rows[] = {{kRows, kWords * 8, kPitch * 8}};
    for (Index step = 0; step < e.ranks(); ++step) {
      e.accumulate(after(e, step), window, {.row_bytes = kWords * 8, .loops = rows}, std::as_bytes(std::span(terms)),
                   add_words, soon_enough());
    }
    e.barrier(soon_enough());
    for (Index i = 0; i < kRows * kPitch; ++i) {
      std::uint64_t expected = 1000;
      for (Index r = 0; r < e.ranks() && i % kPitch < kWords; ++r) {
        expected += static_cast<std::uint64_t>(r * 10'000 + i / kPitch * kWords + i % kPitch);
      }
      if (mine[i] != expected) check(false, e, "sum " + std::to_string(i) + ": " + std::to_string(mine[i]));
    }
    e.destroy_window(window, soon_enough());
  });
}

TEST_P(ExposedWindow, MayBeEmptyAtSomeRanks) {
  run([this](Endpoint& e) {
    Neighbourhood mine(e, e.rank().value() % 2 == 0 ? 0 : 5);
    const WindowId window = e.expose_window("some", mine.memory(), how(), soon_enough());
    std::vector<std::byte> got(5);
    for (Index r = 0; r < e.ranks(); ++r) {
      check(e.window_bytes(window, RankId(r)) == (r % 2 == 0 ? 0 : 5), e, "bytes of rank " + std::to_string(r));
      e.get(RankId(r), window, {.row_bytes = e.window_bytes(window, RankId(r))}, got);
      if (r % 2 == 1) check(got[4] == byte_of(RankId(r), 4, 0), e, "what was got");
    }
    e.destroy_window(window, soon_enough());
  });
}

TEST_P(ExposedWindow, KnowsItsBounds) {
  run([this](Endpoint& e) {
    Neighbourhood mine(e, 100);
    const WindowId window = e.expose_window("small", mine.memory(), how(), soon_enough());
    std::vector<std::byte> local(101);
    try {
      e.put(after(e), window, {.target_offset = 1, .row_bytes = 100}, local);
      check(false, e, "that it was refused");
    } catch (const Error& error) {
      check(error.code() == Code::invalid_argument, e, error.what());
      check(std::string_view(error.what()).find("outside window \"small\"") != std::string::npos, e, error.what());
    }
    e.destroy_window(window, soon_enough());
    check(mine.is_untouched_around(), e, "that nothing was written");
  });
}

// No write lands in memory that was released: from destroy_window on it holds what its owner writes.
TEST_P(ExposedWindow, NothingIsWrittenAfterItsDestruction) {
  run([this](Endpoint& e) {
    constexpr Index kBytes = 300'000;
    Neighbourhood mine(e, kBytes);
    std::vector<std::byte> ones(kBytes, std::byte{1});
    for (Index round = 0; round < 20; ++round) {
      const WindowId window = e.expose_window("again", mine.memory(), how(), soon_enough());
      for (Index step = 1; step < e.ranks(); ++step) e.put(after(e, step), window, {.row_bytes = kBytes}, ones);
      e.destroy_window(window, soon_enough());
      std::ranges::fill(mine.memory(), std::byte{2});
      e.barrier(soon_enough());
      check(std::ranges::count(mine.memory(), std::byte{2}) == kBytes, e, "that nobody else wrote");
    }
  });
}

TEST_P(ExposedTogether, RanksMustAgreeOnHow) {
  run([this](Endpoint& e) {
    Neighbourhood mine(e, 100);
    const bool is_other = e.rank().value() == e.ranks() - 1;
    const Exposure other = how() == Exposure::shared ? Exposure::in_place : Exposure::shared;
    try {
      e.expose_window("mine", mine.memory(), is_other ? other : how(), soon_enough());
      check(false, e, "that it was refused");
    } catch (const Error& error) {
      check(std::string_view(error.what()).find("expose_window, in place(\"mine\")") != std::string::npos, e,
            error.what());
    }
    const WindowId window = e.expose_window("mine", mine.memory(), how(), soon_enough());
    e.destroy_window(window, soon_enough());
  });
}

class OfProcesses : public ExposedWindow {};
INSTANTIATE_TEST_SUITE_P(Ways, OfProcesses,
                         ::testing::Values(ExposedSetting{Way::kernel, Exposure::shared, 2},
                                           ExposedSetting{Way::owner, Exposure::shared, 2},
                                           ExposedSetting{Way::kernel, Exposure::in_place, 3},
                                           ExposedSetting{Way::owner, Exposure::in_place, 3}),
                         ::testing::PrintToStringParamName());

// Pages that cannot be replaced: the stack's, a file's, and those that another window shares already.
TEST_P(OfProcesses, TakesWhateverMemoryThereIs) {
  run([this](Endpoint& e) {
    std::array<std::byte, 5000> on_stack{};
    std::FILE* const file = std::tmpfile();
    check(::ftruncate(::fileno(file), 5000) == 0, e, "that the file has 5000 bytes");
    auto* const of_file =
        static_cast<std::byte*>(::mmap(nullptr, 5000, PROT_READ | PROT_WRITE, MAP_SHARED, ::fileno(file), 0));
    std::vector<std::byte> heap(20'000);
    const std::span<std::byte> parts[] = {on_stack, std::span(of_file, 5000), std::span(heap).first(9'000),
                                          std::span(heap).subspan(9'000)};
    std::vector<WindowId> windows;
    for (const auto part : parts) windows.push_back(e.expose_window("part", part, how(), soon_enough()));
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const std::vector<std::byte> value(parts[i].size(), static_cast<std::byte>(10 * i + e.rank().value()));
      e.put(after(e), windows[i], {.row_bytes = static_cast<Index>(value.size())}, value);
    }
    e.barrier(soon_enough());
    const auto is_right = [&](std::size_t i) {
      const auto value = static_cast<std::byte>(10 * i + after(e, e.ranks() - 1).value());
      return std::ranges::count(parts[i], value) == static_cast<Index>(parts[i].size());
    };
    for (std::size_t i = 0; i < windows.size(); ++i) check(is_right(i), e, "part " + std::to_string(i));
    char written[1] = {};
    check(::pread(::fileno(file), written, 1, 4999) == 1 && std::byte(written[0]) == of_file[4999], e,
          "that the file has it");
    for (const WindowId window : windows) e.destroy_window(window, soon_enough());
    for (std::size_t i = 0; i < windows.size(); ++i) check(is_right(i), e, "part " + std::to_string(i) + " in the end");
  });
}

// A row of 1 MiB, 3000 times: more bytes in one call than an int can count.
TEST_P(OfProcesses, MovesMoreBytesThanFitIn31Bits) {
  run([this](Endpoint& e) {
    constexpr Index kMiB = Index{1} << 20, kRows = 3000;
    const Index bytes = e.rank().value() == 0 ? kRows * kMiB : 0;
    std::byte* memory = nullptr;
    if (bytes > 0) {
      memory = static_cast<std::byte*>(::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
      memory[bytes - 1] = std::byte{42};
    }
    // Never written but for its last byte, it takes no memory, unless its pages are replaced.
    const WindowId window =
        e.expose_window("large", {memory, static_cast<std::size_t>(bytes)}, Exposure::in_place, soon_enough());
    if (e.rank().value() == 1) {
      std::vector<std::byte> got(kMiB, std::byte{7});
      const Stride one_row[] = {{kRows, kMiB, 0}};
      e.get(RankId(0), window, {.row_bytes = kMiB, .loops = one_row}, got);
      check(got.front() == std::byte{0} && got.back() == std::byte{42}, e, "the last row");
    }
    e.destroy_window(window, soon_enough());
  });
}

// A rank that has returned still serves those that have not.
TEST_P(OfProcesses, IsReachedUntilAllAreDone) {
  static std::vector<std::byte> mine;
  run([this](Endpoint& e) {
    mine.assign(100'000, static_cast<std::byte>(e.rank().value()));
    const WindowId window = e.expose_window("mine", mine, how(), soon_enough());
    if (e.rank().value() != 0) return;
    ::usleep(20'000);
    std::vector<std::byte> got(mine.size());
    for (Index r = 0; r < e.ranks(); ++r) {
      e.get(RankId(r), window, {.row_bytes = static_cast<Index>(got.size())}, got);
      check(std::ranges::count(got, static_cast<std::byte>(r)) == static_cast<Index>(got.size()), e, "what was got");
    }
  });
}

// Rank 0 reads what the last rank has, again and again; the last rank, or rank 0, is killed meanwhile.
TEST_P(OfProcesses, DeathInTheMiddleIsALostPeer) {
  for (const bool owner_dies : {true, false}) {
    const auto outcomes = try_run([&](Endpoint& e) {
      const RankId last(e.ranks() - 1);
      std::vector<std::byte> mine(5'000'000), got(5'000'000);
      const WindowId window = e.expose_window("mine", mine, how(), soon_enough());
      const SignalId begun = e.create_signal("begun", 1, soon_enough());
      const SignalId never = e.create_signal("never", 1, soon_enough());
      if (e.rank().value() == 0) {
        for (int round = 0;; ++round) {
          e.get(last, window, {.row_bytes = 5'000'000}, got);
          if (round == 3) e.notify(last, begun, 0, 1, Endpoint::Update::set);
          if (round == 5 && !owner_dies) ::raise(SIGKILL);
          e.check_peers();
        }
      }
      if (e.rank() == last) e.wait(begun, 0, 1, Endpoint::Until::equal, soon_enough());
      if (e.rank() == last && owner_dies) ::raise(SIGKILL);
      e.wait(never, 0, 1, Endpoint::Until::equal, soon_enough());
    });
    const auto dead = static_cast<std::size_t>(owner_dies ? ranks() - 1 : 0);
    for (std::size_t r = 0; r < outcomes.size(); ++r) {
      if (r == dead) {
        EXPECT_EQ(outcomes[r].signal, SIGKILL);
      } else {
        EXPECT_EQ(outcomes[r].code, Code::peer_lost) << outcomes[r].message;
        EXPECT_THAT(outcomes[r].message, HasSubstr("lost rank " + std::to_string(dead))) << outcomes[r].message;
      }
    }
  }
}

// The memory goes while the window is there, against the contract: an error, not a crash of either.
TEST(ExposedInPlace, MemoryThatIsGoneIsAnError) {
  if (!allow_kernel_copies()) GTEST_SKIP() << "the kernel does not copy between processes here";
  const auto outcomes = try_processes(2, [](Endpoint& e) {
    auto* const memory =
        static_cast<std::byte*>(::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const WindowId window = e.expose_window("gone", {memory, 8192}, Exposure::in_place, soon_enough());
    ::munmap(memory, 8192);
    e.barrier(soon_enough());
    std::vector<std::byte> got(8192);
    e.get(after(e), window, {.row_bytes = 8192}, got);
  });
  for (const RankOutcome& outcome : outcomes) {
    EXPECT_TRUE(outcome.code == Code::io || outcome.code == Code::peer_lost) << outcome.message;
    EXPECT_THAT(outcome.message, HasSubstr("the memory must stay until the window is destroyed"));
  }
}

}  // namespace
}  // namespace reshard::fabric
