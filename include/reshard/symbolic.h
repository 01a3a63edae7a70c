// A symbolic program: one body for all ranks, over windows, signals, and rank and size expressions. What people write
// (builder.h), print and parse (program_text.h), lower (lower.h) and unroll (unroll.h) into the lists that run.
//
// The grammar of the text form, and what each statement means, is docs/design/programs.md.
//
// Thread rule: immutable once built.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "reshard/dtype.h"
#include "reshard/expression.h"
#include "reshard/program.h"
#include "reshard/reduce_op.h"

namespace reshard {

// Lines of comment above a declaration, without `#`.
using Comments = std::vector<std::string>;

// A size with the value it has unless the caller sets another: `size n = 64`.
struct SizeDeclaration {
  std::string name;
  Index value = 0;
  Comments comments = {};
};

// Memory of every rank. Shapes may depend on sizes, P and me. A view names part of another buffer, packed, from
// `offset_bytes` on; views of views are views of the allocation.
//   window data : f32[P, n]          view half : f16[n] of data at 256
struct BufferDeclaration {
  BufferRole role = BufferRole::window;
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<Expression> shape = {};
  std::string viewed = {};  // empty: an allocation of its own. Views take the role of what they view.
  Expression offset_bytes = 0;
  Comments comments = {};
};

// Counters that peers change, row-major. `starts` is what every slot holds before the first call, over me and the
// names i0, i1, .. of its indices; `bits` is the width after which it wraps.
//   signal ready[P] : credits-2      signal s[2, P] : 16 bits starts i1 == 0
struct SignalDeclaration {
  std::string name;
  std::vector<Expression> shape = {};
  int bits = 64;
  std::optional<Protocol> protocol = {};
  Expression starts = 0;
  Comments comments = {};
};

// What a buffer holds when a call begins (`init x[d, j] = me * 1000 + d * 100 + j`) or must hold when it has ended
// (`expect y[s, j] = x@s[me, j] if j < 3`). An input without init holds values that name rank, call and place. Elements
// for which `where` is 0 are left alone.
struct ContentRule {
  std::string buffer;
  std::vector<std::string> indices;
  Expression value = 0;
  Expression where = 1;
  Comments comments = {};
};

// What is selected along one dimension: everything (..), one index, or [from, to).
struct Selection {
  enum class Kind { all, at, range };
  Kind kind = Kind::all;
  Expression from = 0;
  Expression to = 0;
};

// Part of a buffer, of the rank itself or of a peer: data@d[me, 0..n]. Dimensions not named are whole.
struct BufferSlice {
  std::string buffer;
  std::optional<Expression> peer = {};
  std::vector<Selection> selections = {};
};

// One counter: signal[s], or ready@p[me].
struct Slot {
  std::string signal;
  std::optional<Expression> peer = {};
  std::vector<Expression> indices = {};
};

struct Statement;
using Body = std::vector<Statement>;

// for v in from..to. Over peers (`for p in peers`): from 0 to P without me.
struct For {
  std::string variable;
  Expression from = 0;
  Expression to = 0;
  bool peers = false;
  Body body;
};
struct If {
  Expression condition = 0;
  Body then;
  Body otherwise = {};
};
struct Let {
  std::string name;
  Expression value = 0;
};
// put data@d[me] <- x[d];  get y <- data@s;  copy y[s] <- data[s]. Shapes agree once dimensions of one index are
// dropped. `accumulate`: the target becomes target op source, one element at a time, atomically against other
// accumulating puts. `cast`: dtypes may differ.
struct DataMove {
  OpCode code = OpCode::copy;
  BufferSlice target = {};
  BufferSlice source = {};
  std::optional<ReduceOp> accumulate = {};
  bool cast = false;
};
// reduce y <- sum(a, b[0]): y becomes a op b op .., in this order. y may be one of the terms.
struct Reduce {
  BufferSlice target;
  ReduceOp op = ReduceOp::sum;
  std::vector<BufferSlice> terms;
};
// fill y <- 3, or fill y <- identity(sum).
struct Fill {
  BufferSlice target;
  Expression value = 0;
  std::optional<ReduceOp> identity = {};
};
struct Notify {
  Slot slot;
  NotifyOp op = NotifyOp::set;
  Expression value = 1;
};
struct Wait {
  Slot slot;
  WaitCompare compare = WaitCompare::greater_equal;
  Expression value = 1;
};
struct Fence {};
// The call fails on this rank, with this message, if the condition is 0. {expression} in the message is its value.
struct Require {
  Expression condition = 1;
  std::string message;
};
struct Comment {
  std::string text;
};

// One argument of a composite: a slice, a number or a word, by name.
struct Argument {
  std::string name;
  std::variant<BufferSlice, Expression, std::string> value;
};
// all_to_all(input = x, target = data, signal = ready, protocol = credits-2). lower.h lists them all.
struct Composite {
  std::string name;
  std::vector<Argument> arguments;
};

struct Statement {
  std::variant<For, If, Let, DataMove, Reduce, Fill, Notify, Wait, Fence, Require, Comment, Composite> form;
};

struct SymbolicProgram {
  std::string name;
  std::vector<SizeDeclaration> sizes = {};
  std::vector<BufferDeclaration> buffers = {};
  std::vector<SignalDeclaration> signals = {};
  std::vector<ContentRule> init = {};
  std::vector<ContentRule> expect = {};
  Body body = {};
  Comments comments = {};  // above all

  const BufferDeclaration* buffer(std::string_view buffer_name) const;
  const SignalDeclaration* signal(std::string_view signal_name) const;
};

}  // namespace reshard
