// reshard verify PLAN
#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "output/numbers.h"
#include "output/output.h"
#include "reshard/plan.h"

namespace reshard::cli {
namespace {

int verify_file(const std::string& path) {
  const Plan plan = plan_from_json(read_file(path));
  const std::vector<Fault> faults = verify(plan);
  if (faults.empty()) {
    const Certificate certificate = plan.certificate();
    print(fmt::format("sound: {} from {} to {}, {} sent\n", count_text(std::ssize(plan.transfers()), "transfer"),
                      plan.source().text(), plan.target().text(), bytes_text(certificate.sent)));
    return kDone;
  }
  print(fmt::format("not sound: {}\n", count_text(std::ssize(faults), "fault")));
  for (const Fault& fault : faults) print("  " + fault.message + "\n");
  return kWrong;
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("verify", "Prove a plan right from its layouts alone, or list its faults");
  const auto path = std::make_shared<std::string>();
  command->add_option("plan", *path, "JSON that `reshard plan --out` wrote; - for standard input")
      ->required()
      ->type_name("PLAN");
  command->footer(
      "Exit codes: 0 sound, 1 with faults, 2 not a plan.\nExample:\n"
      "  reshard plan \"f32[6] on (a=3) {0: a}\" \"f32[6] on (a=2) {0: a}\" --out - | reshard verify -");
  command->callback([path, &action] { action = [path] { return verify_file(*path); }; });
}

}  // namespace reshard::cli
