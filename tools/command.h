// The subcommands of `reshard`, one line each here and in main.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace reshard::cli {

// Exit codes of every command.
inline constexpr int kDone = 0;
inline constexpr int kWrong = 1;    // the command ran, and what it looked at is not right
inline constexpr int kRefused = 2;  // bad usage or input: nothing was done

// What the command line asked for; returns the exit code. An exception is shown as one line and means kRefused.
using Action = std::function<int()>;

// Each adds one subcommand; when the user names it, `action` becomes what it does.
void add_explain(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_boxes(CLI::App& app, Action& action);
void add_megatron(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_stamp(CLI::App& app, Action& action);
void add_program(CLI::App& app, Action& action);
void add_op(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);

}  // namespace reshard::cli
