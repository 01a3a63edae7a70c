#include "program/symbolic/parse_slice.h"

#include <algorithm>
#include <optional>

#include "program/symbolic/parse_expression.h"

namespace reshard {
namespace {

using TokenKind = ProgramToken::Kind;

std::optional<Expression> parse_peer(ParseState& state) {
  if (!state.cursor.accept("@")) return std::nullopt;
  return parse_primary(state, kBodyPlace);
}

Selection parse_selection(ParseState& state) {
  if (state.cursor.accept("..")) return {};
  Expression from = parse_expression(state, kBodyPlace);
  if (!state.cursor.accept("..")) return {Selection::Kind::at, std::move(from), 0};
  return {Selection::Kind::range, std::move(from), parse_expression(state, kBodyPlace)};
}

std::vector<Selection> parse_selections(ParseState& state) {
  std::vector<Selection> selections;
  if (!state.cursor.accept("[") || state.cursor.accept("]")) return selections;
  do selections.push_back(parse_selection(state));
  while (state.cursor.accept(","));
  state.cursor.expect("]");
  return selections;
}

bool ends_argument(const TokenCursor& cursor, std::size_t ahead) {
  return cursor.at(",", ahead) || cursor.at(")", ahead);
}

// A name alone that is neither memory nor a number; credits-1 and credits-2, as no name contains a sign.
std::optional<std::string> parse_word(ParseState& state) {
  TokenCursor& cursor = state.cursor;
  if (!cursor.at(TokenKind::name)) return std::nullopt;
  const std::string name = cursor.peek().text;
  if (name == "credits" && cursor.at("-", 1) && cursor.peek(2).kind == TokenKind::integer) {
    cursor.next();
    cursor.next();
    return "credits-" + cursor.next().text;
  }
  if (!ends_argument(cursor, 1) || name == "call" || state.is_number(name) || state.program().buffer(name) != nullptr)
    return std::nullopt;
  return cursor.next().text;
}

std::variant<BufferSlice, Expression, std::string> parse_argument_value(ParseState& state) {
  TokenCursor& cursor = state.cursor;
  if (cursor.at(TokenKind::string)) return cursor.next().text;
  if (auto word = parse_word(state)) return std::move(*word);
  if (cursor.at(TokenKind::name) && state.program().buffer(cursor.peek().text) != nullptr) {
    const std::size_t start = cursor.position();
    BufferSlice slice = parse_slice(state);
    if (ends_argument(cursor, 0)) return slice;
    cursor.rewind(start);
  }
  return parse_expression(state, kBodyPlace);
}

}  // namespace

BufferSlice parse_slice(ParseState& state) {
  const ProgramToken name = state.cursor.expect_name("a buffer");
  const std::size_t rank = state.require_buffer(name).shape.size();
  BufferSlice slice{name.text, parse_peer(state), {}};
  slice.selections = parse_selections(state);
  if (slice.selections.size() > rank)
    state.cursor.fail_at(
        name, fmt::format("`{}` has {} dimensions, found {} selections", name.text, rank, slice.selections.size()));
  return slice;
}

Slot parse_slot(ParseState& state) {
  const ProgramToken name = state.cursor.expect_name("a signal");
  const std::size_t rank = state.require_signal(name).shape.size();
  Slot slot{name.text, parse_peer(state), {}};
  if (state.cursor.accept("[")) slot.indices = parse_indices(state, kBodyPlace);
  if (slot.indices.size() != rank)
    state.cursor.fail_at(name,
                         fmt::format("a slot of `{}` has {} indices, found {}", name.text, rank, slot.indices.size()));
  return slot;
}

std::vector<Argument> parse_arguments(ParseState& state) {
  TokenCursor& cursor = state.cursor;
  std::vector<Argument> arguments;
  if (cursor.accept(")")) return arguments;
  do {
    const ProgramToken name = cursor.expect_name("the name of an argument");
    if (std::ranges::find(arguments, name.text, &Argument::name) != arguments.end())
      cursor.fail_at(name, fmt::format("`{}` is given twice", name.text));
    cursor.expect("=", "arguments are given by name: input = x");
    arguments.push_back({name.text, parse_argument_value(state)});
  } while (cursor.accept(","));
  cursor.expect(")");
  return arguments;
}

}  // namespace reshard
