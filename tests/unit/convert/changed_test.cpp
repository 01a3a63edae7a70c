// Sources that change while they are read, and disks that are full.
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rank_files.h"

namespace reshard::test {
namespace {

class Changed : public testing::Test {
 protected:
  Changed() { write_published(temp_ / "source", model_); }
  ConvertRequest request() const {
    return {.source = temp_ / "source",
            .to = listed_rules("(r=3)", {{"*", "{0: r}"}}),
            .out = temp_ / "out",
            .processes = 2};
  }
  // `change` happens once, after the first unit of rank 0.
  std::string message_when(const std::function<void()>& change, bool verify = false) const {
    ConvertRequest disturbed = request();
    disturbed.verify = verify;
    disturbed.progress = [&, done = false](const ConvertProgress&) mutable {
      if (!done) change();
      done = true;
    };
    const std::string message = message_of(Code::corrupt, [&] { convert(disturbed); });
    EXPECT_FALSE(std::filesystem::exists(temp_ / "out"));
    return message;
  }
  std::string source_file() const { return temp_ / "source/model.safetensors"; }

  const SmallModel model_ = many_tensors(6);
  const TempFolder temp_;
};

TEST_F(Changed, TruncatedWhileItIsRead) {
  const auto truncate_to = [&](Index bytes) {
    return [this, bytes] { ASSERT_EQ(::truncate(source_file().c_str(), bytes), 0); };
  };
  EXPECT_THAT(message_when(truncate_to(5000)), testing::HasSubstr("model.safetensors"));
  write_published(temp_ / "source", model_);
  EXPECT_THAT(message_when(truncate_to(0), true), testing::HasSubstr("model.safetensors"));
}

TEST_F(Changed, WrittenToWhileItIsRead) {
  const std::string message = message_when([this] {
    std::string bytes = read_file(source_file());
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    write_file(source_file(), bytes);
  });
  EXPECT_THAT(message, testing::AllOf(testing::HasSubstr("model.safetensors"), testing::HasSubstr("modified")));
}

// Every process still maps the file that was there, so only its name tells.
TEST_F(Changed, ReplacedWhileItIsRead) {
  const std::string message = message_when([this] {
    write_published(temp_ / "new", model_);
    std::filesystem::rename(temp_ / "new/model.safetensors", source_file());
  });
  EXPECT_THAT(message, testing::AllOf(testing::HasSubstr("model.safetensors"), testing::HasSubstr("modified")));
}

// More files than descriptors.
TEST_F(Changed, ManyFilesNeedFewDescriptors) {
  ConvertRequest split = request();
  split.to = listed_rules("(r=150)", {{"*", "{0: r}"}});
  split.out = temp_ / "split";
  convert(split);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const struct rlimit few { 100, before.rlim_max };
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_NO_THROW(convert({.source = temp_ / "split", .out = temp_ / "again", .processes = 2, .verify = true}));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  expect_equal_folders(temp_ / "source", temp_ / "again");
}

// A file system of its own, small enough to fill.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& path) : path_(path) {
    std::filesystem::create_directories(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=256k") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount(path_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

TEST_F(Changed, AFullDiskIsSaidBeforeAnythingIsWritten) {
  const SmallDisk disk(temp_ / "disk");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system needs root";
  write_published(temp_ / "large", many_tensors(60));  // 2.6 MB
  ConvertRequest large = request();
  large.source = temp_ / "large";
  large.out = temp_ / "disk/out";
  EXPECT_THAT(message_of(Code::io, [&] { convert(large); }), testing::HasSubstr("free"));
  EXPECT_FALSE(std::filesystem::exists(temp_ / "disk/out"));
}

// What a killed run left takes most of the disk; the next one needs that space and may have it.
TEST_F(Changed, UnfinishedFilesOfAKilledRunDoNotCountAsUsed) {
  const SmallDisk disk(temp_ / "disk");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system needs root";
  write_published(temp_ / "half", many_tensors(20));  // 160 KB of the 256
  ConvertRequest half = request();
  half.source = temp_ / "half";
  half.to.reset();
  half.out = temp_ / "disk/out";
  half.processes = 1;
  half.progress = [](const ConvertProgress& progress) {
    // Nearly all of the one file is written: the throttle lets the first unit through, and the last.
    if (progress.bytes_done > 0) ::kill(::getpid(), SIGKILL);
  };
  message_of(Code::peer_lost, [&] { convert(half); });
  const std::string unfinished = temp_ / "disk/out.partial/model.safetensors.unfinished";
  write_file(unfinished, std::string(std::filesystem::file_size(unfinished), 'x'));
  half.progress = nullptr;
  convert(half);
  EXPECT_EQ(read_file(temp_ / "disk/out/model.safetensors"), read_file(temp_ / "half/model.safetensors"));
}

}  // namespace
}  // namespace reshard::test
