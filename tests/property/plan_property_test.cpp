// Plans between random layouts: their order, their sums, and that a wrong one is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "property/layout_pair.h"
#include "reshard/error.h"

namespace reshard {
namespace {

std::string show(const Plan& p) { return p.source().text() + "  ->  " + p.target().text(); }

TEST(PlanProperty, TransfersAreSortedAndMerged) {
  Random random(seed_from_environment() + 2);
  for (int k = 0; k < 1500 && !HasFailure(); ++k) {
    const LayoutPair ends = random_pair(random);
    const Plan p = plan(ends.source, ends.target);
    const auto key = [](const Transfer& t) { return std::pair(t.target, t.source); };
    EXPECT_TRUE(std::ranges::is_sorted(p.transfers(), std::less<>{}, key)) << show(p);
    for (const Transfer& t : p.transfers())
      for (const std::vector<Span>& spans : t.dims)
        for (std::size_t s = 1; s < spans.size(); ++s) {
          EXPECT_LE(spans[s - 1].target + spans[s - 1].length, spans[s].target) << show(p);
          EXPECT_FALSE(spans[s - 1].target + spans[s - 1].length == spans[s].target &&
                       spans[s - 1].source + spans[s - 1].length == spans[s].source)
              << show(p);
        }
  }
}

TEST(PlanProperty, VolumeIsSymmetricWithoutReplicas) {
  Random random(seed_from_environment() + 5);
  for (int k = 0; k < 1000 && !HasFailure(); ++k) {
    const LayoutPair ends = random_pair(random, {.replicas = false});
    const Certificate there = plan(ends.source, ends.target).certificate();
    const Certificate back = plan(ends.target, ends.source).certificate();
    EXPECT_EQ(there.sent, back.sent) << ends.source.text() << "  ->  " << ends.target.text();
    EXPECT_EQ(there.copied, back.copied) << ends.source.text() << "  ->  " << ends.target.text();
    EXPECT_EQ(there.sent + there.copied, ends.target.bytes());
  }
}

TEST(PlanProperty, CertificateCountsEveryRank) {
  Random random(seed_from_environment() + 7);
  for (int k = 0; k < 600 && !HasFailure(); ++k) {
    const LayoutPair ends = random_pair(random);
    const Plan p = plan(ends.source, ends.target, ends.options);
    std::map<RankId, RankBytes> counted;
    for (Index o = 0; o < ends.source.mesh().size(); ++o) counted[ends.source.mesh().rank_at_ordinal(o)];
    for (Index o = 0; o < ends.target.mesh().size(); ++o) counted[ends.target.mesh().rank_at_ordinal(o)];
    Index messages = 0;
    for (const Transfer& t : p.transfers()) {
      const Index bytes = t.elements() * 4;
      if (t.is_local()) {
        counted[t.source].copied += bytes;
        continue;
      }
      counted[t.source].sent += bytes;
      counted[t.target].received += bytes;
      counted[t.target].needed += bytes;
      ++counted[t.source].messages_out;
      ++counted[t.target].messages_in;
      ++messages;
    }
    std::vector<RankBytes> expected;
    for (auto& [rank, bytes] : counted) {
      bytes.rank = rank;
      expected.push_back(bytes);
    }
    const Certificate certificate = p.certificate();
    EXPECT_EQ(certificate.ranks, expected) << show(p);
    EXPECT_EQ(certificate.messages, messages);
    EXPECT_TRUE(certificate.optimal());
  }
}

// Each change makes a wrong plan; a verifier that lets one pass would prove nothing.
class Mutation {
 public:
  Mutation(const Plan& plan, Random& random)
      : plan_(plan), random_(random), transfers_(plan.transfers().begin(), plan.transfers().end()) {}

  Plan dropped() {
    transfers_.erase(transfers_.begin() + pick());
    return made();
  }
  Plan duplicated() {
    const auto at = pick();
    const Transfer copy = transfers_[static_cast<std::size_t>(at)];
    transfers_.insert(transfers_.begin() + at, copy);
    return made();
  }
  // Empty when the transfer has no dimension.
  std::optional<Plan> shifted(bool source) {
    Transfer& t = transfers_[static_cast<std::size_t>(pick())];
    if (t.dims.empty()) return std::nullopt;
    Span& span = *random_.among(spans_of(t));
    source ? shift(span.source) : shift(span.target);
    return made();
  }
  std::optional<Plan> shortened() {
    Transfer& t = transfers_[static_cast<std::size_t>(pick())];
    if (t.dims.empty()) return std::nullopt;
    --random_.among(spans_of(t))->length;
    return made();
  }
  // One of two equal parts of a rank written twice in place of the other: the count stays right.
  std::optional<Plan> repeated() {
    for (std::size_t k = 1; k < transfers_.size(); ++k) {
      const Transfer& before = transfers_[k - 1];
      if (before.target != transfers_[k].target || before.elements() != transfers_[k].elements()) continue;
      transfers_[k] = before;
      return made();
    }
    return std::nullopt;
  }
  // Nothing when both ends would stay as they are.
  std::optional<Plan> swapped() {
    Transfer& t = transfers_[static_cast<std::size_t>(pick())];
    if (t.is_local()) return std::nullopt;
    std::swap(t.source, t.target);
    return made();
  }

 private:
  std::ptrdiff_t pick() { return random_.below(std::ssize(transfers_)); }
  void shift(LocalIndex& at) { at += random_.one_in(2) && at.value() > 0 ? -1 : 1; }
  static std::vector<Span*> spans_of(Transfer& t) {
    std::vector<Span*> spans;
    for (std::vector<Span>& dim : t.dims)
      for (Span& span : dim) spans.push_back(&span);
    return spans;
  }
  Plan made() { return Plan(plan_.source(), plan_.target(), plan_.options(), transfers_); }

  const Plan& plan_;
  Random& random_;
  std::vector<Transfer> transfers_;
};

void expect_found(const Plan& wrong, const char* what) {
  EXPECT_FALSE(verify(wrong).empty()) << what << " was not found: " << wrong.text();
}

TEST(PlanProperty, VerifyFindsEveryMutation) {
  Random random(seed_from_environment() + 8);
  int tried = 0, repeated = 0;
  for (int k = 0; k < 1500 && !HasFailure(); ++k) {
    const LayoutPair ends = random_pair(random);
    const Plan p = plan(ends.source, ends.target);
    if (p.transfers().empty()) continue;
    expect_found(Mutation(p, random).dropped(), "a dropped transfer");
    expect_found(Mutation(p, random).duplicated(), "a duplicate");
    for (const bool source : {true, false})
      if (const auto wrong = Mutation(p, random).shifted(source)) expect_found(*wrong, "a shifted span");
    if (const auto wrong = Mutation(p, random).shortened()) expect_found(*wrong, "a shortened span");
    if (const auto wrong = Mutation(p, random).repeated()) {
      expect_found(*wrong, "one part in place of another");
      ++repeated;
    }
    ++tried;
  }
  EXPECT_GT(tried, 1000);
  EXPECT_GT(repeated, 200);
}

TEST(PlanProperty, VerifyFindsSwappedEnds) {
  Random random(seed_from_environment() + 9);
  int tried = 0;
  for (int k = 0; k < 1500 && !HasFailure(); ++k) {
    const LayoutPair ends = random_pair(random);
    const Plan p = plan(ends.source, ends.target);
    if (p.transfers().empty()) continue;
    if (const auto wrong = Mutation(p, random).swapped()) {
      expect_found(*wrong, "swapped ends");
      ++tried;
    }
  }
  EXPECT_GT(tried, 200);
}

// The right bytes from the wrong place: another copy sends what the target holds itself.
TEST(PlanProperty, VerifyFindsANeedlessTransfer) {
  const Layout both = layout("i32[6] on (r=2)");
  std::vector<Transfer> transfers;
  for (Index r = 0; r < 2; ++r) transfers.push_back({RankId(1 - r), RankId(r), {{{LocalIndex(0), LocalIndex(0), 6}}}});
  EXPECT_FALSE(verify(Plan(both, both, {}, transfers)).empty());
  for (Transfer& t : transfers) t.source = t.target;
  EXPECT_TRUE(verify(Plan(both, both, {}, transfers)).empty());
}

TEST(PlanProperty, RefusesOtherShapesAndDtypes) {
  const Layout a = layout("f32[6] on (r=2) {0: r}");
  EXPECT_THROW(plan(a, layout("f32[7] on (r=2) {0: r}")), Error);
  EXPECT_THROW(plan(a, layout("bf16[6] on (r=2) {0: r}")), Error);
  EXPECT_THROW(plan(a, layout("f32[6,1] on (r=2) {0: r}")), Error);
}

}  // namespace
}  // namespace reshard
