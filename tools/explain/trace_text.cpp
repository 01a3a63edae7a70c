// The six steps of a trace, as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "explain/m2m.h"
#include "explain/pictures.h"
#include "explain/section.h"
#include "explain/trace.h"
#include "output/numbers.h"

namespace reshard::cli {
namespace {

std::string c_of(std::size_t dim) {
  return dim < 10 ? std::string("c\xE2\x82") + static_cast<char>(0x80 + dim) : fmt::format("c{}", dim);
}

Index power(Index base, std::size_t exponent) {
  Index result = 1;
  while (exponent-- > 0) result *= base;
  return result;
}

// "rank·25 + c₀·5 + c₁", for the names or values given.
std::string folded(const std::string& rank, const std::vector<std::string>& coordinates, Index base) {
  const auto term = [&](const std::string& digit, std::size_t exponent) {
    return exponent == 0 ? digit : fmt::format("{}·{}", digit, power(base, exponent));
  };
  std::string text = term(rank, coordinates.size());
  for (std::size_t dim = 0; dim < coordinates.size(); ++dim)
    text += " + " + term(coordinates[dim], coordinates.size() - 1 - dim);
  return text;
}

std::string label(RankId rank, const CellIndex& index, const std::vector<Index>& slicers) {
  Index number = 0;
  for (std::size_t dim = 0; dim < index.size(); ++dim) number = number * slicers[dim] + index[dim];
  return fmt::format("r{}.{}", rank.value(), number);
}

std::string align_text(const Trace& trace, const ShowOptions& options) {
  const M2MMap& map = trace.map;
  return heading("1. Align granularity: the coarsest grid that both sides divide", options) + grid_text(map);
}

// One line per rank; what does not fit is left out.
std::string tags_text(const Trace& trace, const ShowOptions& options) {
  const M2MMap& map = trace.map;
  std::vector<std::string> names;
  for (std::size_t dim = 0; dim < map.middle().size(); ++dim) names.push_back(c_of(dim));
  std::string text = heading("2. Distribute by the source, and tag every cell with who holds it and where", options);
  text += indented(fmt::format("base = max(middle) + 1 = {}", trace.base));
  text += indented("enc  = " + folded("rank", names, trace.base));
  Index ranks = 0, shown = 0;
  for (std::size_t at = 0; at < trace.marks.size(); ++ranks) {
    const RankId rank = trace.marks[at].rank;
    const std::string before = fmt::format("src rank{} ─► │", rank.value());
    std::string labels, tags;
    for (; at < trace.marks.size() && trace.marks[at].rank == rank; ++at) {
      const std::string next = label(rank, trace.marks[at].index, map.source_num_slicers());
      const std::string tag = fmt::format("{}", trace.marks[at].tag);
      if (tags.ends_with("…")) continue;
      const bool fits = width_of(before + labels + tags + next + tag) + 20 < options.width;
      labels += fits ? next + "│" : "…│";
      tags += fits ? (tags.empty() ? "" : ", ") + tag : ", …";
    }
    if (options.rows != 0 && shown >= options.rows) continue;
    ++shown;
    text += indented(before + labels + "   enc " + tags);
  }
  return text + more_text(shown, ranks);
}

std::string picture_text(const Trace& trace, const ShowOptions& options, Lines lines) {
  const Frame frame = frame_of(trace.explained.move->grid.bounds);
  const Picture picture = stamp_picture(trace.explained, frame, options, lines, Note::beside);
  Canvas page;
  page.paste(0, 3, picture.canvas);
  std::string text = page.text(options.colour);
  if (!picture.left_out.empty()) text += indented(fmt::format("… {} not drawn", picture.left_out));
  const std::string hidden = hidden_text(frame, trace.explained.move->grid.bounds);
  return hidden.empty() ? text : text + indented(hidden);
}

bool has_copies(const Trace& trace) {
  Index cells = 1;
  for (const Index extent : trace.map.middle()) cells *= extent;
  return std::ssize(trace.marks) > cells;
}

std::string gather_text(const Trace& trace, const ShowOptions& options) {
  return heading("3. Gather the shards into the whole middle tensor", options) +
         picture_text(trace, options, Lines::grid);
}

std::string send_text(const Trace& trace, const ShowOptions& options) {
  std::string text = heading("4. Send it once", options);
  text += indented(fmt::format("to {}, as 64-bit tags; the greatest is {}",
                               count_text(trace.map.target().mesh().size(), "target rank"),
                               count_text(std::ranges::max_element(trace.marks, {}, &Mark::tag)->tag)));
  if (has_copies(trace))
    text += indented("where several ranks tagged a cell, the target at place t of its mesh gets tag t mod copies");
  return text;
}

// Reads the last tag digit by digit.
std::string decoded_text(const Trace& trace) {
  const Reading& reading = trace.readings.back();
  std::vector<std::string> digits;
  for (const Index digit : reading.source_index) digits.push_back(fmt::format("{}", digit));
  const Index base = trace.base;
  const std::string sum = folded(fmt::format("{}", reading.source.value()), digits, base);
  std::string text = "e.g. " + label(reading.source, reading.source_index, trace.map.source_num_slicers());
  text = indented(text + " → enc = " + sum + (digits.empty() ? "" : fmt::format(" = {}", reading.tag)));
  std::string steps;
  Index rest = reading.tag;
  for (std::size_t dim = 0; dim < digits.size(); ++dim, rest /= base)
    steps += fmt::format("{}{} % {} = {}, {} // {} = {}", dim == 0 ? "" : "  │  ", rest, base, rest % base, rest, base,
                         rest / base);
  if (!steps.empty()) text += indented("     " + steps);
  return text + indented(fmt::format("     → coord {}, source rank = {}  →  target rank {} local {}",
                                     tuple_text(reading.source_index), reading.source.value(), reading.target.value(),
                                     tuple_text(reading.index)));
}

std::string recut_text(const Trace& trace, const ShowOptions& options) {
  return heading("5. Cut it again by the target, and decode the tags in each block", options) +
         picture_text(trace, options, Lines::target) + decoded_text(trace);
}

std::string gathered_map_text(const Trace& trace, const ShowOptions& options) {
  std::string text = heading("6. All-gather what was read: the map", options) + map_table(trace.map, options);
  const Index added = std::ranges::count(trace.map.routes(), RouteKind::reduce_only, &Route::kind);
  if (added > 0)
    text += indented(fmt::format("and {} without target, for ranks that only reduce", count_text(added, "route")));
  return text + indented("equal to the closed form of --m2m");
}

}  // namespace

std::string trace_text(const Trace& trace, const ShowOptions& options) {
  std::string text = indented("source  " + trace.map.source().text());
  text += indented("target  " + trace.map.target().text());
  text += align_text(trace, options) + tags_text(trace, options) + gather_text(trace, options);
  return text + send_text(trace, options) + recut_text(trace, options) + gathered_map_text(trace, options);
}

std::string trace_json(const Trace& trace) {
  using Json = nlohmann::ordered_json;
  Json marks = Json::array(), readings = Json::array();
  for (const Mark& mark : trace.marks)
    marks.push_back(
        {{"rank", mark.rank.value()}, {"cell", mark.index}, {"middle_cell", mark.middle}, {"tag", mark.tag}});
  for (const Reading& reading : trace.readings)
    readings.push_back({{"target", reading.target.value()},
                        {"target_cell", reading.index},
                        {"tag", reading.tag},
                        {"source", reading.source.value()},
                        {"source_cell", reading.source_index}});
  const Json json{{"base", trace.base},
                  {"marks", std::move(marks)},
                  {"readings", std::move(readings)},
                  {"map", Json::parse(trace.map.json())}};
  return json.dump(1) + "\n";
}

}  // namespace reshard::cli
