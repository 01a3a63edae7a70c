// joined_rank SCENARIO FOLDER JOB HERE RANK..: one process of a host whose ranks were started apart. Prints "ok", or
// the error it ended with.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "fabric/shm/joined_host.h"
#include "reshard/error.h"

namespace reshard::fabric {
namespace {

using namespace std::chrono_literals;

Clock::time_point in_time() { return Clock::now() + 60s; }

struct Place {
  std::string scenario, folder, job;
  HostRank host;
  RankId name() const { return host.ranks[host.here]; }
  bool is_last() const { return host.here + 1 == host.ranks.size(); }
};

std::unique_ptr<JoinedHost> join(const Place& place, Clock::time_point deadline) {
  const auto exchange = through_folder(place.folder, place.job, RankId(static_cast<Index>(place.host.here)),
                                       static_cast<Index>(place.host.ranks.size()));
  return JoinedHost::join(place.host, exchange, nullptr, Index{1} << 30, deadline);
}

void expect(bool is_so, const std::string& what) {
  if (!is_so) throw std::logic_error("not so: " + what);
}

std::uint64_t stamp(RankId rank, Index index, Index epoch) {
  return static_cast<std::uint64_t>(epoch * 1'000'000 + rank.value() * 1'000 + index);
}

std::span<std::uint64_t> elements(Endpoint& e, WindowId window) {
  return {reinterpret_cast<std::uint64_t*>(e.memory(window).data()), e.memory(window).size() / 8};
}

void add(std::byte* target, const std::byte* source, const StridedCopy& copy) {
  std::uint64_t a = 0, b = 0;
  std::memcpy(&a, target + copy.target_offset, 8);
  std::memcpy(&b, source + copy.source_offset, 8);
  a += b;
  std::memcpy(target + copy.target_offset, &a, 8);
}

// Each puts into the next one's window, reads back from there, and adds into rank 0; three windows, one after another.
void pass_around(Endpoint& e) {
  const RankId here = e.rank();
  const RankId next((here.value() + 1) % e.ranks()), before((here.value() + e.ranks() - 1) % e.ranks());
  const SignalId full = e.create_signal("full", 1, in_time());
  for (Index epoch = 1; epoch <= 3; ++epoch) {
    const Index count = 1000 * epoch + here.value();
    const WindowId window = e.create_window("data", 8 * count, in_time());
    const WindowId sum = e.create_window("sum", here.value() == 0 ? 8 : 0, in_time());
    std::vector<std::uint64_t> mine(static_cast<std::size_t>(e.window_bytes(window, next) / 8));
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = stamp(here, static_cast<Index>(i), epoch);
    const StridedCopy all{.row_bytes = static_cast<Index>(mine.size()) * 8};
    e.put(next, window, all, std::as_bytes(std::span(mine)));
    e.fence();
    e.notify(next, full, 0, 1, Endpoint::Update::add);
    e.wait(full, 0, static_cast<std::uint64_t>(epoch), Endpoint::Until::greater_equal, in_time());
    const auto got = elements(e, window);
    for (std::size_t i = 0; i < got.size(); ++i) {
      expect(got[i] == stamp(before, static_cast<Index>(i), epoch), "element " + std::to_string(i));
    }
    std::vector<std::uint64_t> back(mine.size());
    e.get(next, window, all, std::as_writable_bytes(std::span(back)));
    expect(back == mine, "what was read back");
    const std::uint64_t one = static_cast<std::uint64_t>(here.value()) + 1;
    e.accumulate(RankId(0), sum, {.row_bytes = 8}, std::as_bytes(std::span(&one, 1)), add, in_time());
    e.barrier(in_time());
    const auto ranks = static_cast<std::uint64_t>(e.ranks());
    if (here.value() == 0) expect(elements(e, sum)[0] == ranks * (ranks + 1) / 2, "the sum");
    e.destroy_window(window, in_time());
    e.destroy_window(sum, in_time());
  }
}

// Each puts into memory of the next one that was there before, and reads it back.
void expose(Endpoint& e, Exposure how) {
  const RankId next((e.rank().value() + 1) % e.ranks()), before((e.rank().value() + e.ranks() - 1) % e.ranks());
  std::vector<std::uint64_t> memory(100'001);
  for (Index epoch = 1; epoch <= 3; ++epoch) {
    const auto mine = std::span(memory).subspan(static_cast<std::size_t>(e.rank().value()));
    const WindowId window = e.expose_window("memory", std::as_writable_bytes(mine), how, in_time());
    std::vector<std::uint64_t> sent(static_cast<std::size_t>(e.window_bytes(window, next) / 8)), back(sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = stamp(e.rank(), static_cast<Index>(i), epoch);
    const StridedCopy all{.row_bytes = static_cast<Index>(sent.size()) * 8};
    e.put(next, window, all, std::as_bytes(std::span(sent)));
    e.fence();
    e.barrier(in_time());
    e.get(next, window, all, std::as_writable_bytes(std::span(back)));
    expect(back == sent, "what was read back");
    e.destroy_window(window, in_time());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (mine[i] != stamp(before, static_cast<Index>(i), epoch)) expect(false, "element " + std::to_string(i));
    }
  }
}

// Says that it is there, and stays.
[[noreturn]] void stay(Endpoint& e) {
  e.create_window("left", Index{1} << 20, in_time());
  std::puts("there");
  std::fflush(stdout);
  for (;;) ::pause();
}

// The last rank dies where SCENARIO says, the others wait for it in a wait, in a barrier or at a gate.
void wait_for_the_dead(const Place& place, Endpoint& e) {
  const SignalId never = e.create_signal("never", 1, in_time());
  e.barrier(in_time());
  if (place.is_last() && place.scenario == "kill") ::raise(SIGKILL);
  if (place.is_last() && place.scenario == "exit") ::_exit(0);
  if (place.is_last()) throw Error(Code::corrupt, "bad shard");
  if (e.rank().value() % 2 == 0) e.wait(never, 0, 1, Endpoint::Until::equal, in_time());
  e.barrier(in_time());
}

// A rank that looks at a signal and sleeps on the bell of the host, as with a wire beside it.
void sleep_for_signals(JoinedHost& host) {
  Endpoint& e = host.endpoint();
  const SignalId token = e.create_signal("token", 1, in_time());
  const RankId next((e.rank().value() + 1) % e.ranks());
  const auto deadline = in_time();
  for (std::uint64_t round = 1; round <= 2000; ++round) {
    if (e.rank().value() == 0) e.notify(next, token, 0, 1, Endpoint::Update::add);
    while (e.peek(token, 0) < round) {
      expect(Clock::now() < deadline, "the token has come in round " + std::to_string(round));
      host.sleep(deadline);
    }
    if (e.rank().value() != 0) e.notify(next, token, 0, 1, Endpoint::Update::add);
  }
}

void run(const Place& place) {
  if (place.scenario == "absent" && place.is_last()) return;
  // Other users may not see each other's files.
  if (place.scenario == "users") expect(::setuid(static_cast<uid_t>(10'000 + place.host.here)) == 0, "setuid");
  const auto host = join(place, place.scenario == "absent" ? Clock::now() + 200ms : in_time());
  Endpoint& e = host->endpoint();
  expect(e.ranks() == static_cast<Index>(place.host.ranks.size()), "number of ranks");
  expect(e.host_of(RankId(e.ranks() - 1)) == 0, "one host");
  if (place.scenario == "ring") return pass_around(e);
  if (place.scenario == "stay") stay(e);
  if (place.scenario == "shared") return expose(e, Exposure::shared);
  if (place.scenario == "in_place") return expose(e, Exposure::in_place);
  if (place.scenario == "served") {
    expect(e.capabilities().needs_service, "that the owner serves");
    return expose(e, Exposure::in_place);
  }
  if (place.scenario == "sleep") return sleep_for_signals(*host);
  if (place.scenario == "disagree") {
    e.create_window(place.is_last() ? "b" : "a", 8, in_time());
    return;
  }
  if (place.scenario == "outside") {
    const WindowId window = e.create_window("data", 8, in_time());
    std::uint64_t value = 0;
    e.get(RankId(e.ranks() - 1), window, {.source_offset = 8, .row_bytes = 8},
          std::as_writable_bytes(std::span(&value, 1)));
    return;
  }
  wait_for_the_dead(place, e);
}

}  // namespace
}  // namespace reshard::fabric

int main(int count, char** words) {
  using namespace reshard;
  if (count < 6) return 2;
  fabric::Place place{words[1], words[2], words[3], {}};
  place.host.here = std::stoul(words[4]);
  place.host.kernel_copies = place.scenario != "served";
  for (int i = 5; i < count; ++i) place.host.ranks.push_back(RankId(std::stol(words[i])));
  try {
    fabric::run(place);
    std::puts("ok");
  } catch (const Error& error) {
    std::printf("%s: %s\n", std::string(name_of(error.code())).c_str(), error.what());
  } catch (const std::exception& error) {
    std::printf("exception: %s\n", error.what());
  }
}
