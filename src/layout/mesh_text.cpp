// The text form of meshes: printing and parsing.
#include "layout/mesh_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/fail.h"
#include "reshard/mesh.h"

namespace reshard {
namespace {

// 24 bytes each in a mesh; a short text of a few ranges must not fill the memory.
constexpr Index kGreatestMeshText = Index{1} << 22;

struct ParsedAxes {
  std::vector<Axis> axes;
  std::vector<AxisGroup> groups;
  std::vector<Index> strides;
  bool strided = false;
};

void parse_leaf_end(Scanner& in, ParsedAxes& parsed, std::string_view name, Index size) {
  const bool strided = in.peek() == ':';
  if (!parsed.axes.empty() && strided != parsed.strided) in.fail_here("either every axis has a stride or none has one");
  parsed.strided = strided;
  parsed.axes.push_back({std::string(name), size});
  parsed.strides.push_back(in.accept(':') ? in.number("a stride") : 0);
}

// The leaves after `as`: in parentheses, or as many as it takes to reach the size of the whole.
void parse_group(Scanner& in, ParsedAxes& parsed, std::string_view name, Index size) {
  const int first = static_cast<int>(parsed.axes.size());
  const bool bracketed = in.accept('(');
  Index product = 1;
  do {
    const std::string_view leaf = in.name("the name of a sub-axis");
    in.expect('=');
    const Index leaf_size = in.non_negative("the size of a sub-axis");
    if (leaf_size < 1) in.fail_last(fmt::format("sub-axis \"{}\" has size 0", leaf));
    if (__builtin_mul_overflow(product, leaf_size, &product)) in.fail_last("the sizes do not fit in 64 bits");
    parse_leaf_end(in, parsed, leaf, leaf_size);
  } while ((bracketed || product < size) && in.accept(','));
  if (bracketed) in.expect(')');
  if (product != size)
    in.fail_last(fmt::format("axis \"{}\" has size {}, but its sub-axes have {} together", name, size, product));
  parsed.groups.push_back({std::string(name), {first, static_cast<int>(parsed.axes.size()) - first}});
}

void parse_axis(Scanner& in, ParsedAxes& parsed) {
  const std::string_view name = in.name("the name of an axis");
  in.expect('=');
  const Index size = in.non_negative("the size of an axis");
  if (size < 1) in.fail_last(fmt::format("axis \"{}\" has size 0; a mesh axis has at least 1 rank", name));
  if (in.accept("as")) return parse_group(in, parsed, name, size);
  parse_leaf_end(in, parsed, name, size);
}

std::vector<RankId> parse_ranks(Scanner& in) {
  std::vector<RankId> ranks;
  if (in.accept(']')) return ranks;
  do {
    const Index first = in.non_negative("a rank");
    Index end = first + 1;
    if (in.accept(':')) {
      end = in.non_negative("the rank after the last one");
      if (end <= first) in.fail_last(fmt::format("ranks {}:{} are none", first, end));
    }
    if (end - first > kGreatestMeshText - std::ssize(ranks))
      in.fail_last(fmt::format("a mesh lists at most {} ranks; give it strides", kGreatestMeshText));
    for (Index rank = first; rank < end; ++rank) ranks.emplace_back(rank);
  } while (in.accept(','));
  in.expect(']');
  return ranks;
}

std::string ranks_text(const Mesh& mesh) {
  std::string out = "[";
  const auto at = [&](Index k) { return mesh.rank_at_ordinal(k).value(); };
  for (Index k = 0; k < mesh.size();) {
    Index end = k + 1;
    while (end < mesh.size() && at(end) == at(end - 1) + 1) ++end;
    if (k > 0) out += ",";
    if (end - k >= 3) {
      fmt::format_to(std::back_inserter(out), "{}:{}", at(k), at(end - 1) + 1);
      k = end;
    } else {
      fmt::format_to(std::back_inserter(out), "{}", at(k++));
    }
  }
  return out + "]";
}

}  // namespace

Mesh parse_mesh(Scanner& in) {
  std::string name;
  if (in.at_name()) name = in.name("the name of a mesh");
  in.expect('(');
  ParsedAxes parsed;
  if (!in.accept(')')) {
    do parse_axis(in, parsed);
    while (in.accept(','));
    in.expect(')');
  }
  if (!in.accept('@')) {
    if (parsed.strided)
      return Mesh::strided(name, parsed.axes, RankId(0), std::move(parsed.strides), std::move(parsed.groups));
    return Mesh(name, parsed.axes, RankId(0), std::move(parsed.groups));
  }
  if (in.peek() == '[') {
    if (parsed.strided) in.fail_here("a mesh has strides or a list of ranks, not both");
    in.expect('[');
    return Mesh::listed(name, parsed.axes, parse_ranks(in), std::move(parsed.groups));
  }
  const RankId base(in.non_negative("the first rank"));
  if (parsed.strided)
    return Mesh::strided(name, parsed.axes, base, std::move(parsed.strides), std::move(parsed.groups));
  return Mesh(name, parsed.axes, base, std::move(parsed.groups));
}

Mesh mesh(std::string_view text) {
  Scanner in(text, "mesh");
  Mesh parsed = parse_mesh(in);
  in.expect_end();
  return parsed;
}

std::string Mesh::text() const {
  Index plain = 1;
  bool row_major = !list_;
  for (std::size_t k = axes_.size(); row_major && k-- > 0;) {
    row_major = strides_[k] == plain;
    plain *= axes_[k].size;
  }
  const bool with_strides = !list_ && !row_major;

  std::string out = name_ + "(";
  const auto group_at = [&](int leaf, bool end) {
    return std::ranges::find_if(groups_, [&](const AxisGroup& group) {
      return leaf == (end ? group.leaves.first + group.leaves.count - 1 : group.leaves.first);
    });
  };
  for (int k = 0; k < static_cast<int>(axes_.size()); ++k) {
    if (k > 0) out += ", ";
    if (const auto group = group_at(k, false); group != groups_.end()) {
      Index size = 1;
      for (int leaf = k; leaf < k + group->leaves.count; ++leaf) size *= axes_[leaf].size;
      fmt::format_to(std::back_inserter(out), "{}={} as (", group->name, size);
    }
    fmt::format_to(std::back_inserter(out), "{}={}", axes_[k].name, axes_[k].size);
    if (with_strides) fmt::format_to(std::back_inserter(out), ":{}", strides_[k]);
    if (group_at(k, true) != groups_.end()) out += ")";
  }
  out += ")";
  if (list_) return out + "@" + ranks_text(*this);
  if (base_.value() != 0) out += fmt::format("@{}", base_.value());
  return out;
}

}  // namespace reshard
