// What is never used, never reached, or reached by some ranks only.
#include <fmt/format.h>

#include <algorithm>

#include "program/symbolic/operands.h"
#include "program/symbolic/quote.h"
#include "program/verify/verify_rules.h"
#include "reshard/error.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

// Numbers of ranks for which a block must be empty to be called unreachable, past the largest number in its bounds.
constexpr Index kMostRanksWalked = 16;
// Nothing is said about bounds with larger ones.
constexpr Index kLargestNumber = 256;

// Buffers of the body and of what must hold, through views.
class UsedBuffers {
 public:
  explicit UsedBuffers(const VerifyText& text) : program_(text.program()) {
    for (const NumberedStatement& at : text.statements()) {
      for (const SliceUse& use : slices_of(*at.statement)) add(use.slice->buffer, use.written);
      each_operand(*at.statement, [&](const Expression& operand) { add(operand); });
      if (const auto* require = std::get_if<Require>(&at.statement->form))
        for (const Expression& told : values_in(require->message)) add(told);
    }
    for (const ContentRule& rule : program_.expect) {
      add(rule.buffer, false);
      add(rule.value);
    }
  }
  bool uses(const std::string& name) const { return used_.contains(name); }
  bool writes(const std::string& name) const { return written_.contains(name); }

 private:
  void add(const std::string& name, bool written) {
    used_.insert(name);
    if (written) written_.insert(name);
    const BufferDeclaration* buffer = program_.buffer(name);
    if (buffer != nullptr && !buffer->viewed.empty() && buffer->viewed != name) add(buffer->viewed, written);
  }
  void add(const Expression& expression) {
    each_part(expression, [&](const Expression& part) {
      if (part.kind() == Expression::Kind::element || part.kind() == Expression::Kind::element_on)
        add(part.name(), false);
    });
  }

  const SymbolicProgram& program_;
  std::set<std::string> used_;
  std::set<std::string> written_;
};

bool is_of_ranks(const Expression& expression) {
  bool only = true;
  each_part(expression, [&](const Expression& part) {
    const bool named = part.kind() == Expression::Kind::variable && part.name() != "me" && part.name() != "P";
    only = only && !named && part.kind() != Expression::Kind::element;
  });
  return only;
}

Index largest_number(const Expression& expression) {
  Index largest = 0;
  each_part(expression, [&](const Expression& part) {
    if (part.is_constant()) largest = std::max(largest, part.value());
  });
  return largest;
}

// Whether a condition over me and P is true for every rank of every number of ranks tried.
bool always(const Expression& condition) {
  const Index largest = largest_number(condition);
  if (!is_of_ranks(condition) || largest > kLargestNumber) return false;
  Scope scope;
  for (Index ranks = 1; ranks <= largest + kMostRanksWalked; ++ranks) {
    scope.set("P", ranks);
    for (Index me = 0; me < ranks; ++me) {
      scope.set("me", me);
      try {
        if (evaluate(condition, scope) == 0) return false;
      } catch (const Error&) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

void find_unused(const VerifyText& text, FaultList& faults) {
  if (faults.has("names", 0)) return;
  const UsedBuffers used(text);
  for (const BufferDeclaration& buffer : text.program().buffers) {
    const std::string kind = buffer.viewed.empty() ? std::string(name_of(buffer.role)) : "view";
    if (!used.uses(buffer.name))
      faults.add("unused", 0, fmt::format("{} {} is never used; drop it", kind, buffer.name));
    else if (buffer.viewed.empty() && buffer.role == BufferRole::output && !used.writes(buffer.name))
      faults.add("unused", 0, fmt::format("output {} is never written; write it, or drop it", buffer.name));
  }
}

void find_one_sided_signals(const VerifyText& text, FaultList& faults) {
  std::set<std::string> notified, awaited;
  text.each<Notify>([&](const NumberedStatement&, const Notify& notify) { notified.insert(notify.slot.signal); });
  text.each<Wait>([&](const NumberedStatement&, const Wait& wait) { awaited.insert(wait.slot.signal); });
  text.each<Composite>([&](const NumberedStatement&, const Composite& composite) {
    if (const std::string* signal = signal_of(composite)) {
      notified.insert(*signal);
      awaited.insert(*signal);
    }
  });
  for (const SignalDeclaration& signal : text.program().signals) {
    const bool sent = notified.contains(signal.name), taken = awaited.contains(signal.name);
    if (!sent && !taken)
      faults.add("signals", 0, fmt::format("signal {} is never used; drop it", signal.name));
    else if (!taken)
      faults.add(
          "signals", 0,
          fmt::format("signal {} is notified, and nobody waits for it; wait before what it announces is used, or "
                      "drop it",
                      signal.name));
    else if (!sent)
      faults.add("signals", 0, fmt::format("signal {} is awaited, and nobody notifies it; notify it", signal.name));
  }
}

void find_unreachable(const VerifyText& text, FaultList& faults) {
  text.each<For>([&](const NumberedStatement& at, const For& loop) {
    if (!loop.peers && always(loop.from >= loop.to))
      faults.add("unreachable", at.number,
                 fmt::format("{}..{} is empty on every rank of every P; a range goes up, and ends before its second "
                             "bound",
                             loop.from.text(), loop.to.text()));
  });
  text.each<If>([&](const NumberedStatement& at, const If& branch) {
    if (always(!branch.condition))
      faults.add("unreachable", at.number, "the condition holds on no rank of any P; drop the block, or correct it");
    else if (!branch.otherwise.empty() && always(branch.condition))
      faults.add("unreachable", at.number,
                 "the condition holds on every rank of every P, so `else` is never reached; drop it, or correct it");
  });
}

void find_divergent(const VerifyText& text, FaultList& faults) {
  text.each<Composite>([&](const NumberedStatement& at, const Composite& composite) {
    if (!at.divergence.empty())
      faults.add("divergent", at.number,
                 fmt::format("all ranks must take part in {}, and `{}` may differ from rank to rank; move it out",
                             composite.name, at.divergence));
  });
}

}  // namespace reshard
