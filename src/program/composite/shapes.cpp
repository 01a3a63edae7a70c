#include "program/composite/shapes.h"

#include <algorithm>
#include <optional>

#include "reshard/error.h"

namespace reshard {
namespace {

constexpr Index kMostRanksTried = 64;

Scope scope_for(const SymbolicProgram& program, Index ranks) {
  Scope scope;
  for (const SizeDeclaration& size : program.sizes) scope.set(size.name, size.value);
  scope.set("P", ranks);
  return scope;
}

std::optional<Index> value_of(const Expression& expression, const Scope& scope) {
  try {
    return evaluate(expression, scope);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// In the dimensions that both have.
bool agree(const std::vector<Expression>& a, const std::vector<Expression>& b, const Scope& scope) {
  for (std::size_t d = 0; d < std::min(a.size(), b.size()); ++d) {
    const auto left = value_of(a[d], scope);
    const auto right = value_of(b[d], scope);
    if (left && right && left != right) return false;
  }
  return true;
}

}  // namespace

bool may_agree(const SymbolicProgram& program, const std::vector<Expression>& a, const std::vector<Expression>& b) {
  if (a == b) return true;
  for (Index ranks = 1; ranks <= kMostRanksTried && a.size() == b.size(); ++ranks)
    if (agree(a, b, scope_for(program, ranks))) return true;
  return false;
}

bool always_agree(const SymbolicProgram& program, const std::vector<Expression>& a, const std::vector<Expression>& b) {
  for (Index ranks = 1; ranks <= kMostRanksTried; ++ranks)
    if (!agree(a, b, scope_for(program, ranks))) return false;
  return a.size() == b.size();
}

std::vector<Index> shape_on(const SymbolicProgram& program, const std::vector<Expression>& shape, RankId rank,
                            Index ranks) {
  Scope scope = scope_for(program, ranks);
  scope.set("me", rank.value());
  std::vector<Index> extents;
  for (const Expression& extent : shape) extents.push_back(evaluate(extent, scope));
  return extents;
}

std::string shape_text(const std::vector<Expression>& shape) {
  std::string text;
  for (const Expression& extent : shape) text += (text.empty() ? "" : ", ") + extent.text();
  return "[" + text + "]";
}

std::string allocation_of(const SymbolicProgram& program, const std::string& name) {
  std::string at = name;
  for (const BufferDeclaration* buffer = program.buffer(at); buffer != nullptr && !buffer->viewed.empty();
       buffer = program.buffer(at))
    at = buffer->viewed;
  return at;
}

}  // namespace reshard
