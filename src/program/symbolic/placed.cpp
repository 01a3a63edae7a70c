#include "program/symbolic/placed.h"

#include "base/checked.h"
#include "base/fail.h"

namespace reshard {
namespace {

Index bytes_in(const PlacedBuffer& buffer) { return buffer.elements * bytes_of(buffer.dtype); }

// Row-major over `shape`, one index each.
bool next_index(std::vector<Index>& at, const std::vector<Index>& shape) {
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (++at[d] < shape[d]) return true;
    at[d] = 0;
  }
  return false;
}

}  // namespace

PlacedProgram::PlacedProgram(const SymbolicProgram& program, const UnrollOptions& options)
    : program_(program), options_(options) {
  if (options_.ranks < 1)
    fail(Code::invalid_argument, "program {}: {} ranks; it takes at least 1", program.name, options_.ranks);
  if (options_.call < 1)
    fail(Code::invalid_argument, "program {}: calls count from 1, not {}", program.name, options_.call);
  check_sizes();
  for (const BufferDeclaration& declaration : program_.buffers) place(declaration);
  for (const SignalDeclaration& declaration : program_.signals) place(declaration);
}

void PlacedProgram::check_sizes() const {
  for (const auto& [name, value] : options_.sizes) {
    std::string known;
    bool found = false;
    for (const SizeDeclaration& size : program_.sizes) {
      known += (known.empty() ? "" : ", ") + size.name;
      found = found || size.name == name;
    }
    if (!found)
      fail(Code::invalid_argument, "program {} has no size {}; {}", program_.name, name,
           known.empty() ? "it has none" : "its sizes are " + known);
  }
}

Scope PlacedProgram::scope_of(RankId rank) const {
  Scope scope;
  for (const SizeDeclaration& size : program_.sizes) {
    const auto set = options_.sizes.find(size.name);
    scope.set(size.name, set == options_.sizes.end() ? size.value : set->second);
  }
  scope.set("me", rank.value());
  scope.set("P", options_.ranks);
  scope.set("call", options_.call);
  return scope;
}

std::vector<Index> PlacedProgram::shape_of(std::string_view name, const std::vector<Expression>& shape,
                                           RankId rank) const {
  const Scope scope = scope_of(rank);
  std::vector<Index> extents;
  for (const Expression& extent : shape) {
    extents.push_back(evaluate(extent, scope));
    if (extents.back() < 0)
      fail(Code::invalid_argument, "program {}: extent `{}` of {} is {} on rank {}", program_.name, extent.text(), name,
           extents.back(), rank.value());
  }
  return extents;
}

void PlacedProgram::place(const BufferDeclaration& declaration) {
  std::vector<PlacedBuffer> placed;
  for (Index r = 0; r < options_.ranks; ++r) {
    PlacedBuffer buffer{0, 0, declaration.dtype, shape_of(declaration.name, declaration.shape, RankId(r)), 0};
    buffer.elements = checked_product(buffer.shape, "elements of " + declaration.name);
    checked_mul(buffer.elements, bytes_of(buffer.dtype), "bytes of " + declaration.name);
    placed.push_back(std::move(buffer));
  }
  declaration.viewed.empty() ? place_own(declaration, placed) : place_view(declaration, placed);
  if (!buffers_.emplace(declaration.name, std::move(placed)).second)
    fail(Code::invalid_argument, "program {}: {} is declared twice", program_.name, declaration.name);
}

void PlacedProgram::place_own(const BufferDeclaration& declaration, std::vector<PlacedBuffer>& placed) {
  WindowSpec spec{.name = declaration.name, .bytes = {}, .role = declaration.role, .dtype = declaration.dtype};
  for (PlacedBuffer& buffer : placed) {
    buffer.window = static_cast<int>(windows_.size());
    spec.bytes.push_back(bytes_in(buffer));
    spec.shapes.push_back(buffer.shape);
  }
  windows_.push_back(std::move(spec));
}

void PlacedProgram::place_view(const BufferDeclaration& declaration, std::vector<PlacedBuffer>& placed) const {
  for (Index r = 0; r < options_.ranks; ++r) {
    PlacedBuffer& view = placed[static_cast<std::size_t>(r)];
    const PlacedBuffer& whole = buffer(declaration.viewed, RankId(r));
    const Index offset = evaluate(declaration.offset_bytes, scope_of(RankId(r)));
    if (offset < 0 || offset > bytes_in(whole) || bytes_in(view) > bytes_in(whole) - offset)
      fail(Code::invalid_argument, "program {}: view {} is bytes [{}, {}) of {}, which has {} on rank {}",
           program_.name, declaration.name, offset, offset + bytes_in(view), declaration.viewed, bytes_in(whole), r);
    view.window = whole.window;
    view.offset = whole.offset + offset;
    if (view.offset % bytes_of(view.dtype) != 0)
      fail(Code::invalid_argument,
           "program {}: view {} begins at byte {} of its allocation, which is no multiple of the {} bytes of {}",
           program_.name, declaration.name, view.offset, bytes_of(view.dtype), name_of(view.dtype));
  }
}

void PlacedProgram::place(const SignalDeclaration& declaration) {
  PlacedSignal placed{static_cast<int>(signals_.size()), shape_of(declaration.name, declaration.shape, RankId(0))};
  SignalSpec spec{.name = declaration.name,
                  .slots = checked_product(placed.shape, "slots of " + declaration.name),
                  .bits = declaration.bits,
                  .protocol = declaration.protocol};
  if (declaration.bits < 1 || declaration.bits > 64)
    fail(Code::invalid_argument, "program {}: signal {} has {} bits; 1 to 64", program_.name, declaration.name,
         declaration.bits);
  for (Index r = 0; r < options_.ranks && !declaration.starts.is_constant(0); ++r) {
    Scope scope = scope_of(RankId(r));
    std::vector<Index> at(placed.shape.size(), 0);
    std::vector<std::uint64_t>& starts = spec.starts.emplace_back();
    if (spec.slots == 0) continue;
    do {
      for (std::size_t d = 0; d < at.size(); ++d) scope.set("i" + std::to_string(d), at[d]);
      starts.push_back(static_cast<std::uint64_t>(evaluate(declaration.starts, scope)));
    } while (next_index(at, placed.shape));
  }
  signals_.push_back(std::move(spec));
  if (!signals_by_name_.emplace(declaration.name, std::move(placed)).second)
    fail(Code::invalid_argument, "program {}: {} is declared twice", program_.name, declaration.name);
}

const PlacedBuffer& PlacedProgram::buffer(std::string_view name, RankId rank) const {
  const auto at = buffers_.find(name);
  if (at == buffers_.end()) fail(Code::invalid_argument, "program {} declares no buffer {}", program_.name, name);
  return at->second.at(static_cast<std::size_t>(rank.value()));
}

const PlacedSignal& PlacedProgram::signal(std::string_view name) const {
  const auto at = signals_by_name_.find(name);
  if (at == signals_by_name_.end())
    fail(Code::invalid_argument, "program {} declares no signal {}", program_.name, name);
  return at->second;
}

Index PlacedProgram::offset_of(const PlacedBuffer& buffer, std::string_view name, RankId rank,
                               std::span<const Index> indices) const {
  if (indices.size() != buffer.shape.size())
    fail(Code::invalid_argument, "{} has {} dimensions, but {} indices are given", name, buffer.shape.size(),
         indices.size());
  Index element = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (indices[d] < 0 || indices[d] >= buffer.shape[d])
      fail(Code::invalid_argument, "index {} of dimension {} of {} is outside [0, {}) on rank {}", indices[d], d, name,
           buffer.shape[d], rank.value());
    element = element * buffer.shape[d] + indices[d];
  }
  return buffer.offset + element * bytes_of(buffer.dtype);
}

}  // namespace reshard
