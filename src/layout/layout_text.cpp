// The text form of layouts: printing, parsing and fingerprint.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/fail.h"
#include "layout/mesh_text.h"
#include "layout/scanner.h"
#include "reshard/layout.h"

namespace reshard {
namespace {

struct RuleName {
  Rule rule;
  std::string_view name;
};
constexpr std::array kRules{
    RuleName{Rule::chunk, "chunk"},   RuleName{Rule::balanced, "balanced"},
    RuleName{Rule::floor, "floor"},   RuleName{Rule::balanced_last, "balanced-last"},
    RuleName{Rule::even, "even"},     RuleName{Rule::sizes, "sizes"},
    RuleName{Rule::cyclic, "cyclic"}, RuleName{Rule::window, "window"},
};

struct PiecesName {
  Pieces pieces;
  std::string_view name;
  Rule default_rule;
};
constexpr std::array kPieces{
    PiecesName{Pieces::strided, "strided", Rule::even},
    PiecesName{Pieces::packed, "packed", Rule::even},
    PiecesName{Pieces::parts, "parts", Rule::chunk},
    PiecesName{Pieces::strided_shard, "strided-shard", Rule::chunk},
};

// --- printing ---

std::string rule_text(const Cut& cut) {
  const std::string_view name = std::ranges::find(kRules, cut.rule, &RuleName::rule)->name;
  switch (cut.rule) {
    case Rule::sizes: return fmt::format("{}[{}]", name, fmt::join(cut.sizes, ","));
    case Rule::cyclic:
    case Rule::window: return fmt::format("{}({})", name, cut.block);
    default: return std::string(name);
  }
}

std::string pieces_text(const Cut& cut) {
  const std::string_view name = std::ranges::find(kPieces, cut.pieces, &PiecesName::pieces)->name;
  if (cut.pieces == Pieces::strided || cut.pieces == Pieces::strided_shard)
    return fmt::format("{}({})", name, cut.piece_count);
  std::string out = fmt::format("{}[", name);
  for (std::size_t k = 0; k < cut.piece_sizes.size(); ++k) {
    fmt::format_to(std::back_inserter(out), "{}{}", k > 0 ? "," : "", cut.piece_sizes[k]);
    if (!cut.piece_units.empty() && cut.piece_units[k] != 1)
      fmt::format_to(std::back_inserter(out), "/{}", cut.piece_units[k]);
  }
  return out + "]";
}

std::string cut_axes_text(const Mesh& mesh, const Cut& cut) {
  if (cut.axes.size() == 1) return mesh.axes()[cut.axes.front()].name;
  for (const AxisGroup& group : mesh.groups()) {
    bool same = static_cast<int>(cut.axes.size()) == group.leaves.count;
    for (std::size_t k = 0; same && k < cut.axes.size(); ++k)
      same = cut.axes[k] == group.leaves.first + static_cast<int>(k);
    if (same) return group.name;
  }
  std::string out = "(";
  for (const int axis : cut.axes) out += (out.size() > 1 ? " " : "") + mesh.axes()[axis].name;
  return out + ")";
}

std::string cut_text(const Mesh& mesh, const Cut& cut) {
  std::string out = cut_axes_text(mesh, cut);
  Rule unsaid = Rule::chunk;
  if (cut.pieces != Pieces::whole) {
    out += ":" + pieces_text(cut);
    unsaid = std::ranges::find(kPieces, cut.pieces, &PiecesName::pieces)->default_rule;
  }
  if (cut.rule != unsaid) out += ":" + rule_text(cut);
  if (cut.unit != 1) out += fmt::format("/{}", cut.unit);
  return out;
}

std::string view_text(const LayoutSpec& spec) {
  std::string out = "[";
  for (std::size_t dim = 0; dim < spec.view.size(); ++dim) {
    const Slice& slice = spec.view[dim];
    const Index begin = slice.begin.value();
    out += dim > 0 ? ", " : "";
    if (slice.dropped) {
      fmt::format_to(std::back_inserter(out), "{}", begin);
    } else if (begin == 0 && slice.length == spec.shape[dim]) {
      out += ":";
    } else {
      fmt::format_to(std::back_inserter(out), "{}:{}", begin, begin + slice.length);
    }
  }
  return out + "]";
}

std::string body_text(const LayoutSpec& spec) {
  std::vector<std::string> entries;
  for (std::size_t dim = 0; dim < spec.cuts.size(); ++dim) {
    if (spec.cuts[dim].empty()) continue;
    std::string entry = fmt::format("{}:", dim);
    for (const Cut& cut : spec.cuts[dim]) entry += " " + cut_text(spec.mesh, cut);
    entries.push_back(std::move(entry));
  }
  for (std::size_t axis = 0; axis < spec.kinds.size(); ++axis) {
    const AxisKind& kind = spec.kinds[axis];
    const std::string& name = spec.mesh.axes()[axis].name;
    if (kind.kind == AxisKind::Kind::partial) entries.push_back(fmt::format("{}: partial({})", name, name_of(kind.op)));
    if (kind.kind == AxisKind::Kind::at) entries.push_back(fmt::format("{}: at({})", name, kind.at));
    if (kind.varying) entries.push_back(name + ": varying");
  }
  return entries.empty() ? "" : fmt::format(" {{{}}}", fmt::join(entries, ", "));
}

// --- parsing ---

std::vector<Index> parse_sizes(Scanner& in, std::vector<Index>* units) {
  std::vector<Index> sizes;
  in.expect('[');
  if (in.accept(']')) return sizes;
  do {
    sizes.push_back(in.non_negative("a size"));
    if (units) units->push_back(in.accept('/') ? in.non_negative("a unit") : 1);
  } while (in.accept(','));
  in.expect(']');
  return sizes;
}

Index parse_argument(Scanner& in, std::string_view what) {
  in.expect('(');
  const Index value = in.non_negative(what);
  in.expect(')');
  return value;
}

void parse_rule(Scanner& in, std::string_view name, Cut& cut) {
  const auto rule = std::ranges::find(kRules, name, &RuleName::name);
  if (rule == kRules.end())
    in.fail_last(
        fmt::format("unknown cut \"{}\" (chunk, balanced, balanced-last, floor, even, sizes[..], cyclic(b), "
                    "window(pad), strided(s), packed[..], parts[..], strided-shard(f))",
                    name));
  cut.rule = rule->rule;
  if (cut.rule == Rule::sizes) cut.sizes = parse_sizes(in, nullptr);
  if (cut.rule == Rule::cyclic) cut.block = parse_argument(in, "a block");
  if (cut.rule == Rule::window) cut.block = parse_argument(in, "the padding");
}

void parse_pieces(Scanner& in, const PiecesName& pieces, Cut& cut) {
  cut.pieces = pieces.pieces;
  cut.rule = pieces.default_rule;
  if (cut.pieces == Pieces::strided || cut.pieces == Pieces::strided_shard) {
    cut.piece_count = parse_argument(in, "the number of pieces");
  } else if (cut.pieces == Pieces::parts) {
    cut.piece_sizes = parse_sizes(in, &cut.piece_units);
    if (std::ranges::count(cut.piece_units, 1) == std::ssize(cut.piece_units)) cut.piece_units.clear();
  } else {
    cut.piece_sizes = parse_sizes(in, nullptr);
  }
}

void parse_axes_into(Scanner& in, const Mesh& mesh, Cut& cut) {
  const std::string_view name = in.name("the name of a mesh axis");
  const auto range = mesh.find(name);
  if (!range) in.fail_last(fmt::format("mesh {} has no axis \"{}\"", mesh.text(), name));
  for (int axis = range->first; axis < range->first + range->count; ++axis) cut.axes.push_back(axis);
}

Cut parse_cut(Scanner& in, const Mesh& mesh) {
  Cut cut;
  if (in.accept('(')) {
    do parse_axes_into(in, mesh, cut);
    while (!in.accept(')'));
  } else {
    parse_axes_into(in, mesh, cut);
  }
  while (in.accept(':')) {
    const std::string_view name = in.hyphenated("the name of a cut");
    const auto pieces = std::ranges::find(kPieces, name, &PiecesName::name);
    if (pieces == kPieces.end()) {
      const Rule unsaid = cut.rule;
      parse_rule(in, name, cut);
      const bool fixed = cut.pieces == Pieces::packed || cut.pieces == Pieces::strided_shard;
      if (fixed && cut.rule != unsaid)
        in.fail_last(cut.pieces == Pieces::packed ? "packed pieces are divided evenly; give another rule to parts[..]"
                                                  : "the pieces of a strided shard are divided by chunk only");
      break;
    }
    if (cut.pieces != Pieces::whole) in.fail_last("a cut is grouped into pieces once");
    parse_pieces(in, *pieces, cut);
  }
  if (in.accept('/')) {
    cut.unit = in.non_negative("a unit");
    if (!cut.piece_units.empty()) in.fail_last("a cut has one unit, or one for each part, not both");
  }
  return cut;
}

AxisKind parse_kind(Scanner& in) {
  const std::string_view name = in.name("replicate, varying, partial(op) or at(c)");
  if (name == "replicate") return {};
  if (name == "varying") return {.varying = true};
  if (name == "at") return {AxisKind::Kind::at, ReduceOp::sum, parse_argument(in, "a coordinate")};
  if (name != "partial") in.fail_last(fmt::format("\"{}\" is not replicate, varying, partial(op) or at(c)", name));
  in.expect('(');
  const std::string_view op_name = in.name("sum, avg, min, max or product");
  const auto op = reduce_op_named(op_name);
  if (!op) in.fail_last(fmt::format("\"{}\" is not sum, avg, min, max or product", op_name));
  in.expect(')');
  return {AxisKind::Kind::partial, *op, 0};
}

// `seen` has one entry per leaf axis.
void parse_axis_entry(Scanner& in, LayoutSpec& spec, std::vector<bool>& seen) {
  const std::string_view name = in.name("a dimension or a mesh axis");
  const auto range = spec.mesh.find(name);
  if (!range) in.fail_last(fmt::format("mesh {} has no axis \"{}\"", spec.mesh.text(), name));
  const int end = range->first + range->count;
  for (int axis = range->first; axis < end; ++axis) {
    if (seen[axis]) in.fail_last(fmt::format("axis \"{}\" is listed twice", name));
    seen[axis] = true;
  }
  in.expect(':');
  const AxisKind kind = parse_kind(in);
  Index at = kind.at;
  for (int axis = end; axis-- > range->first; at /= spec.mesh.axes()[axis].size) {
    spec.kinds[axis] = kind;
    spec.kinds[axis].at = at % spec.mesh.axes()[axis].size;
  }
  if (at != 0) in.fail_last(fmt::format("at({}) is outside axis \"{}\"", kind.at, name));
}

void parse_body(Scanner& in, LayoutSpec& spec) {
  std::vector<bool> cut_seen(spec.shape.size());
  std::vector<bool> axis_seen(spec.kinds.size());
  if (in.accept('}')) return;
  do {
    if (in.at_number()) {
      Index dim = in.number("a dimension");
      const Index dims = static_cast<Index>(spec.shape.size());
      if (dim < -dims || dim >= dims)
        in.fail_last(fmt::format("dimension {} is out of range for a tensor of {} dimensions", dim, dims));
      if (dim < 0) dim += dims;
      if (cut_seen[dim]) in.fail_last(fmt::format("dimension {} is listed twice", dim));
      cut_seen[dim] = true;
      in.expect(':');
      do spec.cuts[dim].push_back(parse_cut(in, spec.mesh));
      while (in.at_name() || in.peek() == '(');
    } else {
      parse_axis_entry(in, spec, axis_seen);
    }
  } while (in.accept(','));
  in.expect('}');
}

std::vector<Slice> parse_view(Scanner& in, const std::vector<Index>& shape) {
  std::vector<Slice> view;
  if (in.accept(']')) return view;
  do {
    if (view.size() == shape.size()) in.fail_here(fmt::format("more slices than the {} dimensions", shape.size()));
    const Index n = shape[view.size()];
    const bool open = in.peek() == ':';
    const Index begin = open ? 0 : in.non_negative("where the slice begins");
    if (!in.accept(':')) {
      view.push_back({GlobalIndex(begin), 1, true});
      continue;
    }
    const Index end = in.at_number() ? in.non_negative("where the slice ends") : n;
    if (end < begin) in.fail_last(fmt::format("slice {}:{} ends before it begins", begin, end));
    view.push_back({GlobalIndex(begin), end - begin, false});
  } while (in.accept(','));
  in.expect(']');
  return view;
}

std::vector<Index> parse_numbers(Scanner& in) {
  std::vector<Index> numbers;
  in.expect('(');
  do numbers.push_back(in.non_negative("a number"));
  while (in.accept(','));
  in.expect(')');
  return numbers;
}

void parse_storage(Scanner& in, StorageOrder& storage) {
  if (in.accept("order")) {
    for (const Index dim : parse_numbers(in)) {
      if (dim > 1 << 20) in.fail_last("no such dimension");
      storage.order.push_back(static_cast<int>(dim));
    }
  } else if (in.accept("strides")) {
    storage.strides = parse_numbers(in);
  } else if (in.accept("private")) {
    in.expect('(');
    storage.form = in.name("the name of a private form");
    in.expect(')');
  }
}

}  // namespace

Layout layout(std::string_view text) {
  Scanner in(text, "layout");
  LayoutSpec spec;
  const std::string_view dtype_name = in.name("a dtype");
  const auto dtype = dtype_named(dtype_name);
  if (!dtype)
    in.fail_last(
        fmt::format("unknown dtype \"{}\" (bool, u8 to i64, f8e4m3, f8e5m2, f16, bf16, f32, f64, "
                    "complex64, complex128)",
                    dtype_name));
  spec.dtype = *dtype;
  spec.shape = parse_sizes(in, nullptr);
  if (in.accept('[')) spec.view = parse_view(in, spec.shape);
  if (!in.accept("on")) in.fail_here("expected \"on\" and a mesh");
  spec.mesh = parse_mesh(in);
  spec.cuts.resize(spec.shape.size());
  spec.kinds.resize(spec.mesh.axes().size());
  if (in.accept('{')) parse_body(in, spec);
  parse_storage(in, spec.storage);
  in.expect_end();
  return Layout(std::move(spec));
}

std::string Layout::text() const {
  std::string out = fmt::format("{}[{}]", name_of(spec_.dtype), fmt::join(spec_.shape, ","));
  if (is_view()) out += view_text(spec_);
  out += " on " + spec_.mesh.text() + body_text(spec_);
  if (!spec_.storage.order.empty()) out += fmt::format(" order({})", fmt::join(spec_.storage.order, ","));
  if (!spec_.storage.strides.empty()) out += fmt::format(" strides({})", fmt::join(spec_.storage.strides, ","));
  if (!spec_.storage.form.empty()) out += fmt::format(" private({})", spec_.storage.form);
  return out;
}

std::uint64_t Layout::fingerprint() const {
  std::uint64_t digest = 14695981039346656037ULL;  // FNV-1a, 64 bits
  for (const char c : text()) digest = (digest ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return digest;
}

}  // namespace reshard
