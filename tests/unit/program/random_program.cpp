#include "unit/program/random_program.h"

#include <limits>
#include <utility>

namespace reshard {
namespace {

using Kind = Expression::Kind;

const std::vector<ReduceOp> kOps = {ReduceOp::sum, ReduceOp::avg, ReduceOp::min, ReduceOp::max, ReduceOp::product};
const std::vector<Kind> kBinary = {Kind::add,           Kind::subtract,    Kind::multiply,   Kind::divide,
                                   Kind::modulo,        Kind::minimum,     Kind::maximum,    Kind::equal,
                                   Kind::not_equal,     Kind::less,        Kind::less_equal, Kind::greater,
                                   Kind::greater_equal, Kind::logical_and, Kind::logical_or};
const std::vector<Index> kNumbers = {
    0, 1, 2, 7, 1'000'000'007, std::numeric_limits<Index>::max(), -1, -2, -9, std::numeric_limits<Index>::min()};
const std::vector<std::string> kTexts = {
    "",    "word", "x",   "n",        "two words", "a \"quote\"", "back\\slash", "tab\tline\nend", "credits-2",
    "for", "me",   "sum", "\xC3\xA4", "2"};

class Writer {
 public:
  explicit Writer(Random& random) : random_(random) {}

  SymbolicProgram program() {
    made_.name = "random";
    made_.comments = comments();
    for (const char* name : {"n", "m"}) made_.sizes.push_back({name, random_.among(kNumbers), comments()});
    numbers_ = {"me", "P", "n", "m"};
    declare_memory();
    for (const char* name : {"s", "t"}) made_.signals.push_back(signal(name));
    numbers_.push_back("call");
    for (Index i = random_.below(3); i > 0; --i) made_.init.push_back(rule(false));
    for (Index i = random_.below(3); i > 0; --i) made_.expect.push_back(rule(true));
    elements_ = true;
    made_.body = body(3);
    return std::move(made_);
  }

 private:
  Comments comments() { return random_.one_in(4) ? Comments{"above", ""} : Comments{}; }

  std::vector<Expression> expressions(Index count, int depth = 1) {
    std::vector<Expression> made;
    while (std::ssize(made) < count) made.push_back(expression(depth));
    return made;
  }

  void declare_memory() {
    const BufferRole roles[] = {BufferRole::input, BufferRole::output, BufferRole::window, BufferRole::local};
    for (int i = 0; i < 4; ++i)
      made_.buffers.push_back({roles[i],
                               std::string(1, static_cast<char>('w' + i)),
                               random_.among(dtypes()),
                               expressions(random_.below(4)),
                               {},
                               0,
                               comments()});
    const BufferDeclaration& viewed = random_.among(made_.buffers);
    made_.buffers.push_back({viewed.role, "v", random_.among(dtypes()), expressions(random_.below(3)), viewed.name,
                             expression(1), comments()});
  }

  static std::vector<Dtype> dtypes() { return {all_dtypes().begin(), all_dtypes().end()}; }

  SignalDeclaration signal(std::string name) {
    SignalDeclaration made{std::move(name), expressions(random_.below(3)), 64, {}, 0, comments()};
    if (random_.one_in(2)) made.bits = static_cast<int>(random_.between(1, 64));
    if (random_.one_in(2)) made.protocol = static_cast<Protocol>(random_.below(4));
    const auto known = numbers_;
    for (std::size_t i = 0; i < made.shape.size(); ++i) numbers_.push_back("i" + std::to_string(i));
    if (random_.one_in(2)) made.starts = expression(2);
    numbers_ = known;
    return made;
  }

  ContentRule rule(bool expect) {
    const BufferDeclaration& buffer = random_.among(made_.buffers);
    ContentRule made{buffer.name, {}, 0, 1, comments()};
    const auto known = numbers_;
    for (std::size_t i = 0; i < buffer.shape.size(); ++i) made.indices.push_back("j" + std::to_string(i));
    numbers_.insert(numbers_.end(), made.indices.begin(), made.indices.end());
    elements_ = of_peers_ = expect;
    made.value = expression(3);
    if (random_.one_in(2)) made.where = expression(2);
    elements_ = of_peers_ = false;
    numbers_ = known;
    return made;
  }

  Expression expression(int depth) {
    if (depth == 0 || random_.one_in(4)) return leaf();
    switch (random_.below(elements_ ? 6 : 4)) {
      case 0: return random_.one_in(2) ? negated(expression(depth - 1)) : unary(Kind::logical_not, depth);
      case 1: return Expression::make(Kind::pick, expressions(random_.between(2, 4), depth - 1));
      case 4: return element(depth - 1);
      case 5: return of_peers_ ? fold(depth - 1) : element(depth - 1);
      default: return Expression::make(random_.among(kBinary), expressions(2, depth - 1));
    }
  }

  Expression leaf() {
    if (random_.one_in(2)) return random_.among(kNumbers);
    return Expression::variable(random_.among(numbers_));
  }

  Expression unary(Kind kind, int depth) { return Expression::make(kind, expressions(1, depth - 1)); }

  // "-3" is a number, not the negation of one.
  static Expression negated(const Expression& e) {
    return e.is_constant() && (e.value() > 0 || e.is_constant(0)) ? e : Expression::make(Kind::negate, {e});
  }

  Expression element(int depth) {
    const BufferDeclaration& buffer = random_.among(made_.buffers);
    const bool of_peer = of_peers_ && random_.one_in(2);
    return Expression::make(of_peer ? Kind::element_on : Kind::element,
                            expressions(std::ssize(buffer.shape) + (of_peer ? 1 : 0), depth), buffer.name);
  }

  Expression fold(int depth) {
    const std::string name = "k" + std::to_string(numbers_.size());
    std::vector<Expression> operands = expressions(2, depth);
    numbers_.push_back(name);
    operands.push_back(expression(depth));
    numbers_.pop_back();
    return Expression::make(Kind::fold, std::move(operands), name, random_.among(kOps));
  }

  std::optional<Expression> peer() {
    if (random_.one_in(2)) return std::nullopt;
    return expression(2);
  }

  // Whole dimensions at the end are not written, so they are not made.
  BufferSlice slice() {
    const BufferDeclaration& buffer = random_.among(made_.buffers);
    BufferSlice made{buffer.name, peer(), {}};
    for (Index i = random_.below(std::ssize(buffer.shape) + 1); i > 0; --i) {
      const Index kind = random_.below(i == 1 ? 2 : 3);
      if (kind == 0) made.selections.push_back({Selection::Kind::at, expression(2), 0});
      if (kind == 1) made.selections.push_back({Selection::Kind::range, expression(2), expression(2)});
      if (kind == 2) made.selections.push_back({});
    }
    return made;
  }

  Slot slot() {
    const SignalDeclaration& signal = random_.among(made_.signals);
    return {signal.name, peer(), expressions(std::ssize(signal.shape))};
  }

  Body body(int depth) {
    Body made;
    const auto known = numbers_;
    for (Index i = random_.below(5); i > 0; --i) made.push_back(statement(depth));
    numbers_ = known;
    return made;
  }

  Statement statement(int depth) {
    switch (random_.below(depth == 0 ? 10 : 13)) {
      case 0: return {Comment{random_.one_in(3) ? "" : "  a comment"}};
      case 1: return {let()};
      case 2: return {move()};
      case 3: return {Reduce{slice(), random_.among(kOps), {slice(), slice()}}};
      case 4: return {Fill{slice(), expression(2), {}}};
      case 5: return {Fill{slice(), 0, random_.among(kOps)}};
      case 6: return {Notify{slot(), random_.one_in(2) ? NotifyOp::set : NotifyOp::add, expression(2)}};
      case 7: return {Wait{slot(), random_.one_in(2) ? WaitCompare::equal : WaitCompare::greater_equal, expression(2)}};
      case 8: return random_.one_in(2) ? Statement{Fence{}} : Statement{Require{expression(2), random_.among(kTexts)}};
      case 9: return {composite()};
      case 10: return {If{expression(2), body(depth - 1), body(depth - 1)}};
      default: return {loop(depth)};
    }
  }

  Let let() {
    Let made{fresh(), expression(2)};
    numbers_.push_back(made.name);
    return made;
  }

  DataMove move() {
    const OpCode codes[] = {OpCode::put, OpCode::get, OpCode::copy};
    DataMove made{codes[random_.below(3)], slice(), slice(), {}, random_.one_in(3)};
    if (random_.one_in(3)) made.accumulate = random_.among(kOps);
    return made;
  }

  Composite composite() {
    Composite made{"all_to_all", {}};
    const std::vector<std::string> names = {"input", "signal", "op", "size"};
    for (Index i = random_.below(5); i > 0; --i) {
      const std::string& name = names[static_cast<std::size_t>(i - 1)];
      const Index kind = random_.below(3);
      if (kind == 0) made.arguments.push_back({name, slice()});
      if (kind == 1) made.arguments.push_back({name, expression(3)});
      if (kind == 2) made.arguments.push_back({name, random_.among(kTexts)});
    }
    return made;
  }

  For loop(int depth) {
    For made{fresh(), 0, Expression::variable("P"), random_.one_in(2), {}};
    if (!made.peers) made.from = expression(2);
    if (!made.peers) made.to = expression(2);
    numbers_.push_back(made.variable);
    made.body = body(depth - 1);
    numbers_.pop_back();
    return made;
  }

  std::string fresh() { return "d" + std::to_string(numbers_.size()); }

  Random& random_;
  SymbolicProgram made_;
  std::vector<std::string> numbers_;
  bool elements_ = false;
  bool of_peers_ = false;
};

}  // namespace

SymbolicProgram random_program(Random& random) { return Writer(random).program(); }

}  // namespace reshard
