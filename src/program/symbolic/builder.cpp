// Declarations, names and blocks of the builder; kernel_statements.cpp has its statements.
#include "reshard/builder.h"

#include <algorithm>

#include "base/fail.h"
#include "program/symbolic/words.h"

namespace reshard {
namespace {

bool uses_index(const std::vector<ContentRule>& rules, std::string_view name) {
  return std::ranges::any_of(
      rules, [&](const ContentRule& rule) { return std::ranges::find(rule.indices, name) != rule.indices.end(); });
}

}  // namespace

Kernel::Kernel(std::string name) : bodies_{&program_.body} {
  require_name(name);
  program_.name = std::move(name);
}

Kernel::Kernel(SymbolicProgram program) : program_(std::move(program)), bodies_{&program_.body} {
  program_.body.clear();
}

Expression Kernel::me() const { return Expression::variable("me"); }
Expression Kernel::ranks() const { return Expression::variable("P"); }
Expression Kernel::call() const { return Expression::variable("call"); }

bool Kernel::is_declared(std::string_view name) const {
  return program_.buffer(name) != nullptr || program_.signal(name) != nullptr ||
         std::ranges::find(program_.sizes, name, &SizeDeclaration::name) != program_.sizes.end();
}

bool Kernel::is_taken(std::string_view name) const {
  return is_program_word(name) || is_declared(name) || std::ranges::find(variables_, name) != variables_.end();
}

std::string Kernel::fresh(const std::string& wanted) const {
  require_name(wanted);
  std::string name = wanted;
  for (int number = 2; is_taken(name); ++number) name = wanted + std::to_string(number);
  return name;
}

void Kernel::claim(const std::string& name) const {
  require_declarable(name);
  if (is_taken(name) || uses_index(program_.init, name) || uses_index(program_.expect, name))
    fail(Code::invalid_argument, "program {} has a `{}` already; choose another name, or let fresh() do it",
         program_.name, name);
}

Expression Kernel::size(const std::string& name, Index value) {
  claim(name);
  program_.sizes.push_back({name, value});
  return Expression::variable(name);
}

BufferRef Kernel::buffer(BufferDeclaration declaration) {
  claim(declaration.name);
  program_.buffers.push_back(std::move(declaration));
  return BufferRef(program_.buffers.back().name);
}

BufferRef Kernel::input(const std::string& name, Dtype dtype, Shape shape) {
  return buffer({BufferRole::input, name, dtype, std::move(shape)});
}

BufferRef Kernel::output(const std::string& name, Dtype dtype, Shape shape) {
  return buffer({BufferRole::output, name, dtype, std::move(shape)});
}

BufferRef Kernel::window(const std::string& name, Dtype dtype, Shape shape) {
  return buffer({BufferRole::window, name, dtype, std::move(shape)});
}

BufferRef Kernel::local(const std::string& name, Dtype dtype, Shape shape) {
  return buffer({BufferRole::local, name, dtype, std::move(shape)});
}

BufferRef Kernel::view(const std::string& name, Dtype dtype, Shape shape, const BufferRef& of,
                       Expression offset_bytes) {
  const BufferDeclaration* viewed = program_.buffer(of.name());
  if (viewed == nullptr)
    fail(Code::invalid_argument, "program {} has no buffer `{}` that `{}` could view", program_.name, of.name(), name);
  return buffer({viewed->role, name, dtype, std::move(shape), of.name(), std::move(offset_bytes)});
}

SignalRef Kernel::signal(const std::string& name, Shape shape, SignalOptions options) {
  claim(name);
  program_.signals.push_back({name, std::move(shape), options.bits, options.protocol, std::move(options.starts)});
  return SignalRef(name);
}

void Kernel::check_rule(const ContentRule& rule) const {
  const BufferDeclaration* buffer = program_.buffer(rule.buffer);
  if (buffer == nullptr) fail(Code::invalid_argument, "program {} has no buffer `{}`", program_.name, rule.buffer);
  if (buffer->shape.size() != rule.indices.size())
    fail(Code::invalid_argument, "the rule for `{}` has {} indices, its shape {}", rule.buffer, rule.indices.size(),
         buffer->shape.size());
  for (const std::string& index : rule.indices)
    if (!is_program_name(index) || is_program_word(index) || is_declared(index))
      fail(Code::invalid_argument, "`{}` cannot be an index in the rule for `{}`; choose another name", index,
           rule.buffer);
}

void Kernel::init_rule(ContentRule rule) {
  check_rule(rule);
  program_.init.push_back(std::move(rule));
}

void Kernel::expect_rule(ContentRule rule) {
  check_rule(rule);
  program_.expect.push_back(std::move(rule));
}

Body Kernel::block(const std::function<void()>& write) {
  // Left again however `write` ends.
  struct Nested {
    explicit Nested(Kernel& k, Body& body) : kernel(k), variables(k.variables_.size()) { k.bodies_.push_back(&body); }
    ~Nested() {
      kernel.bodies_.pop_back();
      kernel.variables_.resize(variables);
    }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    Kernel& kernel;
    std::size_t variables;
  };
  Body body;
  const Nested nested(*this, body);
  write();
  return body;
}

SymbolicProgram Kernel::take() && { return std::move(program_); }

SymbolicProgram program(const std::string& name, const std::function<void(Kernel&)>& write) {
  Kernel kernel(name);
  write(kernel);
  return std::move(kernel).take();
}

}  // namespace reshard
