#include "program/verify/lowered_text.h"

#include <charconv>

#include "reshard/error.h"
#include "reshard/lower.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

constexpr std::string_view kMark = "statement number ";

// A copy with a comment in front of each statement that holds its number, and without some composites. Comments of the
// program are left out.
class MarkedCopy {
 public:
  explicit MarkedCopy(const std::set<std::size_t>& without) : without_(without) {}

  Body of(const Body& body) {
    Body marked;
    for (const Statement& statement : body) {
      if (std::holds_alternative<Comment>(statement.form)) continue;
      marked.push_back({Comment{std::string(kMark) + std::to_string(++number_)}});
      if (!without_.contains(number_)) marked.push_back(of(statement));
    }
    return marked;
  }

 private:
  Statement of(const Statement& statement) {
    Statement copy = statement;
    if (auto* loop = std::get_if<For>(&copy.form)) loop->body = of(loop->body);
    if (auto* branch = std::get_if<If>(&copy.form)) {
      branch->then = of(branch->then);
      branch->otherwise = of(branch->otherwise);
    }
    return copy;
  }

  const std::set<std::size_t>& without_;
  std::size_t number_ = 0;
};

SymbolicProgram marked(const VerifyText& text, const std::set<std::size_t>& without) {
  SymbolicProgram program = text.program();
  program.body = MarkedCopy(without).of(text.program().body);
  return program;
}

std::set<std::size_t> composites_of(const VerifyText& text) {
  std::set<std::size_t> numbers;
  text.each<Composite>([&](const NumberedStatement& at, const Composite&) { numbers.insert(at.number); });
  return numbers;
}

// Without the quote in front, which the fault has already.
std::string message_of(const Error& error, const Statement& statement) {
  const std::string message = error.what(), quoted = text_of(statement) + ": ";
  return message.starts_with(quoted) ? message.substr(quoted.size()) : message;
}

}  // namespace

std::optional<std::size_t> origin_in(const Comment& comment) {
  if (!comment.text.starts_with(kMark)) return std::nullopt;
  std::size_t number = 0;
  std::from_chars(comment.text.data() + kMark.size(), comment.text.data() + comment.text.size(), number);
  return number;
}

LoweredText lowered(const VerifyText& text, FaultList& faults) {
  const std::set<std::size_t> all = composites_of(text);
  LoweredText result;
  for (const std::size_t number : all) {
    std::set<std::size_t> others = all;
    others.erase(number);
    try {
      if (!faults.has(number)) lower(marked(text, others));
    } catch (const Error& error) {
      faults.add("composite", number, message_of(error, text.statement(number)));
    }
    if (faults.has(number)) result.opaque.insert(number);
  }
  try {
    result.program = lower(marked(text, result.opaque));
  } catch (const Error& error) {
    faults.add("composite", 0, error.what());
    result = {marked(text, all), all};
  }
  for (const NumberedStatement& at : text.statements())
    if (faults.has(at.number)) result.skipped.insert(at.number);
  return result;
}

}  // namespace reshard
