#include "program/symbolic/parse_statement.h"

#include <algorithm>
#include <iterator>

#include "program/symbolic/parse_expression.h"
#include "program/symbolic/parse_message.h"
#include "program/symbolic/parse_slice.h"
#include "program/symbolic/words.h"

namespace reshard {
namespace {

using TokenKind = ProgramToken::Kind;

Statement parse_statement(ParseState& state);

// Comments in front of what is read next, as statements.
void add_comments(ParseState& state, Body& body) {
  for (std::string& text : state.cursor.take_comments()) body.push_back({Comment{std::move(text)}});
}

// The end of the line, of the block or of the text.
void expect_statement_end(ParseState& state) {
  const TokenCursor& cursor = state.cursor;
  if (!cursor.at(TokenKind::newline) && !cursor.at(TokenKind::end) && !cursor.at("}"))
    cursor.fail_expected("the end of the line", "one statement a line");
}

// Appends one statement and the comments on its lines, which go before it.
void add_statement(ParseState& state, Body& body) {
  add_comments(state, body);
  Statement statement = parse_statement(state);
  expect_statement_end(state);
  add_comments(state, body);
  state.cursor.accept_line_end();
  body.push_back(std::move(statement));
}

Body parse_block(ParseState& state) {
  TokenCursor& cursor = state.cursor;
  const int line = cursor.peek().line;
  const TokenCursor::Nested nested(cursor);
  const ParseState::Block block(state);
  cursor.expect("{");
  Body body;
  cursor.accept_line_end();
  while (!cursor.at("}")) {
    if (cursor.at(TokenKind::end)) cursor.fail_expected(fmt::format("`}}` for the block begun on line {}", line));
    add_statement(state, body);
  }
  add_comments(state, body);
  cursor.next();
  return body;
}

Statement parse_for(ParseState& state) {
  const ProgramToken variable = state.cursor.expect_name("a loop variable");
  state.cursor.expect("in");
  For form{variable.text, 0, Expression::variable("P"), state.cursor.accept("peers"), {}};
  if (!form.peers) {
    form.from = parse_expression(state, kBodyPlace);
    state.cursor.expect("..");
    form.to = parse_expression(state, kBodyPlace);
  }
  const ParseState::Block block(state);
  state.claim_variable(variable);
  form.body = parse_block(state);
  return {std::move(form)};
}

Statement parse_if(ParseState& state) {
  If form{parse_expression(state, kBodyPlace), parse_block(state), {}};
  if (state.cursor.accept("else")) form.otherwise = parse_block(state);
  return {std::move(form)};
}

Statement parse_let(ParseState& state) {
  const ProgramToken name = state.cursor.expect_name("a name");
  state.cursor.expect("=");
  Let form{name.text, parse_expression(state, kBodyPlace)};
  state.claim_variable(name);
  return {std::move(form)};
}

ReduceOp parse_reduce_op(ParseState& state) {
  const auto op = reduce_op_named(state.cursor.peek().text);
  if (!op || !state.cursor.at(TokenKind::name)) state.cursor.fail_expected("sum, avg, min, max or product");
  state.cursor.next();
  return *op;
}

template <OpCode code>
Statement parse_move(ParseState& state) {
  DataMove form{code, parse_slice(state), {}, {}, false};
  state.cursor.expect("<-");
  form.source = parse_slice(state);
  if (state.cursor.accept("accumulate")) form.accumulate = parse_reduce_op(state);
  form.cast = state.cursor.accept("cast");
  return {std::move(form)};
}

Statement parse_reduce(ParseState& state) {
  Reduce form{parse_slice(state), ReduceOp::sum, {}};
  state.cursor.expect("<-");
  form.op = parse_reduce_op(state);
  state.cursor.expect("(");
  do form.terms.push_back(parse_slice(state));
  while (state.cursor.accept(","));
  state.cursor.expect(")");
  return {std::move(form)};
}

Statement parse_fill(ParseState& state) {
  Fill form{parse_slice(state), 0, {}};
  state.cursor.expect("<-");
  if (state.cursor.accept("identity")) {
    state.cursor.expect("(");
    form.identity = parse_reduce_op(state);
    state.cursor.expect(")");
  } else {
    form.value = parse_expression(state, kBodyPlace);
  }
  return {std::move(form)};
}

Statement parse_notify(ParseState& state) {
  Notify form{parse_slot(state), NotifyOp::set, 1};
  if (state.cursor.accept("+=")) {
    form.op = NotifyOp::add;
  } else if (!state.cursor.accept("=")) {
    state.cursor.fail_expected("`=` or `+=`");
  }
  form.value = parse_expression(state, kBodyPlace);
  return {std::move(form)};
}

Statement parse_wait(ParseState& state) {
  Wait form{parse_slot(state), WaitCompare::greater_equal, 1};
  if (state.cursor.accept("==")) {
    form.compare = WaitCompare::equal;
  } else if (!state.cursor.accept(">=")) {
    state.cursor.fail_expected("`==` or `>=`");
  }
  form.value = parse_expression(state, kBodyPlace);
  return {std::move(form)};
}

Statement parse_fence(ParseState&) { return {Fence{}}; }

Statement parse_require(ParseState& state) {
  Expression condition = parse_expression(state, kBodyPlace);
  state.cursor.expect(",", "a require says what is wrong: require n > 0, \"n is {n}\"");
  return {Require{std::move(condition), parse_message(state)}};
}

struct StatementWord {
  std::string_view word;
  Statement (*parse)(ParseState&);
};
constexpr StatementWord kStatements[] = {
    {"for", parse_for},
    {"if", parse_if},
    {"let", parse_let},
    {"put", parse_move<OpCode::put>},
    {"get", parse_move<OpCode::get>},
    {"copy", parse_move<OpCode::copy>},
    {"reduce", parse_reduce},
    {"fill", parse_fill},
    {"notify", parse_notify},
    {"wait", parse_wait},
    {"fence", parse_fence},
    {"require", parse_require},
};

// What people write where a statement should begin.
std::string_view statement_hint(const TokenCursor& cursor) {
  if (cursor.at("else")) return "`else` stands on the line of the `}` before it";
  for (const std::string_view word : {"size", "input", "output", "window", "local", "view", "signal", "init", "expect"})
    if (cursor.at(word)) return "declarations come before the first statement";
  return "for, if, let, put, get, copy, reduce, fill, notify, wait, fence, require, or a composite: "
         "name(argument = ..)";
}

Statement parse_statement(ParseState& state) {
  TokenCursor& cursor = state.cursor;
  const auto* word =
      std::ranges::find_if(kStatements, [&](const StatementWord& entry) { return cursor.at(entry.word); });
  if (word != std::end(kStatements)) {
    cursor.next();
    return word->parse(state);
  }
  if (!cursor.at(TokenKind::name) || is_program_word(cursor.peek().text) || !cursor.at("(", 1))
    cursor.fail_expected("a statement", statement_hint(cursor));
  Composite form{cursor.next().text, {}};
  cursor.next();
  form.arguments = parse_arguments(state);
  return {std::move(form)};
}

}  // namespace

Body parse_statements(ParseState& state) {
  Body body;
  while (!state.cursor.at(TokenKind::end)) add_statement(state, body);
  add_comments(state, body);
  return body;
}

}  // namespace reshard
