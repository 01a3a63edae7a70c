// `reshard convert`: re-lays a checkpoint.
#include "reshard/convert.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "output/numbers.h"
#include "output/output.h"
#include "output/table.h"
#include "plan/plan_flags.h"

namespace reshard::cli {
namespace {

struct Flags {
  std::string source;
  std::string out;
  std::string from;
  std::string to;
  std::string from_mesh;
  std::string to_mesh;
  std::string config;
  std::string policy = "local";
  Index processes = 0;
  std::uint64_t memory = 256ULL << 20;
  std::uint64_t max_file = 5'000'000'000ULL;
  double timeout = 120;
  bool verify = false;
  bool no_sync = false;
  bool json = false;
  bool quiet = false;
};

std::optional<ModelRules> rules_of(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return load_model_rules(path);
}

ResolveSettings settings_of(const std::string& mesh_text, const std::string& config) {
  ResolveSettings settings;
  if (!mesh_text.empty()) settings.mesh = mesh(mesh_text);
  if (!config.empty()) settings.config = read_file(config);
  return settings;
}

std::chrono::milliseconds timeout_of(double seconds) {
  constexpr double kMost = 1e9;
  if (!(seconds > 0 && seconds <= kMost))
    throw Error(Code::invalid_argument,
                fmt::format("--timeout {}: more than 0 and at most {:.0f} seconds", seconds, kMost));
  return std::chrono::milliseconds(static_cast<Index>(seconds * 1000));
}

double rate(Index bytes, double seconds) { return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0; }

// One line that rewrites itself on a terminal, on standard error so that output can be piped.
void show_progress(const ConvertProgress& progress) {
  const double done = progress.bytes_total == 0
                          ? 1
                          : static_cast<double>(progress.bytes_done) / static_cast<double>(progress.bytes_total);
  const double left = done > 0 ? progress.seconds * (1 - done) / done : 0;
  const std::string files =
      progress.verifying ? "" : fmt::format("{} of {} files  ", progress.files_done, progress.files_total);
  fmt::print(stderr, "\r\x1b[K{} {} of {}  {:.0f} %  {:.2f} GB/s  {}{} left", progress.verifying ? "verify" : "write ",
             bytes_text(progress.bytes_done), bytes_text(progress.bytes_total), 100 * done,
             rate(progress.bytes_done, progress.seconds), files, seconds_text(left));
  if (progress.bytes_done == progress.bytes_total) fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

// The line may be half written when something goes wrong.
void end_progress(const ConvertRequest& request) {
  if (request.progress) fmt::print(stderr, "\r\x1b[K");
}

Index peak_resident() {
  struct rusage usage {};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return Index{usage.ru_maxrss} << 10;
}

std::string report_json(const ConvertReport& report) {
  nlohmann::ordered_json out;
  out["tensors"] = report.tensors;
  out["files"] = report.files;
  out["files_kept"] = report.files_kept;
  out["bytes"] = report.bytes;
  out["bytes_moved"] = report.moved;
  out["bytes_needed"] = report.needed;
  out["bytes_in_place"] = report.in_place;
  out["processes"] = report.processes;
  out["plan_seconds"] = report.plan_seconds;
  out["move_seconds"] = report.move_seconds;
  out["verify_seconds"] = report.verify_seconds;
  out["peak_resident_bytes_per_process"] = peak_resident();
  return out.dump(1) + "\n";
}

std::string report_text(const ConvertReport& report, const Flags& flags) {
  Table table({"", ">"});
  table.row({"tensors", count_text(report.tensors)});
  table.row({"files", count_text(report.files)});
  if (report.files_kept > 0) table.row({"  kept from an earlier run", count_text(report.files_kept)});
  table.row({"written", bytes_text(report.bytes)});
  table.row({"moved between ranks", bytes_text(report.moved)});
  table.row({"had to move", bytes_text(report.needed)});
  table.row({"stayed on its rank", bytes_text(report.in_place)});
  table.row({"planned in", seconds_text(report.plan_seconds)});
  table.row(
      {"written in",
       fmt::format("{}, {:.2f} GB/s, {}", seconds_text(report.move_seconds), rate(report.bytes, report.move_seconds),
                   report.processes == 1 ? "1 process" : count_text(report.processes) + " processes")});
  if (flags.verify)
    table.row({"verified in", fmt::format("{}, every byte equal", seconds_text(report.verify_seconds))});
  table.row({"memory of a process", bytes_text(peak_resident())});
  return fmt::format("{} -> {}\n{}", flags.source, flags.out, table.text());
}

int run(const Flags& flags) {
  ConvertRequest request;
  request.source = flags.source;
  request.out = flags.out;
  request.from = rules_of(flags.from);
  request.to = rules_of(flags.to);
  request.from_settings = settings_of(flags.from_mesh, flags.config);
  request.to_settings = settings_of(flags.to_mesh, flags.config);
  request.processes = flags.processes;
  request.memory = static_cast<Index>(flags.memory);
  request.max_file_bytes = static_cast<Index>(flags.max_file);
  request.plan.policy = policy_named(flags.policy);
  request.verify = flags.verify;
  request.sync = !flags.no_sync;
  request.timeout = timeout_of(flags.timeout);
  if (!flags.quiet && ::isatty(STDERR_FILENO) != 0) request.progress = show_progress;
  ConvertReport report;
  try {
    report = convert(request);
  } catch (const OutputDiffers& error) {
    end_progress(request);
    fmt::print(stderr, "reshard: {}\n", error.what());
    return kWrong;
  } catch (...) {
    end_progress(request);
    throw;
  }
  print(flags.json ? report_json(report) : report_text(report, flags));
  return kDone;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("convert", "Re-lay a checkpoint for another mesh");
  command->add_option("SOURCE", flags->source, "A .safetensors file, a folder of them, or what convert wrote")
      ->required();
  command->add_option("OUT", flags->out, "The folder to write; it appears whole or not at all")->required();
  command->add_option("--from", flags->from, "Model file of the source (default: as it says itself, or whole tensors)");
  command->add_option("--to", flags->to, "Model file of the output (default: whole tensors, in the original files)");
  command->add_option("--from-mesh", flags->from_mesh, "Mesh instead of the one in --from");
  command->add_option("--to-mesh", flags->to_mesh, "Mesh instead of the one in --to");
  command->add_option("--config", flags->config, "config.json of the model (default: the one in SOURCE)");
  command->add_option("--policy", flags->policy, fmt::format("Which of several copies is read: {}", policy_names()))
      ->capture_default_str();
  command->add_option("-j,--processes", flags->processes, "Processes that write (default: one per core)");
  command->add_option("--memory", flags->memory, "Staging and resident source pages of all processes")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("256MiB");
  command->add_option("--max-file", flags->max_file, "Data per file of whole tensors")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("5GB");
  command->add_option("--timeout", flags->timeout, "Seconds to wait for a process that stopped")->capture_default_str();
  command->add_flag("--verify", flags->verify, "Read the output back and compare every byte before it appears");
  command->add_flag("--no-sync", flags->no_sync,
                    "Leave writing to disk to the system, as cp does: faster, not safe against power loss");
  command->add_flag("--json", flags->json, "Print the report as JSON");
  command->add_flag("-q,--quiet", flags->quiet, "No progress");
  command->footer(
      "A run that was killed can be repeated: files that were finished are kept.\n"
      "Exit codes: 0 done, 1 the output differs from the source, 2 anything else; then OUT does not exist.\nExample:\n"
      "  reshard convert llama/ --to models/llama-packed.yaml --to-mesh \"inference(tp=4)\" llama-tp4/ --verify\n"
      "  reshard convert llama-tp4/ llama-again/");
  command->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace reshard::cli
