// What PyTorch's DTensor holds where, as recorded by scripts/torch_judge.py in torch/*.txt, against the importer.
//
// The judge asked every rank of every mesh of up to 8 ranks; the files say which indices it cut, and this test writes
// the same lines from layouts.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "reshard/error.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

std::vector<Index> numbers_of(std::string text) {
  std::ranges::replace(text, 'x', ' ');
  std::istringstream in(text);
  std::vector<Index> numbers;
  for (Index n = 0; in >> n;) numbers.push_back(n);
  return numbers;
}

Mesh mesh_of(const std::string& sizes) {
  std::vector<Axis> axes;
  for (const Index size : numbers_of(sizes))
    axes.push_back({std::string(1, static_cast<char>('a' + axes.size())), size});
  return Mesh("", axes);
}

std::string intervals(const Segments& segments) {
  std::vector<std::string> runs;
  for (const Segment& s : segments)
    runs.push_back(s.length == 1 ? fmt::format("{}", s.global.value())
                                 : fmt::format("{}:{}", s.global.value(), s.global.value() + s.length));
  return fmt::format("{}", fmt::join(runs, ","));
}

std::string held_at(const Layout& layout, const Coordinate& coordinate) {
  const Region region = layout.region_at(coordinate);
  std::vector<std::string> dims;
  for (const Segments& segments : region.dims)
    dims.push_back(region.elements() == 0 ? fmt::format("{}", length_of(segments)) : intervals(segments));
  return fmt::format("{}{}", region.elements() == 0 ? "~" : "", fmt::join(dims, "x"));
}

// The line of a file: shape, then every shard.
std::string line_of(const Layout& layout) {
  std::string line = fmt::format("{}", fmt::join(layout.shape(), "x"));
  for (Index ordinal = 0; ordinal < layout.mesh().size(); ++ordinal) {
    const Coordinate coordinate = layout.mesh().coordinate_at(ordinal);
    bool copy = false;
    for (std::size_t axis = 0; axis < coordinate.size(); ++axis)
      copy = copy || (coordinate[axis] != 0 && layout.spec().kinds[axis].kind != AxisKind::Kind::cut);
    if (!copy) line += " " + held_at(layout, coordinate);
  }
  return line;
}

// Calls visit(mesh, text of the section, line) for every line that is neither a comment nor a head.
template <class Visit>
int read(const std::string& file, Visit&& visit) {
  std::ifstream in(std::string(RESHARD_TORCH_GOLDEN) + "/" + file);
  Mesh mesh;
  std::string placements;
  int cases = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    if (line.starts_with("mesh ")) {
      mesh = mesh_of(line.substr(5));
    } else if (line.starts_with("on ")) {
      placements = line.substr(3);
    } else {
      visit(mesh, placements, line);
      ++cases;
    }
  }
  return cases;
}

Layout dtensor(std::vector<Index> shape, const Mesh& mesh, const std::string& placements,
               StridedReading reading = StridedReading::literal) {
  return from_dtensor(Dtype::f32, std::move(shape), mesh, placements, reading);
}
std::vector<Index> shape_in(const std::string& line) { return numbers_of(line.substr(0, line.find(' '))); }

int expect_cut_alike(const std::string& file) {
  return read(file, [](const Mesh& mesh, const std::string& placements, const std::string& line) {
    const Layout l = dtensor(shape_in(line), mesh, placements);
    EXPECT_EQ(line_of(l), line) << placements << " on " << mesh.text();
  });
}

TEST(Torch, CutsOneDimensionAlike) { EXPECT_EQ(expect_cut_alike("one_dim.txt"), 5800); }
TEST(Torch, CutsTwoDimensionsAlike) { EXPECT_EQ(expect_cut_alike("two_dims.txt"), 1450); }
TEST(Torch, CutsThreeDimensionsBesidePendingSumsAlike) { EXPECT_EQ(expect_cut_alike("three_dims.txt"), 870); }

struct Orders {
  int cases = 0;
  int differ_literally = 0;  // cases in which the strided form, read literally, holds something else
  friend bool operator==(const Orders&, const Orders&) = default;
  friend void PrintTo(const Orders& o, std::ostream* out) {
    *out << o.cases << " cases, " << o.differ_literally << " differ";
  }
};

// "S(0)[1] S(0)[0] = _S(0, 2) S(0)": PyTorch cuts by the left side, and writes it as the right one. Read as an order,
// that is the same layout; read literally, as PyTorch distributes it, it differs for some uneven sizes.
Orders expect_ordered_alike(const std::string& file) {
  Orders orders;
  orders.cases = read(file, [&](const Mesh& mesh, const std::string& forms, const std::string& line) {
    const std::string in_turn = forms.substr(0, forms.find(" = ")), strided = forms.substr(forms.find(" = ") + 3);
    const Layout l = dtensor(shape_in(line), mesh, in_turn);
    EXPECT_EQ(line_of(l), line) << in_turn << " on " << mesh.text();
    EXPECT_EQ(dtensor(l.shape(), mesh, strided, StridedReading::ordered), l) << strided << " on " << mesh.text();
    EXPECT_EQ(dtensor(l.shape(), mesh, to_dtensor(l)), l) << to_dtensor(l);
    if (!same_ownership(dtensor(l.shape(), mesh, strided), l)) ++orders.differ_literally;
  });
  return orders;
}

TEST(Torch, CutsOneDimensionInAnyOrderAlike) {
  EXPECT_EQ(expect_ordered_alike("orders_one_dim.txt"), (Orders{260, 22}));
}
TEST(Torch, CutsTwoDimensionsInAnyOrderAlike) {
  EXPECT_EQ(expect_ordered_alike("orders_two_dims.txt"), (Orders{160, 11}));
}

TEST(Torch, ReadsTheSameOrdersFromStridedShards) {
  int orders = 0;
  const int cases = read("readings.txt", [&](const Mesh& mesh, const std::string&, const std::string& line) {
    const std::string strided = line.substr(0, line.find(" = ")), order = line.substr(line.find(" = ") + 3);
    if (order == "none") {
      EXPECT_THROW(dtensor({48}, mesh, strided, StridedReading::ordered), Error) << strided << " on " << mesh.text();
      return;
    }
    ++orders;
    EXPECT_EQ(dtensor({48}, mesh, strided, StridedReading::ordered), dtensor({48}, mesh, order))
        << strided << " on " << mesh.text();
  });
  EXPECT_EQ(cases, 896);
  EXPECT_EQ(orders, 128);
}

}  // namespace
}  // namespace reshard
