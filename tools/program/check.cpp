// reshard program check FILE
#include "reshard/check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "options/number_list.h"
#include "options/whole_number.h"
#include "output/numbers.h"
#include "output/output.h"
#include "program/check_report.h"
#include "program/program_flags.h"
#include "program/step_through.h"
#include "program/subcommands.h"
#include "program/trace_file.h"
#include "reshard/error.h"
#include "reshard/program_text.h"

namespace reshard::cli {
namespace {

struct Request {
  FileFlags file;
  SizeFlags sizes;
  std::string ranks = "2";
  Index calls = 2, max_states = CheckOptions{}.max_states, step = 1;
  double time_limit = std::chrono::duration<double>(CheckOptions{}.time_limit).count();
  bool ordered_puts = false, no_repair = false, json = false;
  std::string color = "auto";
  std::string svg, save, repaired;
  std::string trace;    // to replay
  bool replay = false;  // that, or what is found
};

[[noreturn]] void refuse(const std::string& message) { throw Error(Code::invalid_argument, message); }

// On a terminal, once it takes more than a second.
class Progress {
 public:
  void operator()(Index states) {
    const auto now = std::chrono::steady_clock::now();
    if (isatty(STDERR_FILENO) != 1 || now - shown_ < std::chrono::seconds(1)) return;
    fmt::print(stderr, "\r{} states ..", count_text(states));
    std::fflush(stderr);
    shown_ = now;
    *any_ = true;
  }
  // The line is cleared for what comes.
  void end() const {
    if (*any_) fmt::print(stderr, "\r\x1b[K");
  }

 private:
  std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
  std::shared_ptr<bool> any_ = std::make_shared<bool>(false);
};

CheckReport checked(const Request& request, const SymbolicProgram& program, Index ranks) {
  Progress progress;
  const CheckReport report =
      check(program, {.ranks = ranks,
                      .calls = request.calls,
                      .sizes = request.sizes.of(program),
                      .max_states = request.max_states,
                      .time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(request.time_limit * 1000)),
                      .ordered_puts = request.ordered_puts,
                      .suggest = !request.no_repair,
                      .progress = progress});
  progress.end();
  return report;
}

SavedTrace trace_of(const Request& request, const SymbolicProgram& program, const CheckReport& report) {
  return {.program = program,
          .options = {.ranks = report.ranks, .sizes = request.sizes.of(program)},
          .message = report.message,
          .steps = report.trace};
}

void write_files(const Request& request, const SymbolicProgram& program, const CheckReport& report) {
  if (!request.svg.empty()) write_file(request.svg, svg_of(report));
  if (!request.save.empty()) write_file(request.save, trace_file_text(trace_of(request, program, report)));
  if (!request.repaired.empty() && report.repair) write_file(request.repaired, text_of(report.repair->program));
}

// Files that were asked for and for which there is nothing to write.
void say_unwritten(const Request& request, bool found, bool repaired) {
  for (const std::string& path : {request.svg, request.save})
    if (!path.empty() && !found) fmt::print(stderr, "reshard: {} is not written: there is no trace\n", path);
  if (!request.repaired.empty() && !repaired)
    fmt::print(stderr, "reshard: {} is not written: there is no repair\n", request.repaired);
}

void replay_saved(const Request& request, const SavedTrace& trace) {
  print(trace.message + "\n\n");
  step_through(replay(trace.program, trace.steps, trace.options), request.step, trace.options.ranks);
}

int replay_file(const Request& request) {
  SavedTrace trace = trace_from_text(read_file(request.trace), request.trace);
  if (!request.file.file.empty()) trace.program = request.file.load();
  replay_saved(request, trace);
  return kDone;
}

void print_reports(const Request& request, const SymbolicProgram& program, const std::vector<CheckReport>& reports) {
  if (request.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const CheckReport& report : reports) json.push_back(check_json(program, report));
    return print(json.dump(2) + "\n");
  }
  const bool colour = in_colour(colour_named(request.color));
  for (std::size_t number = 0; number < reports.size(); ++number)
    print((number > 0 ? "\n" : "") + check_text(program, reports[number], colour));
}

int check_program(const Request& request) {
  const SymbolicProgram program = request.file.load();
  std::vector<CheckReport> reports;
  for (const Index ranks : number_list("--ranks", request.ranks, 1))
    reports.push_back(checked(request, program, ranks));
  const auto faulty = std::ranges::find_if(reports, [](const CheckReport& report) { return report.fault.has_value(); });
  const bool found = faulty != reports.end();
  // Files come last: what took minutes to find is said even where one cannot be written.
  if (request.replay && found)
    replay_saved(request, trace_of(request, program, *faulty));
  else
    print_reports(request, program, reports);
  if (found) write_files(request, program, *faulty);
  say_unwritten(request, found, found && faulty->repair);
  const bool proven =
      std::ranges::all_of(reports, [](const CheckReport& report) { return report.passed && !report.bounded; });
  return proven ? kDone : kWrong;
}

int run(const Request& request) {
  if (request.replay && request.json) refuse("--replay prints steps for people; --json has the trace of the report");
  if (request.step != 1 && !request.replay) refuse("--step goes with --replay");
  if (!request.trace.empty()) return replay_file(request);
  if (request.file.file.empty()) refuse("give a program, or --replay TRACE (see reshard program check --help)");
  return check_program(request);
}

void add_limits(CLI::App& command, Request& request) {
  command.add_option("--max-states", request.max_states, "Give up after so many states (10000000)")
      ->check(whole_number(1))
      ->type_name("N");
  command.add_option("--time-limit", request.time_limit, "Give up after so many seconds (300)")
      ->check(CLI::Range(0.001, 1e6).description(""))
      ->type_name("S");
}

void add_outputs(CLI::App& command, Request& request) {
  command.add_option("--svg", request.svg, "Also draw the trace")->type_name("OUT.svg");
  command.add_option("--save", request.save, "Also write the trace, for --replay")->type_name("OUT.json");
  command.add_option("--repaired", request.repaired, "Also write the repaired program")->type_name("OUT.rp");
  command.add_option("--color", request.color, "Colour: auto, always or never (auto)")->type_name("WHEN");
  command.add_flag("--json", request.json, "Print as JSON: a list, one report for each number of ranks");
}

}  // namespace

void add_program_check(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand(
      "check", "Explore every interleaving: the shortest way to a race, wrong value or deadlock, or a proof");
  const auto request = std::make_shared<Request>();
  request->file.add_to(*command, false);
  request->sizes.add_to(*command);
  command->add_option("-P,--ranks", request->ranks, "Numbers of ranks to check: 3, 2,3 or 1-4 (2)")->type_name("LIST");
  command->add_option("--calls", request->calls, "Calls, one after the other (2)")
      ->check(whole_number(1))
      ->type_name("N");
  command->add_flag("--ordered-puts", request->ordered_puts,
                    "Of a network that keeps the puts and notifications of a pair of ranks in order");
  add_limits(*command, *request);
  command->add_flag("--no-repair", request->no_repair, "Look for no repair");
  CLI::Option* replay =
      command
          ->add_option("--replay", request->trace,
                       "Go step by step through TRACE, or else what is found, with memory and counters")
          ->expected(0, 1)
          ->type_name("[TRACE]");
  command->add_option("--step", request->step, "Begin the replay at this step (1)")
      ->check(whole_number(1))
      ->type_name("N");
  add_outputs(*command, *request);
  command->footer(
      "Exit codes: 0 proven, 1 a fault, or not all was explored, 2 no program.\n"
      "Examples, in the root of the repository:\n"
      "  reshard program check examples/ladder/15_all_to_all.rp --mode hand -P 2,3\n"
      "  reshard program check tests/corpus/programs/02_one_round.fixed.rp --calls 3 --json");
  command->callback([request, replay, &action] {
    request->replay = replay->count() > 0;
    action = [request] { return run(*request); };
  });
}

}  // namespace reshard::cli
