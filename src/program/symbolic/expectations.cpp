// What outputs must hold, in terms of inputs.
#include "base/fail.h"
#include "program/symbolic/arithmetic.h"
#include "program/symbolic/content_rules.h"

namespace reshard {
namespace {

using Kind = Expression::Kind;

class TermBuilder {
 public:
  TermBuilder(InitialElements& elements, Index me) : elements_(elements), me_(me) {}

  Term term(const Expression& e, Scope& scope) {
    switch (e.kind()) {
      case Kind::element: return elements_.place(e.name(), me_, numbers(e.operands(), scope));
      case Kind::element_on:
        return elements_.place(e.name(), number(e.operands()[0], scope), numbers(e.operands().subspan(1), scope));
      case Kind::fold: return folded(e, scope);
      case Kind::pick: return picked(e, scope);
      default: return is_number(e) ? constant(number(e, scope)) : combined(e, scope);
    }
  }

 private:
  static Term constant(Index value) { return {.kind = Term::Kind::constant, .value = value}; }
  // Folded as numbers unless it names inputs outside of indices.
  static bool is_number(const Expression& e) {
    if (e.kind() == Kind::element || e.kind() == Kind::element_on || e.kind() == Kind::fold) return false;
    for (const Expression& operand : e.operands())
      if (!is_number(operand)) return false;
    return true;
  }
  Index number(const Expression& e, const Scope& scope) { return evaluate(e, scope, &elements_); }
  std::vector<Index> numbers(std::span<const Expression> list, const Scope& scope) {
    std::vector<Index> values;
    for (const Expression& e : list) values.push_back(number(e, scope));
    return values;
  }

  Term folded(const Expression& e, Scope& scope) {
    Term fold{.kind = Term::Kind::fold, .op = e.op()};
    const Index to = number(e.operands()[1], scope);
    for (Index i = number(e.operands()[0], scope); i < to; ++i) {
      scope.set(e.name(), i);
      fold.terms.push_back(term(e.operands()[2], scope));
    }
    scope.erase(e.name());
    if (fold.terms.empty()) fail(Code::invalid_argument, "`{}` folds nothing", e.text());
    return fold.terms.size() == 1 ? fold.terms[0] : fold;
  }

  Term picked(const Expression& e, Scope& scope) {
    const Index which = number(e.operands()[0], scope);
    if (which < 0 || which + 1 >= static_cast<Index>(e.operands().size()))
      fail(Code::invalid_argument, "`{}` picks number {} of {}", e.text(), which, e.operands().size() - 1);
    return term(e.operands()[static_cast<std::size_t>(which) + 1], scope);
  }

  Term combined(const Expression& e, Scope& scope) {
    const auto op = e.kind() == Kind::add || e.kind() == Kind::subtract ? ReduceOp::sum
                    : e.kind() == Kind::multiply                        ? ReduceOp::product
                    : e.kind() == Kind::minimum                         ? ReduceOp::min
                                                                        : ReduceOp::max;
    const bool folds = op != ReduceOp::max || e.kind() == Kind::maximum;
    if (!folds || (e.kind() == Kind::subtract && !is_number(e.operands()[1])))
      fail(Code::invalid_argument,
           "`{}`: inputs may be added, multiplied, or taken the min or max of; everything else is for indices and "
           "conditions",
           e.text());
    Term fold{.kind = Term::Kind::fold, .op = op};
    fold.terms.push_back(term(e.operands()[0], scope));
    fold.terms.push_back(e.kind() == Kind::subtract ? constant(-number(e.operands()[1], scope))
                                                    : term(e.operands()[1], scope));
    return fold;
  }

  InitialElements& elements_;
  Index me_;
};

}  // namespace

std::vector<Expectation> expectations(const SymbolicProgram& symbolic, const UnrollOptions& options) {
  const PlacedProgram program(symbolic, options);
  std::vector<Expectation> expected;
  for (Index r = 0; r < options.ranks; ++r) {
    if (options.only && *options.only != RankId(r)) continue;
    InitialElements elements(program, RankId(r));
    TermBuilder builder(elements, r);
    for (const ContentRule& rule : symbolic.expect) {
      each_element(
          program, rule, RankId(r), &elements, [&](const Scope& scope, const PlacedBuffer& buffer, Index offset) {
            Scope names = scope;
            expected.push_back({RankId(r), buffer.window, offset, buffer.dtype, builder.term(rule.value, names)});
          });
    }
  }
  return expected;
}

bool fill_initial(const SymbolicProgram& program, const UnrollOptions& options, RankId rank, int window,
                  std::span<std::byte> bytes) {
  return write_initial(PlacedProgram(program, options), rank, window, bytes);
}

}  // namespace reshard
