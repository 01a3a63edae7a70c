// Who may use a signal.
#include <fmt/format.h>

#include <algorithm>

#include "program/verify/verify_rules.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

const std::string* word_in(const Composite& composite, std::string_view argument) {
  const auto at = std::ranges::find(composite.arguments, argument, &Argument::name);
  return at == composite.arguments.end() ? nullptr : std::get_if<std::string>(&at->value);
}

// As composites read it: their own, or that of the signal.
std::string protocol_of(const VerifyText& text, const Composite& composite, const std::string& signal) {
  if (const std::string* word = word_in(composite, "protocol")) return *word;
  const SignalDeclaration* declared = text.program().signal(signal);
  return std::string(name_of(declared == nullptr ? Protocol::epoch : declared->protocol.value_or(Protocol::epoch)));
}

std::string mode_of(const Composite& composite) {
  if (composite.name != "all_reduce") return "mesh";
  const std::string* word = word_in(composite, "mode");
  return word == nullptr ? "mesh" : *word;
}

}  // namespace

// Composites that go back to where they started leave a signal to others; those that count rounds do not.
void find_shared_owners(const VerifyText& text, FaultList& faults) {
  std::map<std::string, const Statement*> by_hand;
  for (const NumberedStatement& at : text.statements())
    if (const Slot* slot = slot_of(*at.statement)) by_hand.emplace(slot->signal, at.statement);
  text.each<Composite>([&](const NumberedStatement& at, const Composite& composite) {
    const std::string* signal = signal_of(composite);
    if (signal == nullptr || !by_hand.contains(*signal)) return;
    const std::string protocol = protocol_of(text, composite, *signal);
    if (protocol != name_of(Protocol::epoch) && protocol != name_of(Protocol::parity)) return;
    faults.add("owner", at.number,
               fmt::format("{} counts all rounds on signal {}, and `{}` changes or awaits it by hand; give one of them "
                           "a signal of its own",
                           composite.name, *signal, text_of(*by_hand.at(*signal))));
  });
}

void find_protocols(const VerifyText& text, FaultList& faults) {
  std::map<std::string, const Composite*> first;
  text.each<Composite>([&](const NumberedStatement& at, const Composite& composite) {
    const std::string* signal = signal_of(composite);
    if (signal == nullptr) return;
    const Composite& other = *first.emplace(*signal, &composite).first->second;
    const std::string mine = protocol_of(text, composite, *signal), theirs = protocol_of(text, other, *signal);
    if (mine != theirs)
      faults.add("protocols", at.number,
                 fmt::format("{} uses signal {} by {}, and {} by {}; give each a signal of its own", composite.name,
                             *signal, mine, other.name, theirs));
    else if (mode_of(composite) != mode_of(other) && (mode_of(composite) == "ring" || mode_of(other) == "ring"))
      faults.add("protocols", at.number,
                 fmt::format("{} uses signal {} as a {}, and {} as a {}; give each a signal of its own", composite.name,
                             *signal, mode_of(composite), other.name, mode_of(other)));
  });
}

}  // namespace reshard
