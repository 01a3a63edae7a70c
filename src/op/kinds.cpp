#include "op/kinds.h"

#include <array>

#include "base/fail.h"
#include "reshard/op.h"

namespace reshard {

Layout dual(const Layout& layout) {
  LayoutSpec spec = layout.spec();
  for (std::size_t axis = 0; axis < spec.kinds.size(); ++axis) {
    AxisKind& kind = spec.kinds[axis];
    if (kind.kind == AxisKind::Kind::partial) {
      if (kind.op != ReduceOp::sum)
        fail(Code::unsupported,
             "{}: partial({}) along \"{}\" has no gradient that a layout could describe: only a pending sum is linear; "
             "reduce it first",
             layout.text(), name_of(kind.op), spec.mesh.axes()[axis].name);
      kind = {.varying = true};
    } else if (kind.varying) {
      kind = {AxisKind::Kind::partial, ReduceOp::sum, 0};
    }
  }
  return Layout(std::move(spec));
}

namespace op {
namespace {

// Why an edge is none, and the way out.
struct Refusal {
  ValueKind from, to;
  std::string_view why;
};
constexpr std::array kRefusals{
    Refusal{ValueKind::varying, ValueKind::invariant,
            "ranks that go on differently do not make one computation again; make the value invariant where it comes "
            "from: gather_from instead of gather_from_copy_to, reduce_from instead of all_reduce"},
    Refusal{ValueKind::varying, ValueKind::held,
            "the gradient of a varying value pends on every rank, and a slice of it would drop the others' terms; "
            "scatter_to takes an invariant value: gather_from or reduce_from give one"},
    Refusal{ValueKind::varying, ValueKind::pending,
            "equal values are no terms of a sum: what each rank computes of them may be; lay that out as partial(sum)"},
    Refusal{ValueKind::invariant, ValueKind::pending,
            "equal values are no terms of a sum; copy_to makes the value varying, and what each rank computes of that "
            "may pend"},
    Refusal{ValueKind::held, ValueKind::pending,
            "a shard is no term of a sum; gather_from_copy_to gives every rank the whole value, and what each computes "
            "of that may pend"},
};

bool same_axes(const Mesh& a, const Mesh& b) { return a.renamed("") == b.renamed(""); }

std::string ends_text(const Layout& in, const Layout& out) {
  return fmt::format("\n  in  {}\n  out {}", in.text(), out.text());
}

void check_edge(std::string_view name, const Layout& in, const Layout& out, std::size_t axis) {
  const AxisKind &from = in.spec().kinds[axis], &to = out.spec().kinds[axis];
  for (const Refusal& refusal : kRefusals)
    if (refusal.from == kind_of(from) && refusal.to == kind_of(to))
      fail(Code::invalid_argument, "{}: axis \"{}\" cannot go from {} to {}: {}{}", name, in.mesh().axes()[axis].name,
           text_of(from), text_of(to), refusal.why, ends_text(in, out));
}

// Between meshes there are no axes to compare: what pends or varies along one has no partner on the other.
void check_ends(std::string_view name, const Layout& in, const Layout& out) {
  for (std::size_t axis = 0; axis < in.spec().kinds.size(); ++axis)
    if (kind_of(in.spec().kinds[axis]) == ValueKind::varying)
      fail(Code::invalid_argument,
           "{}: the value is varying along \"{}\", and leaves these ranks: its gradient would pend where nobody "
           "computes; make it invariant first{}",
           name, in.mesh().axes()[axis].name, ends_text(in, out));
  for (std::size_t axis = 0; axis < out.spec().kinds.size(); ++axis)
    if (kind_of(out.spec().kinds[axis]) == ValueKind::pending)
      fail(Code::invalid_argument, "{}: the result pends along \"{}\", but its terms are on other ranks: reduce them{}",
           name, out.mesh().axes()[axis].name, ends_text(in, out));
}

void check_truths(std::string_view name, const Layout& layout) {
  if (layout.dtype() != Dtype::boolean) return;
  for (const AxisKind& kind : layout.spec().kinds)
    if (kind_of(kind) == ValueKind::pending || kind_of(kind) == ValueKind::varying)
      fail(Code::unsupported, "{}: {}: a sum of truths is `or`, which is not linear: convert to integers", name,
           layout.text());
}

}  // namespace

ValueKind kind_of(const AxisKind& kind) {
  switch (kind.kind) {
    case AxisKind::Kind::partial: return ValueKind::pending;
    case AxisKind::Kind::replicate: return kind.varying ? ValueKind::varying : ValueKind::invariant;
    default: return ValueKind::held;
  }
}

std::string text_of(const AxisKind& kind) {
  switch (kind.kind) {
    case AxisKind::Kind::partial: return fmt::format("partial({})", name_of(kind.op));
    case AxisKind::Kind::at: return fmt::format("at({})", kind.at);
    case AxisKind::Kind::cut: return "cut";
    default: return kind.varying ? "varying" : "invariant";
  }
}

std::string_view name_of_edge(ValueKind from, ValueKind to) {
  using enum ValueKind;
  if (from == held) return to == invariant ? "gather_from" : to == varying ? "gather_from_copy_to" : "transpose";
  if (from == pending)
    return to == invariant ? "reduce_from" : to == varying ? "all_reduce" : to == held ? "reduce_from_scatter_to" : "";
  if (from == invariant) return to == varying ? "copy_to" : to == held ? "scatter_to" : "";
  return "";
}

void check_edges(std::string_view name, const Layout& in, const Layout& out) {
  if (same_axes(in.mesh(), out.mesh())) {
    for (std::size_t axis = 0; axis < in.spec().kinds.size(); ++axis) check_edge(name, in, out, axis);
  } else {
    check_ends(name, in, out);
  }
  check_truths(name, in);
  check_truths(name, out);
}

namespace {

std::string value_hint(ValueKind expected, ValueKind given) {
  using enum ValueKind;
  if (expected == invariant && given == varying)
    return "ranks go on differently with it, so it is no single computation; what makes it must give it invariant "
           "(gather_from, reduce_from)";
  if (expected == varying && given == invariant)
    return "copy_to gives a varying value, whose gradient is summed over the ranks";
  if (expected == pending) return "only pending sums can be reduced; lay the terms out as partial(sum)";
  if (given == pending) return "it is a pending sum: reduce_from, all_reduce or reduce_from_scatter_to give its value";
  return "";
}

std::string gradient_hint(ValueKind expected, ValueKind given, ValueKind from) {
  using enum ValueKind;
  if (expected == invariant && given == pending)
    return fmt::format(
        "the result is one computation on all ranks, but ranks went on differently with it: {} has that gradient",
        name_of_edge(from, varying).empty() ? "copy_to" : name_of_edge(from, varying));
  if (expected == pending && given == invariant)
    return fmt::format("each rank goes on differently with the result; {} is for one computation on all ranks",
                       name_of_edge(from, invariant).empty() ? "an invariant value" : name_of_edge(from, invariant));
  if (expected == pending && given == varying) return "what each rank found must be laid out as partial(sum)";
  if (given == pending) return "it is a pending sum: redistribute() to the layout taken reduces it";
  return "";
}

}  // namespace

std::string kind_hint(const Layout& expected, const Layout& given, bool is_gradient, const Layout& from,
                      const Layout& to) {
  if (!same_axes(expected.mesh(), given.mesh())) return "";
  for (std::size_t axis = 0; axis < expected.spec().kinds.size(); ++axis) {
    const AxisKind &want = expected.spec().kinds[axis], &have = given.spec().kinds[axis];
    if (kind_of(want) == kind_of(have)) continue;
    const bool is_known = same_axes(from.mesh(), to.mesh()) && axis < from.spec().kinds.size();
    const ValueKind source = is_known ? kind_of(from.spec().kinds[axis]) : ValueKind::held;
    const std::string hint =
        is_gradient ? gradient_hint(kind_of(want), kind_of(have), source) : value_hint(kind_of(want), kind_of(have));
    return fmt::format("\n  along \"{}\" it is {}, not {}{}{}", expected.mesh().axes()[axis].name, text_of(have),
                       text_of(want), hint.empty() ? "" : ": ", hint);
  }
  return "";
}

}  // namespace op
}  // namespace reshard
