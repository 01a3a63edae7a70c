// Reads the head and the declarations of a program.
#include <algorithm>
#include <iterator>
#include <limits>

#include "program/symbolic/parse_expression.h"
#include "program/symbolic/parse_statement.h"
#include "program/symbolic/words.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

using TokenKind = ProgramToken::Kind;

ProgramToken parse_new_name(ParseState& state) {
  const ProgramToken name = state.cursor.expect_name("a name");
  state.claim_declaration(name);
  return name;
}

// Each appends one declaration and returns its comments, which are not read yet.
Comments& parse_size(ParseState& state) {
  const ProgramToken name = parse_new_name(state);
  state.cursor.expect("=");
  const ProgramToken start = state.cursor.peek();
  const Expression value = parse_expression(state, kShapePlace);
  if (!value.is_constant()) state.cursor.fail_at(start, fmt::format("expected a number, found `{}`", value.text()));
  return state.program().sizes.emplace_back(SizeDeclaration{name.text, value.value()}).comments;
}

std::vector<Expression> parse_shape(ParseState& state) {
  state.cursor.expect("[");
  return parse_indices(state, kShapePlace);
}

BufferDeclaration parse_typed(ParseState& state, BufferRole role) {
  BufferDeclaration buffer{role, parse_new_name(state).text};
  state.cursor.expect(":");
  const auto dtype = dtype_named(state.cursor.peek().text);
  if (!state.cursor.at(TokenKind::name) || !dtype) state.cursor.fail_expected("a dtype", "such as f32, bf16 or i64");
  state.cursor.next();
  buffer.dtype = *dtype;
  buffer.shape = parse_shape(state);
  return buffer;
}

template <BufferRole role>
Comments& parse_buffer(ParseState& state) {
  return state.program().buffers.emplace_back(parse_typed(state, role)).comments;
}

Comments& parse_view(ParseState& state) {
  BufferDeclaration buffer = parse_typed(state, BufferRole::window);
  state.cursor.expect("of");
  const ProgramToken viewed = state.cursor.expect_name("a buffer");
  buffer.role = state.require_buffer(viewed).role;
  buffer.viewed = viewed.text;
  if (state.cursor.accept("at")) buffer.offset_bytes = parse_expression(state, kShapePlace);
  return state.program().buffers.emplace_back(std::move(buffer)).comments;
}

std::optional<Protocol> accept_protocol(TokenCursor& cursor) {
  if (cursor.accept("epoch")) return Protocol::epoch;
  if (cursor.accept("parity")) return Protocol::parity;
  if (!cursor.accept("credits")) return std::nullopt;
  cursor.expect("-");
  if (cursor.at(TokenKind::integer) && cursor.peek().magnitude == 1) return cursor.next(), Protocol::credits_1;
  if (cursor.at(TokenKind::integer) && cursor.peek().magnitude == 2) return cursor.next(), Protocol::credits_2;
  cursor.fail_expected("credits-1 or credits-2");
}

Expression parse_starts(ParseState& state, std::size_t rank) {
  const ParseState::Block block(state);
  for (std::size_t i = 0; i < rank; ++i) state.add_variable("i" + std::to_string(i));
  return parse_expression(state, kStartsPlace);
}

void parse_attribute(ParseState& state, SignalDeclaration& signal) {
  TokenCursor& cursor = state.cursor;
  if (cursor.at(TokenKind::integer)) {
    const ProgramToken bits = cursor.next();
    if (bits.magnitude < 1 || bits.magnitude > 64)
      cursor.fail_at(bits, fmt::format("a counter has 1 to 64 bits, found `{}`", bits.text));
    cursor.expect("bits");
    signal.bits = static_cast<int>(bits.magnitude);
  } else if (cursor.accept("starts")) {
    signal.starts = parse_starts(state, signal.shape.size());
  } else if (const auto protocol = accept_protocol(cursor)) {
    signal.protocol = protocol;
  } else {
    cursor.fail_expected("an attribute", "epoch, credits-2, credits-1, parity, `16 bits` or `starts 1`");
  }
}

Comments& parse_signal(ParseState& state) {
  SignalDeclaration signal{parse_new_name(state).text};
  signal.shape = parse_shape(state);
  if (state.cursor.accept(":")) {
    do parse_attribute(state, signal);
    while (state.cursor.accept(","));
  }
  return state.program().signals.emplace_back(std::move(signal)).comments;
}

void parse_rule_indices(ParseState& state, ContentRule& rule) {
  if (!state.cursor.accept("[") || state.cursor.accept("]")) return;
  do {
    const ProgramToken index = state.cursor.expect_name("the name of an index");
    state.claim_rule_index(index);
    rule.indices.push_back(index.text);
  } while (state.cursor.accept(","));
  state.cursor.expect("]");
}

ContentRule parse_rule(ParseState& state, const ExpressionPlace& place) {
  const ProgramToken name = state.cursor.expect_name("a buffer");
  const std::size_t rank = state.require_buffer(name).shape.size();
  const ParseState::Block block(state);
  ContentRule rule{name.text, {}};
  parse_rule_indices(state, rule);
  if (rule.indices.size() != rank)
    state.cursor.fail_at(
        name, fmt::format("`{}` has {} dimensions, found {} names of indices", name.text, rank, rule.indices.size()));
  state.cursor.expect("=");
  rule.value = parse_expression(state, place);
  if (state.cursor.accept("if")) rule.where = parse_expression(state, place);
  return rule;
}

Comments& parse_init(ParseState& state) {
  return state.program().init.emplace_back(parse_rule(state, kInitPlace)).comments;
}

Comments& parse_expect(ParseState& state) {
  return state.program().expect.emplace_back(parse_rule(state, kExpectPlace)).comments;
}

struct DeclarationWord {
  std::string_view word;
  Comments& (*parse)(ParseState&);
};
constexpr DeclarationWord kDeclarations[] = {
    {"size", parse_size},
    {"input", parse_buffer<BufferRole::input>},
    {"output", parse_buffer<BufferRole::output>},
    {"window", parse_buffer<BufferRole::window>},
    {"local", parse_buffer<BufferRole::local>},
    {"view", parse_view},
    {"signal", parse_signal},
    {"init", parse_init},
    {"expect", parse_expect},
};

const DeclarationWord* declaration_word(const TokenCursor& cursor) {
  const auto* found =
      std::ranges::find_if(kDeclarations, [&](const DeclarationWord& entry) { return cursor.at(entry.word); });
  return found == std::end(kDeclarations) ? nullptr : found;
}

void append(Comments& comments, Comments more) { std::ranges::move(more, std::back_inserter(comments)); }

void end_line(ParseState& state) {
  if (!state.cursor.accept_line_end() && !state.cursor.at(TokenKind::end))
    state.cursor.fail_expected("the end of the line", "one declaration a line");
}

// One line with the comments before and behind.
void parse_line(ParseState& state, const DeclarationWord& word) {
  Comments before = state.cursor.take_comments();
  state.cursor.expect(word.word, "a text begins with `program` and a name");
  Comments& comments = word.parse(state);
  comments = std::move(before);
  append(comments, state.cursor.take_comments());
  end_line(state);
}

Comments& parse_head(ParseState& state) {
  state.program().name = state.cursor.expect_name("the name of the program").text;
  return state.program().comments;
}

}  // namespace

SymbolicProgram parse_program(std::string_view text, std::string_view source) {
  SymbolicProgram program;
  ParseState state(text, source, program);
  parse_line(state, {"program", parse_head});
  while (const DeclarationWord* word = declaration_word(state.cursor)) parse_line(state, *word);
  program.body = parse_statements(state);
  return program;
}

}  // namespace reshard
