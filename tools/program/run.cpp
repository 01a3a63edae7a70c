// reshard program run FILE
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "options/whole_number.h"
#include "output/output.h"
#include "program/program_flags.h"
#include "program/run_report.h"
#include "program/shared_array.h"
#include "program/subcommands.h"
#include "program/traced_ranks.h"
#include "reshard/error.h"
#include "reshard/lower.h"
#include "reshard/program_run.h"
#include "reshard/unroll.h"

namespace reshard::cli {
namespace {

struct Request {
  FileFlags file;
  SizeFlags sizes;
  DeviceFlags devices;
  std::string fabric = "thread";
  Index calls = 3;
  double timeout = 30;
  std::string trace;
  bool verbose = false, json = false;
};

WorldOptions world_options(const Request& request) {
  return {.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(request.timeout * 1000))};
}

// Throws what is wrong with the program itself: usage, not a wrong result.
CostCard card_of_last_call(const Request& request, const SymbolicProgram& program, Index ranks) {
  const std::map<std::string, Index> sizes = request.sizes.of(program);
  unroll(lower(program), {.ranks = ranks, .sizes = sizes});
  return cost_card(program, {.ranks = ranks, .sizes = sizes, .call = request.calls});
}

// What the ranks did in the last call. Throws what the first rank at fault did.
std::vector<Traffic> call_on_ranks(const Request& request, const SymbolicProgram& program, Index ranks) {
  const SharedArray<Traffic> traffic(static_cast<std::size_t>(ranks));
  const std::map<std::string, Index> sizes = request.sizes.of(program);
  const auto body = [&](World& world) {
    ProgramRun run(world, program, sizes);
    for (Index call = 0; call < request.calls; ++call) {
      run.fill_inputs();
      traffic.values()[static_cast<std::size_t>(world.rank().value())] = run.call();
      run.check_outputs();
    }
  };
  const bool as_processes = request.fabric == "shm";
  if (!request.trace.empty()) {
    traced_ranks(as_processes, ranks, body, world_options(request), request.trace);
  } else {
    (as_processes ? process_ranks : thread_ranks)(ranks, body, world_options(request));
  }
  return {traffic.values().begin(), traffic.values().end()};
}

int run_program(const Request& request) {
  if (request.fabric != "thread" && request.fabric != "shm")
    throw Error(Code::invalid_argument, fmt::format("--fabric {}: thread or shm", request.fabric));
  const SymbolicProgram program = request.file.load();
  ProgramRunReport report{.program = program.name,
                          .fabric = request.fabric,
                          .devices = request.devices.list(),
                          .calls = request.calls,
                          .has_expect = !program.expect.empty()};
  const Index ranks = std::ssize(report.devices);
  report.card = card_of_last_call(request, program, ranks);
  try {
    report.traffic = call_on_ranks(request, program, ranks);
  } catch (const Error& error) {
    report.failure = error.what();
  }
  if (request.json) print(run_json(report));
  if (!request.json && report.failure.empty()) print(run_text(report, request.verbose));
  if (report.failure.empty()) return kDone;
  if (!request.json) fmt::print(stderr, "reshard: {}\n", report.failure);
  return kWrong;
}

}  // namespace

void add_program_run(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand(
      "run", "Run a program on threads or processes, with the inputs and against the outputs that it states");
  const auto request = std::make_shared<Request>();
  request->file.add_to(*command);
  request->sizes.add_to(*command);
  request->devices.add_to(*command);
  command->add_option("--fabric", request->fabric, "What ranks are: thread, or shm for processes (thread)")
      ->type_name("FABRIC");
  command->add_option("--calls", request->calls, "Calls, one after the other (3)")
      ->check(whole_number(1))
      ->type_name("N");
  command->add_option("--timeout", request->timeout, "Seconds after which a call that waits fails (30)")
      ->check(CLI::Range(0.001, 1e6).description(""))
      ->type_name("S");
  command
      ->add_option("--trace", request->trace,
                   "Write what each rank did and waited for, for chrome://tracing or Perfetto")
      ->type_name("FILE");
  command->add_flag("--verbose", request->verbose, "Also what each rank moved, beside its cost card");
  command->add_flag("--json", request->json, "Print as JSON, with that");
  command->footer(
      "Exit codes: 0 right, 1 a wrong value, a refused call or a timeout, 2 no program.\n"
      "Examples, in the root of the repository:\n"
      "  reshard program run examples/ladder/15_all_to_all.rp --mode builtin -d 0,1,2,3\n"
      "  reshard program run examples/ladder/15_all_to_all.rp --mode hand -d 0,1 --fabric shm --verbose\n"
      "  reshard program run examples/ladder/15_all_to_all.rp --mode hand -d 0,1,2,3 --trace build/trace.json");
  command->callback([request, &action] { action = [request] { return run_program(*request); }; });
}

}  // namespace reshard::cli
