// Leading dimensions as one, with padding behind: within each rank, the front of one buffer is the front of the other.
#include <algorithm>

#include "base/checked.h"
#include "base/fail.h"
#include "op/flow.h"
#include "reshard/primitives.h"

namespace reshard::op {
namespace {

class FrontFlow : public Flow {
 public:
  FrontFlow(Layout source, Layout target) : source_(std::move(source)), target_(std::move(target)) {}

  std::string text() const override { return "front"; }

  Program program(Index ranks, std::optional<RankId> only, const RankHosts&) const override {
    if (source_.mesh().end_rank() > RankId(ranks))
      fail(Code::invalid_argument, "{} names rank {}, but the world has {} ranks; start more ranks or move the mesh",
           source_.text(), source_.mesh().end_rank().value() - 1, ranks);
    Program program{.name = "front", .ranks = ranks};
    program.windows = {{.name = "source", .bytes = {}}, {.name = "target", .bytes = {}}};
    program.signals = {{.name = "ready", .slots = ranks, .is_by_rank = true},
                       {.name = "done", .slots = ranks, .is_by_rank = true}};
    program.operations.resize(static_cast<std::size_t>(ranks));
    for (RankId rank(0); rank < RankId(ranks); ++rank) {
      program.windows[0].bytes.push_back(source_.local_bytes(rank));
      program.windows[1].bytes.push_back(target_.local_bytes(rank));
      if (!only || *only == rank) program.operations[static_cast<std::size_t>(rank.value())] = operations(rank);
    }
    return program;
  }

 private:
  std::vector<Operation> operations(RankId rank) const {
    const Index from = source_.local_bytes(rank), to = target_.local_bytes(rank), front = std::min(from, to);
    std::vector<Operation> operations;
    if (front > 0)
      operations.push_back({.code = OpCode::copy,
                            .peer = rank,
                            .source_window = 0,
                            .target_window = 1,
                            .blocks = {{.row_bytes = front}}});
    if (to > front) operations.push_back(zeros(rank, front, to - front));
    return operations;
  }

  Operation zeros(RankId rank, Index offset, Index bytes) const {
    const Dtype dtype = target_.dtype();
    const Index element = bytes_of(dtype);
    return {.code = OpCode::fill,
            .peer = rank,
            .target_window = 1,
            .blocks = {{.target_offset = offset, .row_bytes = element, .loops = {{bytes / element, 0, element}}}},
            .reduce_op = ReduceOp::sum,
            .dtype = dtype};
  }

  Layout source_, target_;
};

LinearOp front_op(std::string name, const Layout& in, Layout out) {
  auto forward = std::make_shared<FrontFlow>(in, out);
  auto adjoint = std::make_shared<FrontFlow>(dual(out), dual(in));
  return linear_op({std::move(name), in, std::move(out), std::move(forward), std::move(adjoint)});
}

// The first `leading` dimensions lie whole on every rank, slowest in its memory.
void check_leading(std::string_view name, const Layout& in, int leading) {
  if (in.is_view() || !(in.spec().storage == StorageOrder{}))
    fail(Code::invalid_argument, "{}: {} is a view or not stored row-major: lay it out as a tensor of its own first",
         name, in.text());
  for (int dim = 0; dim < leading; ++dim)
    if (!in.spec().cuts[static_cast<std::size_t>(dim)].empty())
      fail(Code::invalid_argument,
           "{}: dimension {} of {} is cut, and its parts cannot be laid end to end: gather it first, or flatten before "
           "it is cut",
           name, dim, in.text());
}

// `in` with the first `leading` dimensions replaced by `extents`.
Layout with_leading_dims(const Layout& in, int leading, const std::vector<Index>& extents) {
  LayoutSpec spec = in.spec();
  spec.shape.erase(spec.shape.begin(), spec.shape.begin() + leading);
  spec.shape.insert(spec.shape.begin(), extents.begin(), extents.end());
  spec.cuts.erase(spec.cuts.begin(), spec.cuts.begin() + leading);
  spec.cuts.insert(spec.cuts.begin(), extents.size(), {});
  return Layout(std::move(spec));
}

}  // namespace

LinearOp flatten_and_pad_leading_dims(const Layout& in, Index least, int trailing) {
  constexpr const char* name = "flatten_and_pad_leading_dims";
  if (trailing < 0 || trailing > in.dims())
    fail(Code::invalid_argument, "{}: {} trailing dimensions of a tensor of {}\n  in {}", name, trailing, in.dims(),
         in.text());
  if (least < 0) fail(Code::invalid_argument, "{}: at least {} rows: give 0 for no padding", name, least);
  const int leading = in.dims() - trailing;
  check_leading(name, in, leading);
  const std::vector<Index> extents(in.shape().begin(), in.shape().begin() + leading);
  const Index rows = std::max(checked_product(extents, "rows of the flattened tensor"), least);
  return front_op(name, in, with_leading_dims(in, leading, {rows}));
}

LinearOp unpad_and_unflatten_leading_dims(const Layout& in, const std::vector<Index>& lead, int trailing) {
  constexpr const char* name = "unpad_and_unflatten_leading_dims";
  if (trailing < 0 || in.dims() != trailing + 1)
    fail(Code::invalid_argument,
         "{}: a tensor of {} dimensions is not one leading dimension and {} trailing ones\n  in {}", name, in.dims(),
         trailing, in.text());
  check_leading(name, in, 1);
  const Index rows = checked_product(lead, "rows of the unflattened tensor");
  if (rows > in.shape()[0])
    fail(Code::invalid_argument, "{}: the leading dimensions have {} rows together, but the tensor has {}\n  in {}",
         name, rows, in.shape()[0], in.text());
  return front_op(name, in, with_leading_dims(in, 1, lead));
}

}  // namespace reshard::op
