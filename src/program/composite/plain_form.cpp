#include "program/composite/plain_form.h"

#include <algorithm>
#include <map>
#include <set>

#include "program/composite/names_in_use.h"
#include "program/composite/rename.h"

namespace reshard {
namespace {

bool skips_me(const Expression& condition, const std::string& variable) {
  if (condition.kind() != Expression::Kind::not_equal) return false;
  const Expression v = Expression::variable(variable), me = Expression::variable("me");
  const auto sides = condition.operands();
  return (sides[0] == v && sides[1] == me) || (sides[0] == me && sides[1] == v);
}

bool is_all_ranks(const For& loop) {
  return !loop.peers && loop.from.is_constant(0) && loop.to == Expression::variable("P");
}

// for v in 0..P { if v != me { .. } }
void see_peers(For& loop) {
  if (!is_all_ranks(loop) || loop.body.size() != 1) return;
  auto* branch = std::get_if<If>(&loop.body[0].form);
  if (branch == nullptr || !branch->otherwise.empty() || !skips_me(branch->condition, loop.variable)) return;
  Body body = std::move(branch->then);
  loop.body = std::move(body);
  loop.peers = true;
}

std::string variable_for(const For& loop, const std::set<std::string>& taken) {
  const std::string wanted = loop.peers ? "p" : is_all_ranks(loop) ? "r" : "i";
  std::string name = wanted;
  for (int number = 2; taken.contains(name); ++number) name = wanted + std::to_string(number);
  return name;
}

void simplify(Body& body, std::set<std::string> taken) {
  std::erase_if(body, [](const Statement& s) { return std::holds_alternative<Comment>(s.form); });
  for (Statement& statement : body) {
    if (auto* branch = std::get_if<If>(&statement.form)) {
      simplify(branch->then, taken);
      simplify(branch->otherwise, taken);
    }
    auto* loop = std::get_if<For>(&statement.form);
    if (loop == nullptr) continue;
    std::erase_if(loop->body, [](const Statement& s) { return std::holds_alternative<Comment>(s.form); });
    see_peers(*loop);
    const std::string name = variable_for(*loop, taken), before = loop->variable;
    rename_body(loop->body, [&](const std::string& n) { return n == before ? name : n; });
    loop->variable = name;
    std::set<std::string> inside = taken;
    inside.insert(name);
    simplify(loop->body, inside);
  }
}

// Every name in the order of its first use, whatever it names.
class UseOrder {
 public:
  explicit UseOrder(SymbolicProgram program) {
    const Renaming note = [this](const std::string& name) {
      if (seen_.insert(name).second) order_.push_back(name);
      return name;
    };
    rename_body(program.body, note);
    // Views are declared behind what they view.
    for (auto buffer = program.buffers.rbegin(); buffer != program.buffers.rend(); ++buffer)
      if (seen_.contains(buffer->name) && !buffer->viewed.empty()) note(buffer->viewed);
    for (const BufferDeclaration& buffer : program.buffers)
      if (seen_.contains(buffer.name)) note_all(buffer.shape, note);
    for (const SignalDeclaration& signal : program.signals)
      if (seen_.contains(signal.name)) note_all(signal.shape, note);
  }
  const std::vector<std::string>& order() const { return order_; }
  bool has(const std::string& name) const { return seen_.contains(name); }
  auto place(const std::string& name) const { return std::ranges::find(order_, name) - order_.begin(); }

 private:
  static void note_all(const std::vector<Expression>& expressions, const Renaming& note) {
    for (const Expression& expression : expressions) renamed(expression, note);
  }
  std::set<std::string> seen_;
  std::vector<std::string> order_;
};

template <class Declaration>
void keep_used(std::vector<Declaration>& declarations, const UseOrder& uses) {
  std::erase_if(declarations, [&](const Declaration& d) { return !uses.has(d.name); });
  for (Declaration& declaration : declarations) declaration.comments.clear();
  std::ranges::stable_sort(declarations, {}, [&](const Declaration& d) { return uses.place(d.name); });
}

void add_lets(const Body& body, std::vector<std::string>& lets) {
  for (const Statement& statement : body) {
    if (const auto* let = std::get_if<Let>(&statement.form)) lets.push_back(let->name);
    if (const auto* loop = std::get_if<For>(&statement.form)) add_lets(loop->body, lets);
    if (const auto* branch = std::get_if<If>(&statement.form)) {
      add_lets(branch->then, lets);
      add_lets(branch->otherwise, lets);
    }
  }
}

void match(const std::vector<std::string>& left, const std::vector<std::string>& right,
           std::map<std::string, std::string>& names) {
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) names[right[i]] = left[i];
}

}  // namespace

std::set<std::string> names_but_loops(const SymbolicProgram& program) {
  SymbolicProgram declared = program;
  declared.body.clear();
  std::set<std::string> names = names_in_use(declared);
  std::vector<std::string> lets;
  add_lets(program.body, lets);
  names.insert(lets.begin(), lets.end());
  return names;
}

SymbolicProgram plain_form(const SymbolicProgram& lowered, const std::set<std::string>& taken) {
  SymbolicProgram plain = lowered;
  plain.name = "compared";
  plain.init.clear();
  plain.expect.clear();
  plain.comments.clear();
  simplify(plain.body, taken);
  const UseOrder uses(plain);
  keep_used(plain.sizes, uses);
  keep_used(plain.buffers, uses);
  keep_used(plain.signals, uses);
  // Views stay behind what they view: both have the role of the allocation, and the view is used first or alone.
  std::ranges::stable_sort(plain.buffers, {},
                           [](const BufferDeclaration& b) { return std::pair(b.role, !b.viewed.empty()); });
  return plain;
}

NamesByUse names_by_use(const SymbolicProgram& program) {
  NamesByUse names;
  const UseOrder uses(program);
  for (const std::string& name : uses.order()) {
    if (const BufferDeclaration* buffer = program.buffer(name))
      names.buffers[static_cast<std::size_t>(buffer->role)].push_back(name);
    if (program.signal(name) != nullptr) names.signals.push_back(name);
    if (std::ranges::find(program.sizes, name, &SizeDeclaration::name) != program.sizes.end())
      names.sizes.push_back(name);
  }
  add_lets(program.body, names.lets);
  return names;
}

SymbolicProgram with_names_of(const SymbolicProgram& left, const SymbolicProgram& right) {
  const NamesByUse theirs = names_by_use(left), own = names_by_use(right);
  std::map<std::string, std::string> names;
  match(theirs.sizes, own.sizes, names);
  for (std::size_t role = 0; role < std::size(own.buffers); ++role)
    match(theirs.buffers[role], own.buffers[role], names);
  match(theirs.signals, own.signals, names);
  match(theirs.lets, own.lets, names);
  std::set<std::string> taken = names_but_loops(left);
  for (const std::string& name : names_but_loops(right)) {
    if (names.contains(name)) continue;
    std::string other = name;
    for (int number = 2; taken.contains(other); ++number) other = name + std::to_string(number);
    taken.insert(other);
    names[name] = other;
  }
  SymbolicProgram result = right;
  rename_program(result, [&](const std::string& name) {
    const auto at = names.find(name);
    return at == names.end() ? name : at->second;
  });
  return result;
}

}  // namespace reshard
