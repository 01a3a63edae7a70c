// Requests that must be refused before anything is written, with words that help.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "rank_files.h"

namespace reshard::test {
namespace {

using testing::HasSubstr;

class Request : public testing::Test {
 protected:
  Request() { write_published(temp_ / "source", model_); }
  ConvertRequest request() const {
    return {.source = temp_ / "source",
            .to = listed_rules("(r=3)", {{"*", "{0: r}"}}),
            .out = temp_ / "out",
            .processes = 2};
  }
  std::string refused(Code code, const ConvertRequest& request) const {
    const std::string message = message_of(code, [&] { convert(request); });
    EXPECT_FALSE(std::filesystem::exists(temp_ / "out"));
    return message;
  }
  // One file per rank, as `request` says.
  std::string ranks() const {
    ConvertRequest to_ranks = request();
    to_ranks.out = temp_ / "ranks";
    convert(to_ranks);
    return to_ranks.out;
  }

  const SmallModel model_ = many_tensors(3);
  const TempFolder temp_;
};

TEST_F(Request, OutputThatExistsIsLeftAlone) {
  write_file(temp_ / "taken/mine", "mine");
  ConvertRequest taken = request();
  taken.out = temp_ / "taken/";
  EXPECT_THAT(refused(Code::invalid_argument, taken), HasSubstr("exists"));
  EXPECT_EQ(contents(temp_ / "taken").size(), 1U);
  std::filesystem::create_symlink("nowhere", temp_ / "dangling");
  taken.out = temp_ / "dangling";
  EXPECT_THAT(refused(Code::invalid_argument, taken), HasSubstr("exists"));
}

TEST_F(Request, AFolderThatIsNotAConversionsIsLeftAlone) {
  write_file(temp_ / "out.partial/mine", "mine");
  EXPECT_THAT(refused(Code::invalid_argument, request()), HasSubstr("out.partial"));
  EXPECT_EQ(read_file(temp_ / "out.partial/mine"), "mine");
}

TEST_F(Request, TermsOfPendingValuesAreNoFiles) {
  ConvertRequest pending = request();
  pending.to = listed_rules("(r=3)", {{"*", "{r: partial(sum)}"}});
  EXPECT_THAT(refused(Code::unsupported, pending),
              testing::AllOf(HasSubstr("of the target is partial"), HasSubstr("r: partial(sum)")));
}

TEST_F(Request, OutputWithinTheSourceIsRefused) {
  ConvertRequest inside = request();
  for (const std::string out : {"source/out", "source/../source/deep/out", "source/out/"}) {
    inside.out = temp_ / out;
    EXPECT_THAT(refused(Code::invalid_argument, inside), HasSubstr("source folder"));
  }
  std::filesystem::rename(temp_ / "source", temp_ / "out.partial");
  inside = request();
  inside.source = temp_ / "out.partial";
  refused(Code::invalid_argument, inside);
  EXPECT_TRUE(std::filesystem::exists(temp_ / "out.partial/model.safetensors"));
}

TEST_F(Request, OnlyOneConversionWritesAnOutput) {
  write_file(temp_ / "out.partial/.lock", "");
  const int lock = ::open((temp_ / "out.partial/.lock").c_str(), O_RDWR);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  EXPECT_THAT(refused(Code::io, request()), HasSubstr("another conversion"));
  ::close(lock);
  convert(request());
}

TEST_F(Request, AFolderThatCannotBeWrittenIsNamed) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become a user who may not write";
  std::filesystem::permissions(temp_.path(), std::filesystem::perms(0755));
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(3);
    try {
      convert(request());
    } catch (const Error& error) {
      ::_exit(error.code() == Code::io && std::string_view(error.what()).find("out") != std::string_view::npos ? 0 : 1);
    }
    ::_exit(2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Request, RulesThatMatchNothingNameTheTensor) {
  ConvertRequest unmatched = request();
  unmatched.to = listed_rules("(r=3)", {{"t.0", "{0: r}"}, {"t.1", "{0: r}"}});
  EXPECT_THAT(refused(Code::invalid_argument, unmatched), HasSubstr("t.2"));
}

TEST_F(Request, AMeshWithoutRulesIsNotIgnored) {
  ConvertRequest alone = request();
  alone.to.reset();
  alone.to_settings.mesh = mesh("(r=3)");
  EXPECT_THAT(refused(Code::invalid_argument, alone), HasSubstr("--to"));
}

TEST_F(Request, RulesForAFolderThatSaysHowItLiesMustAgree) {
  const std::string source = ranks();
  ConvertRequest back{.source = source, .from = request().to, .out = temp_ / "back"};
  convert(back);
  expect_equal_folders(temp_ / "source", temp_ / "back");
  back.out = temp_ / "out";
  back.from = listed_rules("(r=3)", {{"*", "{0: r:balanced}"}});
  EXPECT_THAT(refused(Code::invalid_argument, back), testing::AllOf(HasSubstr("t.0"), HasSubstr("reshard.json")));
}

// The files of another conversion, of the same names.
TEST_F(Request, RankFilesThatContradictTheirManifest) {
  const std::string source = ranks();
  ConvertRequest other = request();
  other.to = listed_rules("(r=3)", {{"*", "{1: r}"}});
  other.out = temp_ / "other";
  convert(other);
  const std::string file = "/rank-00001-of-00003.safetensors";
  std::filesystem::copy_file(temp_ / "other" + file, source + file, std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(refused(Code::corrupt, {.source = source, .out = temp_ / "out"}), HasSubstr("rank-00001-of-00003"));
  std::filesystem::remove(source + file);
  refused(Code::io, {.source = source, .out = temp_ / "out"});
}

TEST_F(Request, NumbersOutOfRange) {
  ConvertRequest wrong = request();
  wrong.memory = 0;
  EXPECT_THAT(refused(Code::invalid_argument, wrong), HasSubstr("memory"));
  wrong = request();
  wrong.processes = -1;
  EXPECT_THAT(refused(Code::invalid_argument, wrong), HasSubstr("processes"));
  wrong = request();
  wrong.out = "";
  refused(Code::invalid_argument, wrong);
  wrong = request();
  wrong.source = temp_ / "nothing";
  EXPECT_THAT(refused(Code::io, wrong), HasSubstr("nothing"));
}

}  // namespace
}  // namespace reshard::test
