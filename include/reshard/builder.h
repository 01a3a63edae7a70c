// Writes symbolic programs in C++, as short as by hand.
//
//   SymbolicProgram hand = program("all_to_all", [](Kernel& k) {
//     auto n = k.size("n", 64);
//     auto x = k.input("x", Dtype::f32, {k.ranks(), n}), y = k.output("y", Dtype::f32, {k.ranks(), n});
//     auto data = k.window("data", Dtype::f32, {k.ranks(), n});
//     auto signal = k.signal("ready", {k.ranks()});
//     k.each_rank([&](auto d) { k.put(data.row(k.me()).on(d), x.row(d)); });
//     k.fence();
//     k.each_peer([&](auto p) { k.notify(signal[k.me()].on(p), Set, 1); });
//     k.each_peer([&](auto s) { k.wait(signal[s], Ge, 1); });
//     k.each_rank([&](auto s) { k.copy(y.row(s), data.row(s)); });
//   });
//
// Thread rule: confined.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard {

inline constexpr NotifyOp Set = NotifyOp::set;
inline constexpr NotifyOp Add = NotifyOp::add;
inline constexpr WaitCompare Eq = WaitCompare::equal;
inline constexpr WaitCompare Ge = WaitCompare::greater_equal;

// [from, to) of one dimension.
struct Range {
  Expression from = 0;
  Expression to = 0;
};
// Everything of one dimension, where a later one is selected: x.at(All{}, j).
struct All {};

// A part of a buffer. `on` says whose; without, the rank's own.
class SliceRef {
 public:
  explicit SliceRef(BufferSlice slice) : slice_(std::move(slice)) {}
  SliceRef on(const Expression& peer) const;
  // Selects along the next dimension that is not selected yet.
  SliceRef row(const Expression& index) const;
  SliceRef rows(const Expression& from, const Expression& to) const;
  // One argument per dimension: an index, a Range or All. Later dimensions stay whole.
  template <class... Selections>
  SliceRef at(Selections&&... selections) const {
    SliceRef result = *this;
    (result.select(selection_of(std::forward<Selections>(selections))), ...);
    return result;
  }
  // The value of one element, in expressions: counts.row(d).value(), x.on(s).row(me).value() in expect.
  Expression value() const;
  const BufferSlice& slice() const { return slice_; }

 private:
  template <class T>
  static Selection selection_of(const T& selected) {
    if constexpr (std::is_same_v<T, All>) {
      return {};
    } else if constexpr (std::is_same_v<T, Range>) {
      return {Selection::Kind::range, selected.from, selected.to};
    } else {
      return {Selection::Kind::at, Expression(selected), 0};
    }
  }
  void select(Selection selection) { slice_.selections.push_back(std::move(selection)); }
  BufferSlice slice_;
};

// A declared buffer; usable as the slice that is all of it.
class BufferRef : public SliceRef {
 public:
  explicit BufferRef(const std::string& name) : SliceRef(BufferSlice{name}) {}
  const std::string& name() const { return slice().buffer; }
};

class SlotRef {
 public:
  explicit SlotRef(Slot slot) : slot_(std::move(slot)) {}
  SlotRef on(const Expression& peer) const;
  SlotRef operator[](const Expression& index) const;
  const Slot& slot() const { return slot_; }

 private:
  Slot slot_;
};
class SignalRef : public SlotRef {
 public:
  explicit SignalRef(const std::string& name) : SlotRef(Slot{name}) {}
  const std::string& name() const { return slot().signal; }
};

struct SignalOptions {
  int bits = 64;
  std::optional<Protocol> protocol = {};
  Expression starts = 0;
};

class Kernel {
 public:
  using Shape = std::vector<Expression>;
  using Each = std::function<void(Expression)>;

  explicit Kernel(std::string name);
  // To go on where `program` ends, as lowering does: its declarations stay, its body is left out.
  explicit Kernel(SymbolicProgram program);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  Expression me() const;
  Expression ranks() const;
  Expression call() const;  // counted from 1

  // Declarations throw Error(invalid_argument) when a name is taken, or is no name: words of the language, i0, i1, ..
  Expression size(const std::string& name, Index value);
  BufferRef input(const std::string& name, Dtype dtype, Shape shape);
  BufferRef output(const std::string& name, Dtype dtype, Shape shape);
  BufferRef window(const std::string& name, Dtype dtype, Shape shape);
  BufferRef local(const std::string& name, Dtype dtype, Shape shape);
  BufferRef view(const std::string& name, Dtype dtype, Shape shape, const BufferRef& of, Expression offset_bytes = 0);
  SignalRef signal(const std::string& name, Shape shape, SignalOptions options = {});
  // k.init(x, [&](auto d, auto j) { return k.me() * 1000 + d * 100 + j; }); k.expect(y, [&](auto s, auto j) { .. });
  // One parameter per dimension; their names in the text are i0, i1, ..
  template <class Rule>
  void init(const BufferRef& buffer, Rule&& rule, Expression where = 1);
  template <class Rule>
  void expect(const BufferRef& buffer, Rule&& rule, Expression where = 1);
  // With names of their own. Throws Error(invalid_argument) for an unknown buffer, a wrong number of indices, and names
  // that are taken.
  void init_rule(ContentRule rule);
  void expect_rule(ContentRule rule);

  // A loop variable is called `name`, or with a number behind it where that is in use.
  void each_rank(const Each& write, const std::string& name = "r");  // 0..P
  void each_peer(const Each& write, const std::string& name = "p");  // 0..P without me
  void each(const Expression& from, const Expression& to, const Each& write, const std::string& name = "i");
  void when(const Expression& condition, const std::function<void()>& then,
            const std::function<void()>& otherwise = nullptr);
  Expression let(const std::string& name, const Expression& value);  // named as loop variables are

  void put(const SliceRef& target, const SliceRef& source);
  void get(const SliceRef& target, const SliceRef& source);
  void copy(const SliceRef& target, const SliceRef& source);
  void accumulate(ReduceOp op, const SliceRef& target, const SliceRef& source);  // a put
  void cast(const SliceRef& target, const SliceRef& source);                     // a copy between dtypes
  void reduce(const SliceRef& target, ReduceOp op, std::vector<SliceRef> terms);
  void fill(const SliceRef& target, const Expression& value);
  void fill_identity(const SliceRef& target, ReduceOp op);
  void notify(const SlotRef& slot, NotifyOp op, const Expression& value);
  void wait(const SlotRef& slot, WaitCompare compare, const Expression& value);
  void fence();
  void require(const Expression& condition, const std::string& message);
  void comment(const std::string& text);
  // A composite (lower.h): k.composite("all_to_all", {{"input", x.slice()}, {"target", data.slice()}, ..}).
  void composite(const std::string& name, std::vector<Argument> arguments);
  void statement(Statement statement);

  // A name that nothing has yet: `wanted`, or with a number behind it.
  std::string fresh(const std::string& wanted) const;
  SymbolicProgram take() &&;

 private:
  bool is_declared(std::string_view name) const;
  bool is_taken(std::string_view name) const;
  void claim(const std::string& name) const;
  BufferRef buffer(BufferDeclaration declaration);
  void check_rule(const ContentRule& rule) const;
  Body& body() { return *bodies_.back(); }
  Body block(const std::function<void()>& write);
  void loop(For form, const std::string& wanted, const Each& write);
  SymbolicProgram program_;
  std::vector<Body*> bodies_;
  std::vector<std::string> variables_;  // in scope
};

SymbolicProgram program(const std::string& name, const std::function<void(Kernel&)>& write);

namespace detail {
// Calls `rule` with i0, i1, .. : as many as it takes.
template <class Rule, std::size_t... I>
ContentRule content_rule(const std::string& buffer, Rule& rule, Expression where, std::index_sequence<I...>) {
  ContentRule made{buffer, {("i" + std::to_string(I))...}, 0, std::move(where)};
  made.value = rule(Expression::variable("i" + std::to_string(I))...);
  return made;
}
template <class Rule, std::size_t N = 0>
ContentRule content_rule(const std::string& buffer, Rule& rule, Expression where) {
  const auto arity = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::is_invocable_v<Rule&, decltype((void)I, std::declval<Expression>())...>;
  };
  if constexpr (arity(std::make_index_sequence<N>{})) {
    return content_rule(buffer, rule, std::move(where), std::make_index_sequence<N>{});
  } else {
    static_assert(N < 8, "a rule takes one Expression per dimension");
    return content_rule<Rule, N + 1>(buffer, rule, std::move(where));
  }
}
}  // namespace detail

template <class Rule>
void Kernel::init(const BufferRef& buffer, Rule&& rule, Expression where) {
  init_rule(detail::content_rule(buffer.name(), rule, std::move(where)));
}
template <class Rule>
void Kernel::expect(const BufferRef& buffer, Rule&& rule, Expression where) {
  expect_rule(detail::content_rule(buffer.name(), rule, std::move(where)));
}

}  // namespace reshard
