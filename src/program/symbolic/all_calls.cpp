// One set of lists for all calls.
#include <numeric>

#include "program/symbolic/operands.h"
#include "program/symbolic/placed.h"
#include "program/symbolic/quote.h"
#include "program/symbolic/statement_reads.h"

namespace reshard {
namespace {

using Kind = Expression::Kind;
constexpr Index kLongestPeriod = 64;

bool mentions_call(const Expression& e) {
  if (e.kind() == Kind::variable) return e.name() == "call";
  for (const Expression& operand : e.operands())
    if (mentions_call(operand)) return true;
  return false;
}

// How programs use `call`: collects the period of `call % k`; `fits` until another use is found.
class CallUses {
 public:
  explicit CallUses(const Scope& sizes) : sizes_(sizes) {}
  Index period() const { return period_; }
  bool fits() const { return fits_; }

  void add(const Body& body, bool deferred) {
    for (const Statement& statement : body) {
      const bool later = deferred || depends_on_memory(statement);
      // Names stand for what they were given, which is not looked into.
      const bool may_grow = !later && is_signal(statement);
      each_operand(statement,
                   [&](const Expression& operand) { add(operand, may_grow && is_value(statement, operand)); });
      if (const auto* require = std::get_if<Require>(&statement.form))
        for (const Expression& told : values_in(require->message)) add(told, false);
      if (const auto* loop = std::get_if<For>(&statement.form)) add(loop->body, later);
      if (const auto* condition = std::get_if<If>(&statement.form)) {
        add(condition->then, later);
        add(condition->otherwise, later);
      }
      if (std::holds_alternative<Let>(statement.form) && later) deferred = true;
    }
  }

 private:
  static bool is_signal(const Statement& statement) {
    return std::holds_alternative<Notify>(statement.form) || std::holds_alternative<Wait>(statement.form);
  }
  static bool is_value(const Statement& statement, const Expression& operand) {
    const auto* notify = std::get_if<Notify>(&statement.form);
    const auto* wait = std::get_if<Wait>(&statement.form);
    return notify != nullptr ? &operand == &notify->value : wait != nullptr && &operand == &wait->value;
  }

  void add(const Expression& e, bool may_grow) {
    if (!mentions_call(e) || add_remainder(e)) return;
    if (e.kind() == Kind::variable) fits_ = fits_ && may_grow;
    const bool sums = e.kind() == Kind::add || e.kind() == Kind::subtract || e.kind() == Kind::negate;
    const bool scales =
        e.kind() == Kind::multiply && !(mentions_call(e.operands()[0]) && mentions_call(e.operands()[1]));
    for (const Expression& operand : e.operands()) add(operand, may_grow && (sums || scales));
  }

  // `(call + constant) % k`.
  bool add_remainder(const Expression& e) {
    if (e.kind() != Kind::modulo) return false;
    const Expression &value = e.operands()[0], &by = e.operands()[1];
    const bool shifted = (value.kind() == Kind::add || value.kind() == Kind::subtract) &&
                         value.operands()[0].kind() == Kind::variable && !mentions_call(value.operands()[1]);
    if (!(shifted || value.kind() == Kind::variable)) return false;
    Index k = 0;
    try {
      k = evaluate(by, sizes_);
    } catch (const Error&) {
      return false;
    }
    if (k < 1 || k > kLongestPeriod) return false;
    period_ = std::lcm(period_, k);
    if (period_ > kLongestPeriod) fits_ = false;
    return true;
  }

  const Scope& sizes_;
  Index period_ = 1;
  bool fits_ = true;
};

// Makes `first` serve every call that is `period` after another, given the program of the next one; false where values
// do not grow evenly.
bool make_grow(Program& first, const Program& next, Index call, Index period) {
  for (std::size_t r = 0; r < first.operations.size(); ++r) {
    if (first.operations[r].size() != next.operations[r].size()) return false;
    for (std::size_t i = 0; i < first.operations[r].size(); ++i) {
      Operation& operation = first.operations[r][i];
      const std::uint64_t grown = next.operations[r][i].value - operation.value;
      const auto per_period = static_cast<Index>(grown);
      if (per_period % period != 0) return false;
      operation.per_run = static_cast<std::uint64_t>(per_period / period);
      operation.value -= static_cast<std::uint64_t>(call - 1) * operation.per_run;
    }
  }
  return true;
}

}  // namespace

std::vector<Program> unroll_all_calls(const SymbolicProgram& program, const UnrollOptions& options) {
  UnrollOptions at = options;
  at.call = 1;
  // Divisors that differ from rank to rank, or from call to call, give no period.
  Scope sizes = PlacedProgram(program, at).scope_of(RankId(0));
  sizes.erase("me");
  sizes.erase("call");
  CallUses uses(sizes);
  uses.add(program.body, false);
  if (!uses.fits()) return {};
  std::vector<Program> programs;
  for (Index call = 1; call <= uses.period(); ++call) {
    at.call = call;
    programs.push_back(unroll(program, at));
    at.call = call + uses.period();
    if (!make_grow(programs.back(), unroll(program, at), call, uses.period())) return {};
  }
  return programs;
}

}  // namespace reshard
