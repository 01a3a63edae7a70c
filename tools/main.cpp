// `reshard`: finds the subcommand, runs it, and turns what goes wrong into one line and an exit code.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "command.h"
#include "output/output.h"

namespace reshard::cli {
namespace {

constexpr void (*kCommands[])(CLI::App&, Action&) = {
    add_explain, add_plan,    add_boxes, add_megatron, add_predict, add_verify, add_compare,
    add_inspect, add_convert, add_stamp, add_program,  add_op,      add_tune,
};

int refuse(std::string_view message) {
  fmt::print(stderr, "reshard: {}\n", message);
  return kRefused;
}

// The command whose usage was wrong, for the hint.
std::string named(const CLI::App& app) {
  std::string name = "reshard";
  for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = chosen.front()->get_subcommands())
    name += " " + chosen.front()->get_name();
  return name;
}

int run(int argc, char** argv) {
  CLI::App app("Moves sharded tensors: shows, plans, proves and re-lays them.", "reshard");
  app.set_version_flag("--version", "reshard " RESHARD_VERSION);
  app.footer(
      "Exit codes: 0 done, 1 wrong result, 2 bad usage or input.\nExample:\n"
      "  reshard explain \"f32[4,2] on (r=4) {0: r}\" \"f32[4,2] on (y=2, x=2) {0: y, 1: x}\"");
  app.require_subcommand(0, 1);
  Action action;
  for (const auto add : kCommands) add(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return kDone;
  } catch (const CLI::CallForVersion&) {
    print("reshard " RESHARD_VERSION "\n");
    return kDone;
  } catch (const CLI::ParseError& error) {
    return refuse(fmt::format("{} (see {} --help)", error.what(), named(app)));
  }
  if (!action) {
    fmt::print(stderr, "{}", app.help());
    return kRefused;
  }
  return action();
}

}  // namespace
}  // namespace reshard::cli

int main(int argc, char** argv) {
  using namespace reshard::cli;
  try {
    const int code = run(argc, argv);
    flush();
    return code;
  } catch (const ReaderGone&) {
    return kDone;
  } catch (const std::bad_alloc&) {
    return refuse("out of memory");
  } catch (const std::exception& error) {
    return refuse(error.what());
  }
}
