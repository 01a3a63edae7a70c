#include "program/trace_file.h"

#include <fmt/format.h>

#include "program/check_report.h"
#include "reshard/error.h"
#include "reshard/program_text.h"

namespace reshard::cli {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string trace_file_text(const SavedTrace& trace) {
  Json sizes = Json::object(), steps = Json::array();
  for (const auto& [name, value] : trace.options.sizes) sizes[name] = value;
  for (const TraceStep& step : trace.steps) steps.push_back(step_json(step));
  const Json json{{"ranks", trace.options.ranks},
                  {"sizes", std::move(sizes)},
                  {"message", trace.message},
                  {"program", text_of(trace.program)},
                  {"trace", std::move(steps)}};
  return json.dump(2) + "\n";
}

SavedTrace trace_from_text(const std::string& text, const std::string& source) {
  try {
    const Json json = Json::parse(text);
    SavedTrace trace;
    trace.program = parse_program(json.at("program").get<std::string>(), source);
    trace.message = json.at("message").get<std::string>();
    trace.options.ranks = json.at("ranks").get<Index>();
    for (const auto& [name, value] : json.at("sizes").items()) trace.options.sizes[name] = value.get<Index>();
    for (const Json& step : json.at("trace")) trace.steps.push_back(step_from_json(step));
    return trace;
  } catch (const Json::exception& error) {
    throw Error(Code::invalid_argument,
                fmt::format("{} is no trace that check --save wrote: {}", source, error.what()));
  }
}

}  // namespace reshard::cli
