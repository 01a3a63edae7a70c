// reshard tune
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "command.h"
#include "options/number_list.h"
#include "options/whole_number.h"
#include "output/output.h"
#include "reshard/error.h"
#include "tune/measured.h"

namespace reshard::cli {
namespace {

constexpr CollectiveKind kAllKinds[] = {CollectiveKind::all_to_all, CollectiveKind::all_gather,
                                        CollectiveKind::broadcast, CollectiveKind::reduce_scatter,
                                        CollectiveKind::all_reduce};
constexpr const char* kSizes = "64,256,1024,4096,16384,65536,262144,1048576,4194304,16777216";

struct TuneFlags {
  std::string ranks = "2,4,8", bytes = kSizes, fabric = "shm", out;
  std::vector<std::string> operations;
  Index rounds = 9;
  bool json = false;
};

std::vector<CollectiveKind> kinds_in(const std::vector<std::string>& names) {
  if (names.empty()) return {std::begin(kAllKinds), std::end(kAllKinds)};
  std::vector<CollectiveKind> kinds;
  for (const std::string& name : names) {
    const auto kind = collective_named(name);
    if (!kind)
      throw Error(
          Code::invalid_argument,
          fmt::format("--operations {}: all_to_all, all_gather, broadcast, reduce_scatter or all_reduce", name));
    kinds.push_back(*kind);
  }
  return kinds;
}

TuneRequest request_of(const TuneFlags& flags) {
  if (flags.fabric != "thread" && flags.fabric != "shm")
    throw Error(Code::invalid_argument, fmt::format("--fabric {}: thread or shm", flags.fabric));
  TuneRequest request{.fabric = flags.fabric,
                      .ranks = number_list("--ranks", flags.ranks, 1),
                      .bytes = number_list("--bytes", flags.bytes),
                      .kinds = kinds_in(flags.operations),
                      .rounds = flags.rounds};
  for (std::vector<Index>* list : {&request.ranks, &request.bytes}) {
    std::ranges::sort(*list);
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  return request;
}

int tune(const TuneFlags& flags) {
  const TuneRequest request = request_of(flags);
  const std::vector<MeasuredCase> cases = measure(request);
  const Tuning tuning = tuning_of(cases);
  if (!flags.out.empty()) write_file(flags.out, tuning.text());
  print(flags.json ? tune_json(request.fabric, cases, tuning) : tune_text(cases, tuning));
  if (!flags.json && !flags.out.empty())
    print(fmt::format("\nRESHARD_TUNING={} makes operations go by it.\n", flags.out));
  return kDone;
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("tune", "Time the algorithms of collective operations here, and make a table of the fastest");
  const auto flags = std::make_shared<TuneFlags>();
  command->add_option("--ranks", flags->ranks, "Numbers of ranks (2,4,8)")->type_name("LIST");
  command->add_option("--bytes", flags->bytes, fmt::format("Of input or output per rank, the greater ({})", kSizes))
      ->type_name("LIST");
  command->add_option("--operations", flags->operations, "Of which operations; others are not in the table (all)")
      ->delimiter(',')
      ->type_name("LIST");
  command->add_option("--fabric", flags->fabric, "What ranks are: thread, or shm for processes (shm)")
      ->type_name("FABRIC");
  command->add_option("--rounds", flags->rounds, "Each times every algorithm once; the median counts (9)")
      ->check(whole_number(1))
      ->type_name("N");
  command->add_option("--out", flags->out, "Write the table that RESHARD_TUNING may name")->type_name("FILE");
  command->add_flag("--json", flags->json, "Print as JSON, with the spread and the table");
  command->footer(
      "A run takes as long as its slowest rank. An algorithm is left only for one that is 3 % faster. With --out\n"
      "tuning.txt, programs that run with RESHARD_TUNING=tuning.txt go by the table.\n"
      "Examples:\n"
      "  reshard tune --ranks 2 --operations all_reduce,broadcast --bytes 1024,65536 --rounds 3\n"
      "  reshard tune --ranks 2 --operations all_to_all --bytes 64 --fabric thread --json");
  command->callback([flags, &action] { action = [flags] { return tune(*flags); }; });
}

}  // namespace reshard::cli
