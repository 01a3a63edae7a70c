#include <fmt/ranges.h>

#include <algorithm>

#include "base/fail.h"
#include "layout/convention.h"
#include "layout/scanner.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

int parse_axis(Scanner& in, const Mesh& mesh) {
  const char quote = in.peek();
  if (quote != '\'' && quote != '"') in.fail_here("expected an axis name in quotes, a tuple of them, or None");
  in.expect(quote);
  const std::string_view name = in.name("the name of a mesh axis");
  in.expect(quote);
  const auto range = mesh.find(name);
  if (!range || range->count != 1) in.fail_last(fmt::format("mesh {} has no axis \"{}\"", mesh.text(), name));
  return range->first;
}

std::vector<int> parse_axes(Scanner& in, const Mesh& mesh, char close) {
  std::vector<int> axes;
  while (!in.accept(close)) {
    axes.push_back(parse_axis(in, mesh));
    if (!in.accept(',') && in.peek() != close) in.fail_here(fmt::format("expected ',' or '{}'", close));
  }
  return axes;
}

std::vector<int> parse_entry(Scanner& in, const Mesh& mesh) {
  if (in.accept("None")) return {};
  if (in.accept('(')) return parse_axes(in, mesh, ')');
  return {parse_axis(in, mesh)};
}

}  // namespace

Layout from_jax(Dtype dtype, std::vector<Index> shape, const Mesh& mesh, std::string_view text) {
  Scanner in(text, "PartitionSpec");
  LayoutSpec spec;
  spec.dtype = dtype;
  spec.shape = std::move(shape);
  spec.mesh = mesh;
  spec.cuts.resize(spec.shape.size());
  spec.kinds.resize(mesh.axes().size());
  if (!in.accept("PartitionSpec") && !in.accept("P")) in.fail_here("expected PartitionSpec(..) or P(..)");
  in.expect('(');
  std::size_t dim = 0;
  while (!in.accept(')')) {
    if (in.accept("unreduced")) {
      in.expect('=');
      in.expect('{');
      for (const int axis : parse_axes(in, mesh, '}')) spec.kinds[axis] = {AxisKind::Kind::partial, ReduceOp::sum, 0};
    } else {
      if (dim >= spec.shape.size())
        in.fail_here(fmt::format("more entries than the {} dimensions of the tensor", spec.shape.size()));
      const std::vector<int> axes = parse_entry(in, mesh);
      if (!axes.empty()) {
        Cut cut;
        cut.axes = axes;
        spec.cuts[dim].push_back(std::move(cut));
      }
      ++dim;
    }
    if (!in.accept(',') && in.peek() != ')') in.fail_here("expected ',' or ')'");
  }
  in.expect_end();
  return Layout(std::move(spec));
}

std::string to_jax(const Layout& layout) {
  require_plain(layout, "PartitionSpec");
  const LayoutSpec& spec = layout.spec();
  std::vector<std::string> entries;
  std::size_t used = 0;
  for (int dim = 0; dim < layout.dims(); ++dim) {
    const bool divides = require_chunks(layout, dim, "PartitionSpec");
    if (spec.cuts[dim].size() > 1 && !divides)
      fail(
          Code::unsupported,
          "{}: PartitionSpec cuts dimension {} once, over the product of its axes; cutting axis by axis differs for {} "
          "elements",
          layout.text(), dim, spec.shape[dim]);
    std::vector<std::string> names;
    for (const Cut& cut : spec.cuts[dim])
      for (const int axis : cut.axes) names.push_back(fmt::format("'{}'", spec.mesh.axes()[axis].name));
    entries.push_back(names.empty()       ? "None"
                      : names.size() == 1 ? names.front()
                                          : fmt::format("({})", fmt::join(names, ", ")));
    if (!names.empty()) used = entries.size();
  }
  entries.resize(used);
  std::vector<std::string> unreduced;
  for (std::size_t axis = 0; axis < spec.kinds.size(); ++axis) {
    const AxisKind& kind = spec.kinds[axis];
    if (kind.kind != AxisKind::Kind::partial) continue;
    if (kind.op != ReduceOp::sum)
      fail(Code::unsupported, "{}: PartitionSpec only leaves sums unreduced, not {} over axis \"{}\"", layout.text(),
           name_of(kind.op), spec.mesh.axes()[axis].name);
    unreduced.push_back(fmt::format("'{}'", spec.mesh.axes()[axis].name));
  }
  if (!unreduced.empty()) entries.push_back(fmt::format("unreduced={{{}}}", fmt::join(unreduced, ", ")));
  return fmt::format("PartitionSpec({})", fmt::join(entries, ", "));
}

}  // namespace reshard
