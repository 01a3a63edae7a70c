// Every builtin without one of its fences, waits, notifications or rounds is caught, by verify or by check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

#include "reshard/check.h"
#include "reshard/lower.h"
#include "reshard/program_text.h"
#include "reshard/program_verify.h"

namespace reshard {
namespace {

struct Mutant {
  std::string removed;  // as text
  SymbolicProgram program;
};

bool is_notify(const Statement& statement) { return std::holds_alternative<Notify>(statement.form); }
bool is_wait(const Statement& statement) { return std::holds_alternative<Wait>(statement.form); }

// The one statement of a loop, or the statement itself: what `for p in peers { notify .. }` does.
const Statement& core(const Statement& statement) {
  const auto* loop = std::get_if<For>(&statement.form);
  return loop != nullptr && loop->body.size() == 1 ? core(loop->body[0]) : statement;
}

bool is_removable(const Statement& statement) {
  const Statement& inner = core(statement);
  return is_notify(inner) || is_wait(inner) || std::holds_alternative<Fence>(inner.form);
}

bool is_round(const Body& body, std::size_t at) {
  return at + 1 < body.size() && is_notify(core(body[at])) && is_wait(core(body[at + 1]));
}

// Calls `found` for every way to remove one thing from the body or a body inside it; the program is whole again after.
void each_removal(Body& body, const std::function<void(const std::string&)>& found) {
  const auto without = [&](std::size_t at, std::size_t count) {
    const Body kept = body;
    std::string text;
    for (std::size_t i = at; i < at + count; ++i) text += text_of(body[i]);
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(at), body.begin() + static_cast<std::ptrdiff_t>(at + count));
    found(text);
    body = kept;
  };
  for (std::size_t at = 0; at < body.size(); ++at) {
    if (is_removable(body[at])) {
      without(at, 1);
      if (is_round(body, at)) without(at, 2);
      continue;
    }
    if (auto* loop = std::get_if<For>(&body[at].form)) each_removal(loop->body, found);
    if (auto* condition = std::get_if<If>(&body[at].form)) {
      each_removal(condition->then, found);
      each_removal(condition->otherwise, found);
    }
  }
}

std::vector<Mutant> mutants_of(const SymbolicProgram& program) {
  std::vector<Mutant> mutants;
  SymbolicProgram changed = program;
  each_removal(changed.body, [&](const std::string& removed) { mutants.push_back({removed, changed}); });
  return mutants;
}

bool is_caught(const SymbolicProgram& program) {
  for (const Index ranks : {2, 3})
    if (!check(program, {.ranks = ranks, .calls = 3, .suggest = false}).passed) return true;
  return !verify(program).empty();
}

std::vector<std::string> builtins() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(RESHARD_BUILTINS))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

SymbolicProgram builtin(const std::string& file) {
  std::ifstream stream(std::filesystem::path(RESHARD_BUILTINS) / file);
  std::stringstream text;
  text << stream.rdbuf();
  return parse_program(text.str(), file);
}

class Builtin : public testing::TestWithParam<std::string> {};

TEST_P(Builtin, HoldsAtUpToFourRanks) {
  for (Index ranks = 1; ranks <= 4; ++ranks) {
    if (GetParam().starts_with("redistribute") && ranks < 2) continue;  // its layouts are for two
    const CheckReport report = check(builtin(GetParam()), {.ranks = ranks, .calls = 3});
    EXPECT_TRUE(report.passed && !report.bounded) << ranks << " ranks\n" << report.text();
  }
  EXPECT_THAT(verify(builtin(GetParam()), {.ranks = {2, 3, 4}}), testing::IsEmpty());
}

TEST_P(Builtin, MutantsAreCaught) {
  const std::vector<Mutant> mutants = mutants_of(lower(builtin(GetParam())));
  EXPECT_GE(mutants.size(), 3u);
  std::size_t survivors = 0;
  for (const Mutant& mutant : mutants) {
    if (is_caught(mutant.program)) continue;
    ++survivors;
    ADD_FAILURE() << "survives without\n" << mutant.removed << "in\n" << text_of(mutant.program);
  }
  std::cout << "mutants " << mutants.size() << " survivors " << survivors << "\n";
}

INSTANTIATE_TEST_SUITE_P(Builtins, Builtin, testing::ValuesIn(builtins()),
                         [](const testing::TestParamInfo<std::string>& file) {
                           std::string name = file.param.substr(0, file.param.rfind('.'));
                           std::ranges::replace_if(
                               name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace reshard
