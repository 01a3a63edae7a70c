#include <algorithm>
#include <map>

#include "program/simulate/calls.h"

namespace reshard::simulation {
namespace {

bool mentions_call(const Expression& expression) {
  if (expression.kind() == Expression::Kind::variable && expression.name() == "call") return true;
  return std::ranges::any_of(expression.operands(), mentions_call);
}

bool reads_inputs(const Expression& expression) {
  using Kind = Expression::Kind;
  if (expression.kind() == Kind::element || expression.kind() == Kind::element_on) return true;
  return std::ranges::any_of(expression.operands(), reads_inputs);
}

// Whether which inputs it names depends on what inputs hold.
bool chooses_by_inputs(const Expression& expression) {
  using Kind = Expression::Kind;
  const auto operands = expression.operands();
  const bool is_element = expression.kind() == Kind::element || expression.kind() == Kind::element_on;
  const std::size_t choosing = is_element                        ? operands.size()
                               : expression.kind() == Kind::fold ? 2
                               : expression.kind() == Kind::pick ? 1
                                                                 : 0;
  return std::ranges::any_of(operands.first(choosing), reads_inputs) ||
         std::ranges::any_of(operands, chooses_by_inputs);
}

// Whether every call expects the same, in terms of its inputs.
bool are_steady(const std::vector<ContentRule>& rules) {
  return std::ranges::none_of(rules, [](const ContentRule& rule) {
    return mentions_call(rule.value) || mentions_call(rule.where) || reads_inputs(rule.where) ||
           chooses_by_inputs(rule.value);
  });
}

class SymbolicCalls final : public Calls {
 public:
  SymbolicCalls(const SymbolicProgram& program, const UnrollOptions& options)
      : symbolic_(program), options_(options), same_expect_(are_steady(program.expect)) {
    options_.only.reset();
    for (const BufferDeclaration& buffer : program.buffers)
      if (buffer.viewed.empty()) roles_.push_back(buffer.role);
    for (Program& served : unroll_all_calls(program, options_))
      all_calls_.push_back(std::make_shared<const Program>(std::move(served)));
  }

  CallProgram program(Index call) override {
    const auto number = static_cast<std::size_t>(call - 1);
    if (!all_calls_.empty()) return {all_calls_[number % all_calls_.size()], static_cast<std::uint64_t>(number)};
    auto& unrolled = unrolled_[call];
    if (!unrolled) unrolled = std::make_shared<const Program>(unroll(symbolic_, at(call)));
    return {unrolled, 0};
  }

  std::shared_ptr<const ExpectationsOfRank> expect(Index call) override {
    auto& expected = expected_[same_expect_ ? 1 : call];
    if (!expected)
      expected = std::make_shared<const ExpectationsOfRank>(by_rank(expectations(symbolic_, at(call)), options_.ranks));
    return expected;
  }

  bool fill(Index call, RankId rank, int window, std::span<std::byte> bytes) override {
    // The hidden buffers of casts come behind the declared ones.
    const auto number = static_cast<std::size_t>(window);
    if (number >= roles_.size() || (call > 1 && roles_[number] != BufferRole::input)) return false;
    return fill_initial(symbolic_, at(call), rank, window, bytes);
  }

  void retire(Index call) override {
    unrolled_.erase(call);
    if (!same_expect_) expected_.erase(call);
  }

 private:
  const UnrollOptions& at(Index call) {
    options_.call = call;
    return options_;
  }
  const SymbolicProgram& symbolic_;
  UnrollOptions options_;
  bool same_expect_;
  std::vector<BufferRole> roles_;
  std::vector<std::shared_ptr<const Program>> all_calls_;
  std::map<Index, std::shared_ptr<const Program>> unrolled_;
  std::map<Index, std::shared_ptr<const ExpectationsOfRank>> expected_;
};

}  // namespace

std::unique_ptr<Calls> calls_of(const SymbolicProgram& program, const UnrollOptions& options) {
  return std::make_unique<SymbolicCalls>(program, options);
}

}  // namespace reshard::simulation
