#include "reshard/tuning.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>
#include <sstream>
#include <tuple>

#include "base/fail.h"
#include "collective/shipped_tuning.h"

namespace reshard {
namespace {

constexpr std::string_view kKinds[] = {"all_to_all", "all_gather", "broadcast", "reduce_scatter", "all_reduce"};
constexpr std::string_view kAlgorithms[] = {"eager", "direct", "two_level"};
constexpr Index kNoEnd = std::numeric_limits<Index>::max();

template <class Enum, std::size_t N>
std::optional<Enum> word_of(const std::string_view (&words)[N], std::string_view word) {
  const auto found = std::ranges::find(words, word);
  if (found == std::end(words)) return std::nullopt;
  return static_cast<Enum>(found - std::begin(words));
}

auto group_of(const TuningRow& row) { return std::tuple(row.kind, row.hosts, row.ranks); }

std::optional<Index> number_in(std::string_view word, Index least) {
  Index value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < least) return std::nullopt;
  return value;
}

TuningRow row_in(const std::string& line, Index number) {
  std::istringstream words(line);
  std::array<std::string, 5> word;
  std::string more;
  for (std::string& w : word) words >> w;
  const auto kind = collective_named(word[0]);
  const auto ranks = number_in(word[1], 1), hosts = number_in(word[2], 1);
  const auto bytes = word[3] == "more" ? std::optional(kNoEnd) : number_in(word[3], 0);
  const auto algorithm = algorithm_named(word[4]);
  if (!kind || !ranks || !hosts || !bytes || !algorithm || words >> more)
    fail(Code::invalid_argument,
         "line {} of a tuning table, \"{}\": expected an operation, ranks, hosts, bytes or \"more\", and eager, direct "
         "or two_level, as in \"all_reduce 2 1 16384 eager\"",
         number, line);
  return {*kind, *ranks, *hosts, *bytes, *algorithm};
}

// Of the numbers that the rows of a group have, the greatest up to `wanted`, else the least.
Index nearest(std::span<const TuningRow> rows, Index TuningRow::*member, Index wanted) {
  Index below = 0, least = kNoEnd;
  for (const TuningRow& row : rows) {
    least = std::min(least, row.*member);
    if (row.*member <= wanted) below = std::max(below, row.*member);
  }
  return below > 0 ? below : least;
}

template <class Is>
std::span<const TuningRow> run_of(std::span<const TuningRow> rows, const Is& is) {
  const auto first = std::ranges::find_if(rows, is);
  return rows.subspan(static_cast<std::size_t>(first - rows.begin()),
                      static_cast<std::size_t>(std::find_if_not(first, rows.end(), is) - first));
}

// Where nothing was measured. Between hosts one round counts most as long as there is little to send; then what several
// ranks of a host need had better cross the wire once, which rows for one rank each do anyway.
Algorithm guess(CollectiveKind kind, Index ranks, Index hosts, Index bytes) {
  constexpr Index little = 1024, more = 16 * 1024;
  if (hosts == 1) return Algorithm::direct;
  if (ranks == hosts) return bytes <= more ? Algorithm::eager : Algorithm::direct;
  if (bytes <= little) return Algorithm::eager;
  return kind == CollectiveKind::all_to_all && bytes > more ? Algorithm::direct : Algorithm::two_level;
}

}  // namespace

std::string_view name_of(CollectiveKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::optional<CollectiveKind> collective_named(std::string_view name) { return word_of<CollectiveKind>(kKinds, name); }
std::string_view name_of(Algorithm algorithm) { return kAlgorithms[static_cast<std::size_t>(algorithm)]; }
std::optional<Algorithm> algorithm_named(std::string_view name) { return word_of<Algorithm>(kAlgorithms, name); }

Tuning::Tuning(std::vector<TuningRow> rows) : rows_(std::move(rows)) {
  const auto key = [](const TuningRow& row) { return std::tuple_cat(group_of(row), std::tuple(row.most_bytes)); };
  std::ranges::sort(rows_, {}, key);
  const auto twice = std::ranges::adjacent_find(rows_, {}, key);
  if (twice != rows_.end())
    fail(Code::invalid_argument, "a tuning table says twice what {} of {} ranks on {} hosts does with up to {} bytes",
         name_of(twice->kind), twice->ranks, twice->hosts, twice->most_bytes);
}

Tuning Tuning::shipped() { return parse(collective::kShippedTuning); }

Tuning Tuning::of_environment() {
  const char* const path = std::getenv("RESHARD_TUNING");
  if (path == nullptr || *path == '\0') return shipped();
  std::ifstream file(path);
  if (!file)
    fail(Code::io, "cannot read {}, which RESHARD_TUNING names; make it with `reshard tune --out {}`", path, path);
  return parse(std::string(std::istreambuf_iterator<char>(file), {}));
}

Tuning Tuning::parse(std::string_view text) {
  std::vector<TuningRow> rows;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (Index number = 1; std::getline(lines, line); ++number) {
    line.erase(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") != line.npos) rows.push_back(row_in(line, number));
  }
  return Tuning(std::move(rows));
}

Algorithm Tuning::choose(CollectiveKind kind, Index ranks, Index hosts, Index bytes) const {
  auto rows = run_of(rows_, [&](const TuningRow& row) { return row.kind == kind; });
  // What was measured on one host says nothing of several.
  rows = run_of(rows, [&](const TuningRow& row) { return (row.hosts > 1) == (hosts > 1); });
  if (rows.empty()) return guess(kind, ranks, hosts, bytes);
  const Index near_hosts = nearest(rows, &TuningRow::hosts, hosts);
  rows = run_of(rows, [&](const TuningRow& row) { return row.hosts == near_hosts; });
  const Index near_ranks = nearest(rows, &TuningRow::ranks, ranks);
  rows = run_of(rows, [&](const TuningRow& row) { return row.ranks == near_ranks; });
  for (const TuningRow& row : rows)
    if (bytes <= row.most_bytes) return row.algorithm;
  return rows.back().algorithm;
}

std::string Tuning::text() const {
  std::string text = "# operation, ranks, hosts, most bytes per rank, algorithm\n";
  for (const TuningRow& row : rows_) {
    const std::string bytes = row.most_bytes == kNoEnd ? "more" : fmt::format("{}", row.most_bytes);
    text += fmt::format("{} {} {} {} {}\n", name_of(row.kind), row.ranks, row.hosts, bytes, name_of(row.algorithm));
  }
  return text;
}

}  // namespace reshard
