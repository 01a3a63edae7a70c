#include <optional>

#include "program/composite/numbering.h"
#include "program/composite/shapes.h"
#include "program/composite/table.h"

namespace reshard {
namespace {

// What uses one signal, quoted.
struct SignalUsers {
  std::optional<Composite> growing;
  std::optional<Composite> credits;
  std::optional<Statement> by_hand;
};

class SignalUserList {
 public:
  explicit SignalUserList(const SymbolicProgram& program) : program_(program) { walk(program.body, false); }

  void check() const {
    for (const auto& [signal, users] : users_) {
      if (!users.growing) continue;
      if (users.credits)
        fail(Code::invalid_argument, "signal {} only grows in {} and goes back in {}; give each a signal of its own",
             signal, text_of(Statement{*users.growing}), text_of(Statement{*users.credits}));
      if (users.by_hand)
        fail(Code::invalid_argument,
             "signal {}: {} numbers all its rounds, and knows nothing of `{}`; use another signal, or the protocol "
             "credits-2",
             signal, text_of(Statement{*users.growing}), text_of(*users.by_hand));
    }
  }

 private:
  void walk(const Body& body, bool in_loop) {
    for (const Statement& statement : body) {
      if (const auto* composite = std::get_if<Composite>(&statement.form)) add(*composite, in_loop);
      if (const auto* notify = std::get_if<Notify>(&statement.form)) users_[notify->slot.signal].by_hand = statement;
      if (const auto* wait = std::get_if<Wait>(&statement.form)) users_[wait->slot.signal].by_hand = statement;
      if (const auto* loop = std::get_if<For>(&statement.form)) walk(loop->body, true);
      if (const auto* branch = std::get_if<If>(&statement.form)) {
        walk(branch->then, in_loop);
        walk(branch->otherwise, in_loop);
      }
    }
  }

  void add(const Composite& composite, bool in_loop) {
    CompositeArguments arguments(program_, composite);
    checked_kind(arguments);
    SignalUsers& users = users_[arguments.signal().name];
    const Protocol protocol = arguments.protocol();
    (only_grows(protocol) ? users.growing : users.credits) = composite;
    if (protocol == Protocol::parity && arguments.has("target")) add_turns(arguments, composite, in_loop);
  }

  // Halves take turns from call to call, so one call may use a window once.
  void add_turns(CompositeArguments& arguments, const Composite& composite, bool in_loop) {
    if (in_loop)
      arguments.refuse("of the parity protocol it cannot stand in a loop: its halves take turns call by call");
    const CompositeOperand target = arguments.operand("target", OperandUse::read);
    const auto [at, added] = halves_.emplace(allocation_of(program_, target.buffer()), composite);
    if (!added)
      arguments.refuse("{} takes turns with the same halves; give each its own target", text_of(Statement{at->second}));
  }

  const SymbolicProgram& program_;
  std::map<std::string, SignalUsers> users_;
  std::map<std::string, Composite> halves_;  // by allocation
};

}  // namespace

void check_signal_users(const SymbolicProgram& program) { SignalUserList(program).check(); }

}  // namespace reshard
