#include <algorithm>
#include <sstream>

#include "program/composite/aligned.h"
#include "program/composite/phases.h"
#include "program/composite/plain_form.h"
#include "reshard/lower.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

// Without the line of the name, which both have.
std::vector<std::string> lines_of(const SymbolicProgram& program) {
  std::istringstream text(text_of(program));
  std::vector<std::string> lines;
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line))
    if (!line.empty()) lines.push_back(line);
  return lines;
}

std::vector<std::string> texts_of(const std::vector<Phase>& phases) {
  std::vector<std::string> texts;
  for (const Phase& phase : phases) texts.push_back(phase.text);
  return texts;
}

// Whether what stands behind a common beginning is work of each rank on its own: read-backs, credits taken back.
bool is_same_but_for_the_end(const std::vector<Phase>& left, const std::vector<Phase>& right) {
  const auto [l, r] = std::ranges::mismatch(left, right);
  return l != left.begin() && std::all_of(l, left.end(), [](const Phase& p) { return p.is_local; }) &&
         std::all_of(r, right.end(), [](const Phase& p) { return p.is_local; });
}

// Neighbours that only one side has, with what both do next.
struct Extra {
  Side side = Side::left;
  std::string phases;
  std::string before;
};

std::vector<Extra> extras_of(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  std::vector<Extra> extras;
  std::size_t open = 0;
  for (const auto& [side, phase] : aligned(left, right)) {
    if (side == Side::both) {
      for (; open < extras.size(); ++open) extras[open].before = phase;
    } else if (open < extras.size() && extras.back().side == side) {
      extras.back().phases += ", " + phase;
    } else {
      extras.push_back({side, phase, ""});
    }
  }
  return extras;
}

std::string summary_of(const ProgramDifference& difference) {
  if (difference.same) return "the same but for names";
  std::string text = difference.same_phases ? "the same phases" : "other phases";
  if (difference.left_phases == difference.right_phases) return text + "; statements differ";
  for (const Extra& extra : extras_of(difference.left_phases, difference.right_phases)) {
    const std::string side = extra.side == Side::left ? "left" : "right";
    text += "; " + side + (extra.before.empty() ? " ends with: " : " has before " + extra.before + ": ") + extra.phases;
  }
  return text;
}

}  // namespace

ProgramDifference diff(const SymbolicProgram& left, const SymbolicProgram& right) {
  const SymbolicProgram lowered_left = lower(left), lowered_right = lower(right);
  std::set<std::string> taken = names_but_loops(lowered_left);
  taken.merge(names_but_loops(lowered_right));
  const SymbolicProgram plain = plain_form(lowered_left, taken);
  const SymbolicProgram other = with_names_of(plain, plain_form(lowered_right, taken));
  const std::vector<Phase> left_phases = phases_of(plain), right_phases = phases_of(other);
  ProgramDifference difference;
  difference.left_phases = texts_of(left_phases);
  difference.right_phases = texts_of(right_phases);
  difference.same_phases = left_phases == right_phases || is_same_but_for_the_end(left_phases, right_phases);
  difference.same = true;
  for (const auto& [side, line] : aligned(lines_of(plain), lines_of(other))) {
    difference.same = difference.same && side == Side::both;
    difference.text += (side == Side::both ? "  " : side == Side::left ? "- " : "+ ") + line + "\n";
  }
  difference.summary = summary_of(difference);
  return difference;
}

}  // namespace reshard
