#include "program/program_json.h"

#include <fmt/format.h>

#include "program/operation_words.h"
#include "reshard/program_text.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

Json shape_json(const std::vector<Expression>& shape) {
  Json json = Json::array();
  for (const Expression& extent : shape) json.push_back(extent.text());
  return json;
}

Json sizes_json(const SymbolicProgram& program) {
  Json json = Json::object();
  for (const SizeDeclaration& size : program.sizes) json[size.name] = size.value;
  return json;
}

Json buffers_json(const SymbolicProgram& program) {
  Json json = Json::array();
  for (const BufferDeclaration& buffer : program.buffers) {
    Json entry{{"name", buffer.name},
               {"role", name_of(buffer.role)},
               {"dtype", name_of(buffer.dtype)},
               {"shape", shape_json(buffer.shape)}};
    if (!buffer.viewed.empty()) entry["view_of"] = buffer.viewed, entry["offset_bytes"] = buffer.offset_bytes.text();
    json.push_back(std::move(entry));
  }
  return json;
}

Json signals_json(const SymbolicProgram& program) {
  Json json = Json::array();
  for (const SignalDeclaration& signal : program.signals)
    json.push_back({{"name", signal.name},
                    {"shape", shape_json(signal.shape)},
                    {"bits", signal.bits},
                    {"protocol", signal.protocol ? Json(name_of(*signal.protocol)) : Json()},
                    {"starts", signal.starts.text()}});
  return json;
}

Json rules_json(const std::vector<ContentRule>& rules) {
  Json json = Json::array();
  for (const ContentRule& rule : rules)
    json.push_back({{"buffer", rule.buffer},
                    {"indices", rule.indices},
                    {"value", rule.value.text()},
                    {"where", rule.where.text()}});
  return json;
}

Json body_json(const Body& body);

std::string first_line(const Statement& statement) {
  const std::string text = text_of(statement);
  return text.substr(0, text.find_first_of("{\n"));
}

std::string head_of(const Statement& statement) {
  std::string head = first_line(statement);
  head.erase(head.find_last_not_of(' ') + 1);
  return head;
}

Json statement_json(const Statement& statement) {
  if (const auto* loop = std::get_if<For>(&statement.form))
    return {{"do", "for"}, {"text", head_of(statement)}, {"body", body_json(loop->body)}};
  if (const auto* choice = std::get_if<If>(&statement.form)) {
    Json json{{"do", "if"}, {"text", head_of(statement)}, {"then", body_json(choice->then)}};
    if (!choice->otherwise.empty()) json["else"] = body_json(choice->otherwise);
    return json;
  }
  const std::string text = text_of(statement);
  if (std::holds_alternative<Comment>(statement.form)) return {{"do", "comment"}, {"text", text}};
  return {{"do", text.substr(0, text.find_first_of(" (\n"))}, {"text", text}};
}

Json body_json(const Body& body) {
  Json json = Json::array();
  for (const Statement& statement : body) json.push_back(statement_json(statement));
  return json;
}

Json operation_json(const Program& program, const Operation& operation) {
  Json json{{"do", word_of(operation.code)}, {"text", line_of(program, operation)}};
  const auto window = [&](int number) { return program.windows[static_cast<std::size_t>(number)].name; };
  switch (operation.code) {
    case OpCode::put:
    case OpCode::get: json["peer"] = operation.peer.value(); [[fallthrough]];
    case OpCode::copy:
      json["target"] = window(operation.target_window);
      json["source"] = window(operation.source_window);
      json["bytes"] = bytes_moved(operation);
      break;
    case OpCode::notify: json["peer"] = operation.peer.value(); [[fallthrough]];
    case OpCode::wait:
      json["signal"] = program.signals[static_cast<std::size_t>(operation.signal)].name;
      json["slot"] = operation.slot;
      json["value"] = static_cast<std::int64_t>(operation.value);
      break;
    default: break;
  }
  return json;
}

}  // namespace

Json program_json(const SymbolicProgram& program) {
  return {{"name", program.name},
          {"sizes", sizes_json(program)},
          {"buffers", buffers_json(program)},
          {"signals", signals_json(program)},
          {"init", rules_json(program.init)},
          {"expect", rules_json(program.expect)},
          {"body", body_json(program.body)},
          {"text", text_of(program)}};
}

Json operations_json(const Program& program, const std::vector<RankId>& ranks) {
  Json json = Json::array();
  for (const RankId rank : ranks) {
    Json operations = Json::array();
    for (const Operation& operation : program.operations[static_cast<std::size_t>(rank.value())])
      operations.push_back(operation_json(program, operation));
    json.push_back({{"rank", rank.value()}, {"operations", std::move(operations)}});
  }
  return json;
}

}  // namespace reshard::cli
