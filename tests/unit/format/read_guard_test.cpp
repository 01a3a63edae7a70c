#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "files.h"
#include "reshard/mapped_file.h"

namespace reshard {
namespace {

using test::message_of;
using test::TempFolder;
using testing::HasSubstr;

std::string counting(std::size_t bytes) {
  std::string out(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<char>(i % 251 + 1);
  return out;
}

unsigned sum(std::span<const std::byte> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), 0u,
                         [](unsigned s, std::byte b) { return s + std::to_integer<unsigned>(b); });
}

TEST(ReadGuard, FileThatShrinksUnderTheReader) {
  const TempFolder folder;
  const std::string path = folder / "f";
  test::write_file(path, counting(1 << 20));
  const MappedFile file = MappedFile::open(path);
  const ReadGuard guard(file);
  ASSERT_EQ(file.bytes()[4099], std::byte{4099 % 251 + 1});
  std::filesystem::resize_file(path, 10000);
  EXPECT_EQ(file.bytes()[9999], std::byte{9999 % 251 + 1});
  EXPECT_EQ(sum(file.bytes().subspan(500'000)), 0u);  // zeros where the file was
  EXPECT_THAT(message_of(Code::corrupt, [&] { guard.check(); }),
              HasSubstr(path + " shrank while it was read: 1048576 bytes when opened, 10000 now"));
  // A file that grows back is still not what was opened.
  std::filesystem::resize_file(path, 1 << 20);
  EXPECT_THAT(message_of(Code::corrupt, [&] { guard.check(); }), HasSubstr("shrank"));
}

TEST(ReadGuard, ShrinkingWithinAPageIsSeenToo) {
  const TempFolder folder;
  const std::string path = folder / "f";
  test::write_file(path, counting(100));
  const MappedFile file = MappedFile::open(path);
  const ReadGuard guard(file);
  std::filesystem::resize_file(path, 50);
  EXPECT_THAT(message_of(Code::corrupt, [&] { guard.check(); }), HasSubstr("shrank"));
}

TEST(ReadGuard, FileThatIsModified) {
  const TempFolder folder;
  const std::string path = folder / "f";
  test::write_file(path, counting(100));
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const MappedFile file = MappedFile::open(path);
  file.check();
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now());
  EXPECT_THAT(message_of(Code::corrupt, [&] { file.check(); }), HasSubstr("was modified while it was read"));
}

TEST(ReadGuard, ManyThreadsAndGuardsThatComeAndGo) {
  const TempFolder folder;
  std::vector<std::thread> threads;
  std::atomic<int> reported = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string path = folder / std::to_string(t);
      for (int round = 0; round < 20; ++round) {
        test::write_file(path, counting(1 << 16));
        const MappedFile file = MappedFile::open(path);
        const ReadGuard outer(file);
        std::filesystem::resize_file(path, 100);
        const ReadGuard inner(file);
        if (sum(file.bytes().subspan(8192)) != 0) continue;
        try {
          inner.check();
        } catch (const Error&) {
          ++reported;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(reported, 80);
}

TEST(ReadGuard, FaultElsewhereGoesToTheHandlerBefore) {
  EXPECT_EXIT(
      {
        signal(SIGBUS, [](int) { _exit(7); });
        const TempFolder folder;
        test::write_file(folder / "guarded", counting(100));
        test::write_file(folder / "other", counting(8192));
        const MappedFile guarded = MappedFile::open(folder / "guarded");
        const MappedFile other = MappedFile::open(folder / "other");
        const ReadGuard guard(guarded);
        std::filesystem::resize_file(folder / "other", 0);
        _exit(static_cast<int>(sum(other.bytes())));
      },
      testing::ExitedWithCode(7), "");
}

TEST(ReadGuard, HandlerBeforeIsBackWhenTheLastGuardIsGone) {
  struct sigaction before = {}, during = {}, after = {};
  sigaction(SIGBUS, nullptr, &before);
  {
    const TempFolder folder;
    test::write_file(folder / "f", counting(100));
    const MappedFile file = MappedFile::open(folder / "f");
    const ReadGuard guard(file);
    sigaction(SIGBUS, nullptr, &during);
  }
  sigaction(SIGBUS, nullptr, &after);
  EXPECT_NE(reinterpret_cast<void*>(before.sa_sigaction), reinterpret_cast<void*>(during.sa_sigaction));
  EXPECT_EQ(reinterpret_cast<void*>(before.sa_sigaction), reinterpret_cast<void*>(after.sa_sigaction));
}

TEST(MappedFile, EmptyFileHasNoBytes) {
  const TempFolder folder;
  test::write_file(folder / "f", "");
  const MappedFile file = MappedFile::open(folder / "f");
  const ReadGuard guard(file);
  EXPECT_EQ(file.size(), 0);
  guard.check();
}

}  // namespace
}  // namespace reshard
