// A mesh: an n-dimensional array of ranks with named axes.
//
// Coordinates are row-major over the axes (last axis fastest). Ranks may come in any order and leave gaps. A regular
// mesh is a base rank and one stride per axis, so describing, printing, hashing and looking up cost O(axes) whatever
// the number of ranks; only a mesh whose order has no such form keeps a list.
//
// An axis may be split into sub-axes ("tp=8 as (kv=4, rep=2)"): the mesh then consists of the leaf axes kv and rep, and
// "tp" names the two of them together, kv slower.
//
// Text: `name(dp=2, tp=4)`, `(tp=6)@8` from rank 8 on, `(a=2:1, b=3:2)` with strides, `(x=2)@[5,2]` listed.
//
// Thread rule: immutable.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/index.h"

namespace reshard {

struct Axis {
  std::string name;
  Index size = 1;
  friend bool operator==(const Axis&, const Axis&) = default;
};

// Consecutive leaf axes [first, first + count).
struct AxisRange {
  int first = 0;
  int count = 0;
  friend bool operator==(const AxisRange&, const AxisRange&) = default;
};

// A name for several leaf axes together.
struct AxisGroup {
  std::string name;
  AxisRange leaves;
  friend bool operator==(const AxisGroup&, const AxisGroup&) = default;
};

// One index per leaf axis.
using Coordinate = std::vector<Index>;

class Mesh {
 public:
  // No axes, one rank: the mesh of a tensor that one process holds.
  Mesh() : Mesh("", {}, RankId(0)) {}
  // Row-major from `base` on. All constructors throw Error(invalid_argument) for an empty or repeated axis name, a size
  // below 1, a negative rank or a rank that appears twice.
  Mesh(std::string name, std::vector<Axis> axes, RankId base = RankId(0), std::vector<AxisGroup> groups = {});
  // rank(coordinate) = base + sum of coordinate[k] * strides[k].
  static Mesh strided(std::string name, std::vector<Axis> axes, RankId base, std::vector<Index> strides,
                      std::vector<AxisGroup> groups = {});
  // `ranks` in row-major order of coordinates. A list with a regular form becomes that form.
  static Mesh listed(std::string name, std::vector<Axis> axes, std::vector<RankId> ranks,
                     std::vector<AxisGroup> groups = {});

  const std::string& name() const { return name_; }
  const std::vector<Axis>& axes() const { return axes_; }
  const std::vector<AxisGroup>& groups() const { return groups_; }
  Index size() const { return size_; }
  // A base rank and one stride per axis; false for a mesh that keeps a list.
  bool is_regular() const { return !list_; }
  // Leaf axes that `axis` (a leaf or a group) names; nothing for an unknown name.
  std::optional<AxisRange> find(std::string_view axis) const;

  // Precondition: coordinate has one entry per axis, each inside its axis.
  RankId rank_at(std::span<const Index> coordinate) const;
  // Nothing for a rank outside the mesh. O(axes), or O(log ranks) for a listed mesh.
  std::optional<Coordinate> coordinate_of(RankId rank) const;
  bool contains(RankId rank) const;
  // Row-major number of a coordinate and back: 0 <= ordinal < size().
  Index ordinal_at(std::span<const Index> coordinate) const;
  Coordinate coordinate_at(Index ordinal) const;
  // Nothing for a rank outside the mesh.
  std::optional<Index> ordinal_of(RankId rank) const;
  RankId rank_at_ordinal(Index ordinal) const { return rank_at(coordinate_at(ordinal)); }
  // The least rank, and one past the greatest.
  RankId first_rank() const;
  RankId end_rank() const;
  // The same ranks under another name.
  Mesh renamed(std::string name) const;

  std::string text() const;
  // Same name, axes, groups and rank of every coordinate.
  friend bool operator==(const Mesh& a, const Mesh& b);

 private:
  struct List {
    std::vector<RankId> by_ordinal;
    std::vector<std::pair<RankId, Index>> by_rank;  // sorted
  };
  Mesh(std::string name, std::vector<Axis> axes, std::vector<AxisGroup> groups);

  std::string name_;
  std::vector<Axis> axes_;
  std::vector<AxisGroup> groups_;
  Index size_ = 1;
  RankId base_;
  std::vector<Index> strides_;        // per axis; empty when listed
  std::vector<int> by_stride_;        // axes by falling |stride|, for coordinate_of
  std::shared_ptr<const List> list_;  // shared by copies: immutable
};

// Throws Error(invalid_argument) with the position of the fault.
Mesh mesh(std::string_view text);

}  // namespace reshard
