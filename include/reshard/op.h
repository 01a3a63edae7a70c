// Operators: linear maps between two layouts, with the adjoint that follows from them.
//
//   thread_ranks(4, [](World& world) {
//     const LinearOp gather = op::gather_from_copy_to(layout("f64[10,3] on (x=4) {0: x}"), "x", 0);
//     Tensor x = world.allocate(gather.in());
//     Tensor y = gather.forward(world, x);           // f64[10,3] on (x=4) {x: varying}: all rows on every rank
//     Tensor gy = world.allocate(gather.out_dual()); // f64[10,3] on (x=4) {x: partial(sum)}
//     Tensor gx = gather.adjoint(world, gy);         // reduce-scatter: f64[10,3] on (x=4) {0: x}
//   });
//
// The kind of every mesh axis says what a gradient is, so that nobody writes an adjoint (docs/design/operators.md):
//
//   kind of a value                                                    kind of its gradient (dual)
//   invariant    replicated, one logical computation on all ranks      invariant
//   varying      replicated, each rank goes on differently             partial(sum)
//   partial(sum) a pending sum                                         varying
//   cut, at(c)   each element on one coordinate                        the same cut, at(c)
//
// The adjoint of a move from `in` to `out` is the move from dual(out) to dual(in). Along one axis a move may go
//
//   from invariant to invariant, varying, cut or at; from varying to varying; from partial to partial, invariant,
//   varying, cut or at; from cut or at to cut, at, invariant or varying.
//
// Any other (varying -> cut, say) is refused when the operator is made, with the operator that was probably meant.
//
// Values, not buffers: inputs are never written, results are other tensors, also where nothing moves.
//
// Thread rule: a LinearOp is immutable; calls on a world are collective, as world.h says.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "reshard/executor.h"
#include "reshard/layout.h"
#include "reshard/plan.h"
#include "reshard/program.h"
#include "reshard/tensor.h"
#include "reshard/world.h"

namespace reshard {

// The layout of gradients of a tensor of this layout. dual(dual(l)) == l.
// Throws Error(unsupported) for partial of another op than sum, which is no linear map.
Layout dual(const Layout& layout);

class Flow;  // how the programs of an operator are made: src/op/flow.h
struct OpParts;

class LinearOp {
 public:
  // The move from `in` to `out`. Throws Error(invalid_argument) or Error(unsupported) that names the axis, both kinds
  // and the operator probably meant, for a move that is not in the table above; whatever plan() refuses; and pending
  // sums of bool, which are no sums.
  LinearOp(std::string name, Layout in, Layout out, PlanOptions options = {});

  const std::string& name() const { return name_; }
  const Layout& in() const { return in_; }
  const Layout& out() const { return out_; }
  // Of gradients: dual(in()) and dual(out()).
  const Layout& in_dual() const { return in_dual_; }
  const Layout& out_dual() const { return out_dual_; }
  // From out_dual() to in_dual(). op.adjoint().adjoint() == op.
  LinearOp adjoint() const;

  // Collective. Throws Error(invalid_argument), on every rank and before a byte moves, when x is not laid out as in(),
  // y not as out(), or both are one tensor; the way out names the operator whose kinds these are. Planned on the first
  // call with these layouts, then cached in the world.
  Tensor forward(World& world, const Tensor& x) const;
  Traffic forward(World& world, const Tensor& x, Tensor& y) const;
  // Of gradients, laid out as out_dual(), to those laid out as in_dual().
  Tensor adjoint(World& world, const Tensor& gy) const;
  Traffic adjoint(World& world, const Tensor& gy, Tensor& gx) const;

  // What runs on `ranks` ranks, for check(), simulate() and the reader: window 0 is the source, window 1 the target,
  // others are of each rank alone. All ranks, or one only.
  Program forward_program(Index ranks, const RankHosts& hosts = {}) const;
  Program forward_program(RankId rank, Index ranks, const RankHosts& hosts = {}) const;
  Program adjoint_program(Index ranks, const RankHosts& hosts = {}) const;
  Program adjoint_program(RankId rank, Index ranks, const RankHosts& hosts = {}) const;

  // "gather_from: f64[10] on (x=4) {0: x} -> f64[10] on (x=4)"
  std::string text() const;
  // Same name, layouts and programs.
  friend bool operator==(const LinearOp& a, const LinearOp& b);

 private:
  friend class BoundOp;
  friend LinearOp linear_op(OpParts parts);  // src/op/flow.h
  struct Unchecked {};
  LinearOp(Unchecked, OpParts parts);
  Traffic run(World& world, const Flow& flow, const Tensor& source, Tensor& target) const;
  // Throws what `check` throws, on every rank together; before it, where one of the tensors is not of this world.
  void check_together(World& world, std::initializer_list<const Tensor*> tensors,
                      const std::function<void()>& check) const;

  std::string name_;
  Layout in_, out_, in_dual_, out_dual_;
  std::shared_ptr<const Flow> forward_, adjoint_;  // immutable, shared by copies
};

// An operator on tensors that stay where they are: everything is made ready once, and a run allocates nothing.
//
// Construction is collective: it compares operator and tensors, creates two signals and the operator's own memory for
// each direction, which stay until the world ends. The tensors must stay where they are while this is used. A run
// compares nothing: ranks that run different operators end with a timeout. After an error the world cannot go on.
class BoundOp {
 public:
  // Both directions.
  BoundOp(World& world, const LinearOp& op, const Tensor& x, Tensor& y, const Tensor& gy, Tensor& gx);
  // Forward only: adjoint() throws Error(invalid_argument).
  BoundOp(World& world, const LinearOp& op, const Tensor& x, Tensor& y);
  BoundOp(BoundOp&&) noexcept;
  ~BoundOp();

  // Collective. When it returns y, or gx, is complete, and x, or gy, may be changed.
  Traffic forward();
  Traffic adjoint();

 private:
  struct Direction;
  BoundOp(World& world, const LinearOp& op, const Tensor& x, Tensor& y, const Tensor* gy, Tensor* gx);
  World* world_;
  std::string name_;
  std::unique_ptr<Direction> forward_, adjoint_;
};

}  // namespace reshard
