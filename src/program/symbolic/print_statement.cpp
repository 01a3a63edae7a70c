// Statements as text: one a line, or a block and its one plain statement on the line of the block.
#include <fmt/format.h>

#include <algorithm>

#include "program/symbolic/print.h"
#include "program/symbolic/words.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

using Kind = Expression::Kind;

// After `@` stands what needs no parentheses.
std::string peer_text(const std::optional<Expression>& peer) {
  if (!peer) return "";
  const Kind kind = peer->kind();
  const bool primary = (kind == Kind::constant && peer->value() >= 0) || kind == Kind::variable ||
                       kind == Kind::minimum || kind == Kind::maximum || kind == Kind::pick || kind == Kind::element ||
                       kind == Kind::element_on || kind == Kind::fold;
  return primary ? "@" + peer->text() : "@(" + peer->text() + ")";
}

std::string selection_text(const Selection& selection) {
  switch (selection.kind) {
    case Selection::Kind::at: return selection.from.text();
    case Selection::Kind::range: return selection.from.text() + ".." + selection.to.text();
    case Selection::Kind::all: break;
  }
  return "..";
}

// Of the form of a name, and read as nothing else.
bool is_plain_word(const std::string& text, const NumberNames& names) {
  if (text == "credits-1" || text == "credits-2") return true;
  return is_program_name(text) && text != "me" && text != "P" && text != "call" && !names.contains(text);
}

struct ArgumentText {
  const NumberNames& names;
  std::string operator()(const BufferSlice& slice) const { return text_of(slice); }
  // One element alone would be read as a slice.
  std::string operator()(const Expression& number) const {
    const bool element = number.kind() == Kind::element || number.kind() == Kind::element_on;
    return element ? "(" + number.text() + ")" : number.text();
  }
  std::string operator()(const std::string& word) const {
    return is_plain_word(word, names) ? word : quoted_text(word);
  }
};

// Statements without a block. Those with one, and comments, are empty here.
struct PlainText {
  const NumberNames& names;

  std::string operator()(const For&) const { return ""; }
  std::string operator()(const If&) const { return ""; }
  std::string operator()(const Comment&) const { return ""; }
  std::string operator()(const Let& form) const { return fmt::format("let {} = {}", form.name, form.value.text()); }
  std::string operator()(const DataMove& form) const {
    const std::string_view verb = form.code == OpCode::put ? "put" : form.code == OpCode::get ? "get" : "copy";
    return fmt::format("{} {} <- {}{}{}", verb, text_of(form.target), text_of(form.source),
                       form.accumulate ? fmt::format(" accumulate {}", name_of(*form.accumulate)) : "",
                       form.cast ? " cast" : "");
  }
  std::string operator()(const Reduce& form) const {
    std::string terms;
    for (const BufferSlice& term : form.terms) terms += (terms.empty() ? "" : ", ") + text_of(term);
    return fmt::format("reduce {} <- {}({})", text_of(form.target), name_of(form.op), terms);
  }
  std::string operator()(const Fill& form) const {
    return fmt::format("fill {} <- {}", text_of(form.target),
                       form.identity ? fmt::format("identity({})", name_of(*form.identity)) : form.value.text());
  }
  std::string operator()(const Notify& form) const {
    return fmt::format("notify {} {} {}", text_of(form.slot), form.op == NotifyOp::set ? "=" : "+=", form.value.text());
  }
  std::string operator()(const Wait& form) const {
    return fmt::format("wait {} {} {}", text_of(form.slot),
                       form.compare == WaitCompare::equal ? "==" : ">=", form.value.text());
  }
  std::string operator()(const Fence&) const { return "fence"; }
  std::string operator()(const Require& form) const {
    return fmt::format("require {}, {}", form.condition.text(), quoted_text(form.message));
  }
  std::string operator()(const Composite& form) const {
    std::string arguments;
    for (const Argument& argument : form.arguments)
      arguments += fmt::format("{}{} = {}", arguments.empty() ? "" : ", ", argument.name,
                               std::visit(ArgumentText{names}, argument.value));
    return fmt::format("{}({})", form.name, arguments);
  }
};

std::string plain_text(const Statement& statement, const NumberNames& names) {
  return std::visit(PlainText{names}, statement.form);
}

void indent(std::string& out, std::size_t level) { out.append(2 * level, ' '); }

bool fits_line(const Body& body, const NumberNames& names) {
  return body.empty() || (body.size() == 1 && !plain_text(body[0], names).empty());
}

void write_block(std::string& out, const Body& body, bool on_line, const NumberNames& names, std::size_t level) {
  if (on_line) {
    out += body.empty() ? "{ }" : "{ " + plain_text(body[0], names) + " }";
    return;
  }
  out += "{\n";
  for (const Statement& statement : body) write_statement(out, statement, names, level + 1);
  indent(out, level);
  out += "}";
}

void write_for(std::string& out, const For& form, const NumberNames& names, std::size_t level) {
  indent(out, level);
  out += fmt::format("for {} in {} ", form.variable, form.peers ? "peers" : form.from.text() + ".." + form.to.text());
  write_block(out, form.body, fits_line(form.body, names), names, level);
  out += "\n";
}

void write_if(std::string& out, const If& form, const NumberNames& names, std::size_t level) {
  const bool on_line = fits_line(form.then, names) && fits_line(form.otherwise, names);
  indent(out, level);
  out += fmt::format("if {} ", form.condition.text());
  write_block(out, form.then, on_line, names, level);
  if (!form.otherwise.empty()) {
    out += " else ";
    write_block(out, form.otherwise, on_line, names, level);
  }
  out += "\n";
}

}  // namespace

std::string list_text(const std::vector<Expression>& expressions) {
  std::string text;
  for (const Expression& expression : expressions) text += (text.empty() ? "" : ", ") + expression.text();
  return text;
}

std::string quoted_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\"";
}

void write_comment(std::string& out, std::string_view text, std::size_t level) {
  while (true) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.remove_suffix(1);
    indent(out, level);
    out += line.empty() ? "#\n" : fmt::format("# {}\n", line);
    if (text.empty()) return;
  }
}

void write_statement(std::string& out, const Statement& statement, const NumberNames& names, std::size_t level) {
  if (const auto* form = std::get_if<For>(&statement.form)) return write_for(out, *form, names, level);
  if (const auto* form = std::get_if<If>(&statement.form)) return write_if(out, *form, names, level);
  if (const auto* form = std::get_if<Comment>(&statement.form)) return write_comment(out, form->text, level);
  indent(out, level);
  out += plain_text(statement, names) + "\n";
}

std::string text_of(const Statement& statement) {
  std::string text;
  write_statement(text, statement, {}, 0);
  text.pop_back();
  return text;
}

std::string text_of(const BufferSlice& slice) {
  // What is whole at the end need not be said.
  std::size_t said = slice.selections.size();
  while (said > 0 && slice.selections[said - 1].kind == Selection::Kind::all) --said;
  std::string selections;
  for (std::size_t i = 0; i < said; ++i) selections += (i == 0 ? "[" : ", ") + selection_text(slice.selections[i]);
  return slice.buffer + peer_text(slice.peer) + selections + (said == 0 ? "" : "]");
}

std::string text_of(const Slot& slot) {
  return slot.signal + peer_text(slot.peer) + (slot.indices.empty() ? "" : "[" + list_text(slot.indices) + "]");
}

}  // namespace reshard
