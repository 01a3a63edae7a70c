#include "program/check_report.h"

#include "program/line_diff.h"
#include "reshard/lower.h"
#include "reshard/program_text.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

// Checked, and repaired, is the program without composites.
std::string changes_of(const SymbolicProgram& program, const Repair& repair) {
  return line_diff(text_of(lower(program)), text_of(repair.program));
}

Json repair_json(const SymbolicProgram& program, const Repair& repair) {
  return {
      {"description", repair.description}, {"program", text_of(repair.program)}, {"diff", changes_of(program, repair)}};
}

}  // namespace

std::string check_text(const SymbolicProgram& program, const CheckReport& report, bool colour) {
  std::string text = report.text();
  if (report.repair) text += "\n" + coloured_diff(changes_of(program, *report.repair), colour);
  return text;
}

Json check_json(const SymbolicProgram& program, const CheckReport& report) {
  Json trace = Json::array();
  for (const TraceStep& step : report.trace) trace.push_back(step_json(step));
  return {{"program", program.name},
          {"ranks", report.ranks},
          {"calls", report.calls},
          {"passed", report.passed},
          {"bounded", report.bounded},
          {"fault", report.fault ? Json(name_of(*report.fault)) : Json()},
          {"message", report.message},
          {"states", report.states},
          {"transitions", report.transitions},
          {"check_seconds", report.seconds},
          {"trace", std::move(trace)},
          {"repair", report.repair ? repair_json(program, *report.repair) : Json()}};
}

Json step_json(const TraceStep& step) {
  return {{"rank", step.rank.value()}, {"call", step.call},       {"operation", step.operation},
          {"text", step.text},         {"arrival", step.arrival}, {"caller", step.caller},
          {"blocked", step.blocked},   {"culprit", step.culprit}};
}

TraceStep step_from_json(const Json& json) {
  return {.rank = RankId(json.at("rank").get<Index>()),
          .call = json.at("call").get<Index>(),
          .operation = json.at("operation").get<Index>(),
          .text = json.at("text").get<std::string>(),
          .arrival = json.at("arrival").get<bool>(),
          .caller = json.at("caller").get<bool>(),
          .blocked = json.at("blocked").get<bool>(),
          .culprit = json.at("culprit").get<bool>()};
}

}  // namespace reshard::cli
