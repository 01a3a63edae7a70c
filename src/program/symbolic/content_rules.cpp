#include "program/symbolic/content_rules.h"

#include "base/fail.h"

namespace reshard {
namespace {

// What a dtype counts up to without a gap.
Index exact_limit(Dtype dtype) {
  switch (dtype) {
    case Dtype::boolean: return 2;
    case Dtype::f8e4m3: return 16;
    case Dtype::f8e5m2: return 8;
    case Dtype::i8: return 128;
    case Dtype::u8:
    case Dtype::bf16: return 256;
    case Dtype::f16: return 2048;
    case Dtype::i16: return 32768;
    case Dtype::u16: return 65536;
    case Dtype::f32:
    case Dtype::complex64: return Index{1} << 24;
    default: return Index{1} << 31;
  }
}

void stamp(const WindowSpec& input, Index call, RankId rank, std::span<std::byte> bytes) {
  const Index limit = exact_limit(input.dtype), step = bytes_of(input.dtype);
  for (Index i = 0; i * step < static_cast<Index>(bytes.size()); ++i)
    write_element(input.dtype, (call * 1000000 + rank.value() * 10000 + i) % limit, bytes.data() + i * step);
}

void check_rule(const PlacedProgram& program, const ContentRule& rule, const PlacedBuffer& buffer) {
  if (rule.indices.size() != buffer.shape.size())
    fail(Code::invalid_argument, "program {}: the rule for {} names {} indices of {} dimensions",
         program.program().name, rule.buffer, rule.indices.size(), buffer.shape.size());
}

}  // namespace

void each_element(const PlacedProgram& program, const ContentRule& rule, RankId rank, ElementReader* reader,
                  const std::function<void(const Scope&, const PlacedBuffer&, Index)>& visit) {
  const PlacedBuffer& buffer = program.buffer(rule.buffer, rank);
  check_rule(program, rule, buffer);
  Scope scope = program.scope_of(rank);
  for (Index element = 0; element < buffer.elements; ++element) {
    Index rest = element;
    for (std::size_t d = buffer.shape.size(); d-- > 0;) {
      scope.set(rule.indices[d], rest % buffer.shape[d]);
      rest /= buffer.shape[d];
    }
    if (evaluate(rule.where, scope, reader) == 0) continue;
    visit(scope, buffer, buffer.offset + element * bytes_of(buffer.dtype));
  }
}

bool write_initial(const PlacedProgram& program, RankId rank, int window, std::span<std::byte> bytes) {
  const WindowSpec& spec = program.windows().at(static_cast<std::size_t>(window));
  const bool is_input = spec.role == BufferRole::input;
  if (!is_input && program.options().call > 1) return false;
  bool written = false;
  for (const ContentRule& rule : program.program().init) {
    if (program.buffer(rule.buffer, rank).window != window) continue;
    written = true;
    each_element(program, rule, rank, nullptr, [&](const Scope& scope, const PlacedBuffer& buffer, Index offset) {
      write_element(buffer.dtype, evaluate(rule.value, scope), bytes.data() + offset);
    });
  }
  if (is_input && !written) stamp(spec, program.options().call, rank, bytes);
  return is_input || written;
}

Index InitialElements::element(const std::string& buffer, std::span<const Index> indices) {
  return element_on(buffer, me_.value(), indices);
}

Index InitialElements::element_on(const std::string& buffer, Index rank, std::span<const Index> indices) {
  const Term at = place(buffer, rank, indices);
  auto [entry, added] = contents_.try_emplace({rank, at.window});
  if (added) {
    const WindowSpec& spec = program_.windows()[static_cast<std::size_t>(at.window)];
    entry->second.resize(static_cast<std::size_t>(spec.bytes[static_cast<std::size_t>(rank)]));
    write_initial(program_, RankId(rank), at.window, entry->second);
  }
  return read_element(program_.buffer(buffer, RankId(rank)).dtype, entry->second.data() + at.offset);
}

Term InitialElements::place(const std::string& name, Index rank, std::span<const Index> indices) const {
  if (rank < 0 || rank >= program_.options().ranks)
    fail(Code::invalid_argument, "{}@{}: the rank is outside [0, {})", name, rank, program_.options().ranks);
  const PlacedBuffer& buffer = program_.buffer(name, RankId(rank));
  if (program_.windows()[static_cast<std::size_t>(buffer.window)].role != BufferRole::input)
    fail(Code::invalid_argument, "what is expected is said in terms of inputs, and {} is none", name);
  return {.kind = Term::Kind::input,
          .rank = RankId(rank),
          .window = buffer.window,
          .offset = program_.offset_of(buffer, name, RankId(rank), indices),
          .dtype = buffer.dtype};
}

}  // namespace reshard
