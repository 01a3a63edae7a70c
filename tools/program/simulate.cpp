// reshard program simulate FILE
#include "reshard/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "options/number_list.h"
#include "options/whole_number.h"
#include "output/output.h"
#include "program/program_flags.h"
#include "program/simulate_report.h"
#include "program/subcommands.h"
#include "reshard/error.h"
#include "reshard/topology_file.h"

namespace reshard::cli {
namespace {

struct Request {
  FileFlags file;
  SizeFlags sizes;
  DeviceFlags devices;
  Index calls = 3, seed = 0, slow = -1;
  std::string seeds, topology, timeline;
  bool at_once = false, cost = false, json = false;
};

[[noreturn]] void refuse(const std::string& message) { throw Error(Code::invalid_argument, message); }

SimulateOptions options_of(const Request& request, const SymbolicProgram& program) {
  SimulateOptions options{.devices = request.devices.list(),
                          .sizes = request.sizes.of(program),
                          .calls = request.calls,
                          .seed = static_cast<std::uint64_t>(request.seed),
                          .delay_puts = !request.at_once,
                          .timeline = !request.timeline.empty()};
  if (request.slow >= 0) options.slow = RankId(request.slow);
  if (!request.topology.empty()) options.topology = load_topology(request.topology);
  return options;
}

SimulatedRun simulated(const SymbolicProgram& program, const SimulateOptions& options) {
  return {.program = program.name,
          .devices = options.devices,
          .calls = options.calls,
          .seed = options.seed,
          .report = simulate(program, options)};
}

int run_schedules(const Request& request, const SymbolicProgram& program, SimulateOptions options) {
  if (!request.timeline.empty() || request.cost)
    refuse("--timeline and --cost are of one schedule; give --seed in place of --seeds");
  std::vector<SimulatedRun> runs;
  for (const Index seed : number_list("--seeds", request.seeds)) {
    options.seed = static_cast<std::uint64_t>(seed);
    runs.push_back(simulated(program, options));
  }
  print(request.json ? schedules_json(runs).dump(2) + "\n" : schedules_text(runs, request.seeds));
  return std::ranges::all_of(runs, [](const SimulatedRun& run) { return run.report.correct; }) ? kDone : kWrong;
}

int run_schedule(const Request& request, const SymbolicProgram& program, const SimulateOptions& options) {
  SimulatedRun run = simulated(program, options);
  if (request.cost)
    run.card =
        cost_card(program, {.ranks = std::ssize(options.devices), .sizes = options.sizes, .call = options.calls});
  if (!request.timeline.empty()) write_file(request.timeline, chrome_trace(run.report, options.devices));
  print(request.json ? simulated_json(run).dump(2) + "\n" : simulated_text(run));
  return run.report.correct ? kDone : kWrong;
}

int simulate_program(const Request& request) {
  const SymbolicProgram program = request.file.load();
  const SimulateOptions options = options_of(request, program);
  return request.seeds.empty() ? run_schedule(request, program, options) : run_schedules(request, program, options);
}

void add_schedule(CLI::App& command, Request& request) {
  CLI::Option* seed =
      command.add_option("--seed", request.seed, "Of the schedule (0)")->check(whole_number())->type_name("N");
  command.add_option("--seeds", request.seeds, "Many schedules, summed up: 0-99 or 1,5,7")
      ->excludes(seed)
      ->type_name("LIST");
  command.add_option("--slow", request.slow, "A rank that goes on only when nothing else can happen")
      ->check(whole_number())
      ->type_name("R");
  command.add_flag("--puts-at-once", request.at_once, "Puts arrive when they are issued");
}

}  // namespace

void add_program_simulate(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand(
      "simulate", "Run a program on simulated devices: real bytes, a seeded schedule, late puts, a clock");
  const auto request = std::make_shared<Request>();
  request->file.add_to(*command);
  request->sizes.add_to(*command);
  request->devices.add_to(*command);
  command->add_option("--calls", request->calls, "Calls, one after the other (3)")
      ->check(whole_number(1))
      ->type_name("N");
  add_schedule(*command, *request);
  command->add_option("--topology", request->topology, "What the clock charges, rank by rank; else one host")
      ->type_name("YAML");
  command->add_flag("--cost", request->cost, "Also what each rank moves, notifies and waits for");
  command->add_option("--timeline", request->timeline, "Also write what ran when, as Perfetto and Chrome open it")
      ->type_name("OUT.json");
  command->add_flag("--json", request->json, "Print as JSON, with exact numbers");
  command->footer(
      "Exit codes: 0 right, 1 a deadlock, a refused call or a wrong value, 2 no program.\n"
      "Examples, in the root of the repository:\n"
      "  reshard program simulate examples/ladder/15_all_to_all.rp --mode builtin -d 0,1,2,3 --cost\n"
      "  reshard program simulate examples/ladder/15_all_to_all.rp --mode hand -P 3 --seeds 0-99");
  command->callback([request, &action] { action = [request] { return simulate_program(*request); }; });
}

}  // namespace reshard::cli
