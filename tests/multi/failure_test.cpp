// A rank throws, leaves, dies or stops: the others end, and say because of whom.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "every_fabric.h"

namespace reshard::multi {
namespace {

using End = RankOutcome::End;

bool names(const std::string& message, const std::string& part) { return message.find(part) != message.npos; }

// A peer's error says who was lost, and why as far as the fabric tells.
void expect_told(const RankOutcome& outcome, const Traits& traits, RankId culprit, const std::string& why) {
  EXPECT_EQ(outcome.end, End::threw);
  EXPECT_EQ(outcome.code, Code::peer_lost);
  EXPECT_TRUE(names(outcome.message, "lost rank " + std::to_string(culprit.value()))) << outcome.message;
  EXPECT_TRUE(!traits.tells_causes || names(outcome.message, why)) << outcome.message;
}

class Failure : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(Failure, {1, 2, 3, 4, 6, 7, 8});

// Fabrics whose ranks can die alone.
class Death : public EveryFabric {
 protected:
  RankId last() const { return RankId(ranks() - 1); }
  std::string name_of_last() const { return "rank " + std::to_string(last().value()); }
  // Every rank but the last waits in vain, half of them in a barrier.
  static void wait_in_vain(Endpoint& e, SignalId signal, Clock::time_point deadline) {
    if (e.rank().value() % 2 == 0) e.wait(signal, 1, 1, Endpoint::Until::equal, deadline);
    e.barrier(deadline);
  }
};
RESHARD_ON_FABRICS_WHERE(traits.may_die, Death, {2, 3, 7});

TEST_P(Failure, ARankThatThrowsEndsTheWaitsOfAll) {
  const RankId culprit(ranks() / 2);
  const auto body = [culprit](Endpoint& e) {
    const SignalId never = e.create_signal("never", 1, in_time());
    if (e.rank() == culprit) throw Error(Code::corrupt, "bad header in shard 3");
    if (e.rank().value() % 2 == 0) e.wait(never, 0, 1, Endpoint::Until::equal, in_time());
    e.barrier(in_time());
  };
  const auto outcomes = try_run(body);
  for (Index r = 0; r < ranks(); ++r) {
    if (RankId(r) != culprit) expect_told(outcomes[r], traits(), culprit, "bad header in shard 3");
  }
  EXPECT_EQ(outcomes[culprit.value()].code, Code::corrupt);
  EXPECT_EQ(outcomes[culprit.value()].message, "bad header in shard 3");
  try {
    run(body);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::corrupt);
    EXPECT_STREQ(error.what(), "bad header in shard 3");
  }
}

// A rank that works on without waiting can ask.
TEST_P(Failure, CheckPeersTellsOfALostRank) {
  const RankId culprit(ranks() - 1);
  const auto outcomes = try_run([culprit](Endpoint& e) {
    e.check_peers();
    e.barrier(in_time());
    if (e.rank() == culprit) throw Error(Code::corrupt, "gone");
    for (const auto end = in_time(); Clock::now() < end; e.progress()) e.check_peers();
  });
  for (Index r = 0; r + 1 < ranks(); ++r) expect_told(outcomes[r], traits(), culprit, "gone");
}

TEST_P(Failure, OtherExceptionsArriveToo) {
  const RankId culprit(ranks() - 1);
  const auto outcomes = try_run([culprit](Endpoint& e) {
    if (e.rank() == culprit) throw std::runtime_error("disk on fire");
  });
  EXPECT_EQ(outcomes.back().end, End::threw);
  EXPECT_EQ(outcomes.back().code, Code::internal);
  EXPECT_TRUE(names(outcomes.back().message, "disk on fire")) << outcomes.back().message;
  for (Index r = 0; r + 1 < ranks(); ++r) EXPECT_EQ(outcomes[r].end, End::returned) << r;
}

// Longer than what is kept of it.
TEST_P(Failure, ALongMessageIsCutNotLost) {
  const auto outcomes = try_run([](Endpoint&) { throw Error(Code::io, "begin " + std::string(5000, 'x')); });
  for (const RankOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.code, Code::io);
    EXPECT_TRUE(outcome.message.starts_with("begin xxx"));
  }
}

TEST_P(Death, KilledRankIsNamedByAll) {
  const auto body = [this](Endpoint& e) {
    const SignalId never = e.create_signal("never", 2, in_time());
    if (e.rank() == last()) ::raise(SIGKILL);
    wait_in_vain(e, never, in_time());
  };
  const auto outcomes = try_run(body);
  EXPECT_EQ(outcomes.back().end, End::killed);
  EXPECT_EQ(outcomes.back().signal, SIGKILL);
  for (Index r = 0; r + 1 < ranks(); ++r) expect_told(outcomes[r], traits(), last(), "(killed by signal 9)");
  try {
    run(body);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::peer_lost);
    EXPECT_TRUE(names(error.what(), name_of_last()) && names(error.what(), "signal 9")) << error.what();
  }
}

TEST_P(Death, CrashedRankIsNamedByAll) {
  const auto outcomes = try_run([this](Endpoint& e) {
    const SignalId never = e.create_signal("never", 2, in_time());
    if (e.rank() == last()) {
      ::signal(SIGBUS, SIG_DFL);
      ::raise(SIGBUS);
    }
    wait_in_vain(e, never, in_time());
  });
  EXPECT_EQ(outcomes.back().signal, SIGBUS);
  expect_told(outcomes.front(), traits(), last(), "killed by signal " + std::to_string(SIGBUS));
}

TEST_P(Death, RankThatExitsInsideItsBodyIsLost) {
  const auto outcomes = try_run([this](Endpoint& e) {
    const SignalId never = e.create_signal("never", 2, in_time());
    if (e.rank() == last()) ::_exit(3);
    wait_in_vain(e, never, in_time());
  });
  EXPECT_EQ(outcomes.back().end, End::exited);
  EXPECT_EQ(outcomes.back().exit_code, 3);
  EXPECT_EQ(outcomes.back().code, Code::peer_lost);
  expect_told(outcomes.front(), traits(), last(), "exited with code 3");
}

// A stopped rank is not dead: the others time out, naming what they waited for, and it does not hold up the end.
TEST_P(Death, StoppedRankLetsTheOthersTimeOut) {
  const auto outcomes = try_run(
      [this](Endpoint& e) {
        const SignalId ready = e.create_signal("ready", e.ranks(), in_time());
        e.barrier(in_time());
        if (e.rank() == last()) ::raise(SIGSTOP);
        e.wait(ready, last().value(), 1, Endpoint::Until::greater_equal, Clock::now() + 300ms);
      },
      {.grace = 200ms});
  EXPECT_EQ(outcomes.back().end, End::abandoned);
  for (Index r = 0; r + 1 < ranks(); ++r) {
    const bool is_first_to_expire = outcomes[r].code == Code::timeout;
    EXPECT_TRUE(is_first_to_expire || outcomes[r].code == Code::peer_lost) << outcomes[r].message;
    EXPECT_TRUE(names(outcomes[r].message, "\"ready\" slot " + std::to_string(last().value()))) << outcomes[r].message;
    EXPECT_TRUE(names(outcomes[r].message, ">= 1, seen 0")) << outcomes[r].message;
  }
}

// A rank that computes for ever after another's failure is not waited for.
TEST_P(Death, RankThatNeverLooksIsKilledAfterTheGrace) {
  const auto outcomes = try_run(
      [this](Endpoint& e) {
        if (e.rank() == last()) throw Error(Code::corrupt, "first");
        for (;;) ::pause();
      },
      {.grace = 50ms});
  EXPECT_EQ(outcomes.back().code, Code::corrupt);
  for (Index r = 0; r + 1 < ranks(); ++r) EXPECT_EQ(outcomes[r].end, End::abandoned) << r;
}

// The pipe's last writer is gone only when every rank is.
TEST_P(Death, RanksDieWithTheirParent) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    try_run([&](Endpoint&) {
      if (::write(pipe[1], "x", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    });
    ::_exit(0);
  }
  ::close(pipe[1]);
  char byte = 0;
  for (Index r = 0; r < ranks(); ++r) ASSERT_EQ(::read(pipe[0], &byte, 1), 1);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_EQ(::read(pipe[0], &byte, 1), 0);
  ::close(pipe[0]);
}

// Text that the parent had not yet written appears once; what ranks print appears; exit handlers run in the parent
// only.
TEST_P(Death, NothingIsFlushedTwiceAndNoExitHandlerRuns) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  static int* const handlers_run =
      static_cast<int*>(::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::atexit([] { ++*handlers_run; });
  std::fputs("parent.", file);
  run([file](Endpoint&) { std::fputs("rank.", file); });
  EXPECT_EQ(*handlers_run, 0);
  std::fflush(file);
  std::rewind(file);
  char text[1000] = {};
  EXPECT_GT(std::fread(text, 1, sizeof text - 1, file), 0u);
  std::string expected = "parent.";
  for (Index r = 0; r < ranks(); ++r) expected += "rank.";
  EXPECT_EQ(text, expected);
  std::fclose(file);
}

}  // namespace
}  // namespace reshard::multi
