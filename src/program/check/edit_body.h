// Looking through, and changing, the statements of a symbolic program.
#pragma once

#include <functional>
#include <string>

#include "reshard/symbolic.h"

namespace reshard::explore {

bool any_statement(const Statement& statement, const std::function<bool(const Statement&)>& holds);
bool any_statement(const Body& body, const std::function<bool(const Statement&)>& holds);
// Every statement, outer ones first.
void each_statement(Body& body, const std::function<void(Statement&)>& change);
// Every list of statements, outer ones first.
void each_body(Body& body, const std::function<void(Body&)>& change);

bool is_put(const Statement& statement);
bool is_notify(const Statement& statement);
bool is_wait(const Statement& statement);
// Holds such statements, and no data movement or local work.
bool only_waits(const Statement& statement);
bool only_notifies(const Statement& statement);

// Of a statement of several lines, the first.
std::string first_line(const Statement& statement);
// A name that no declaration has: `wanted`, or with a number behind it.
std::string free_name(const SymbolicProgram& program, const std::string& wanted);

}  // namespace reshard::explore
