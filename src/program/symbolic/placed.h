// Declarations of a symbolic program with numbers in place of expressions: where each buffer lies on each rank.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/unroll.h"

namespace reshard {

// A buffer on one rank: row-major from `offset` bytes of an allocation on.
struct PlacedBuffer {
  int window = 0;
  Index offset = 0;
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape = {};
  Index elements = 0;
};

struct PlacedSignal {
  int signal = 0;
  std::vector<Index> shape = {};
};

// Immutable. Holds a copy of the program.
class PlacedProgram {
 public:
  // Throws Error(invalid_argument) that quotes the declaration at fault.
  PlacedProgram(const SymbolicProgram& program, const UnrollOptions& options);

  const SymbolicProgram& program() const { return program_; }
  const UnrollOptions& options() const { return options_; }
  // me, P, call and the sizes.
  Scope scope_of(RankId rank) const;
  const PlacedBuffer& buffer(std::string_view name, RankId rank) const;
  const PlacedSignal& signal(std::string_view name) const;
  // Bytes from the start of the allocation; throws where an index is outside the shape.
  Index offset_of(const PlacedBuffer& buffer, std::string_view name, RankId rank, std::span<const Index> indices) const;
  const std::vector<WindowSpec>& windows() const { return windows_; }
  const std::vector<SignalSpec>& signals() const { return signals_; }

 private:
  void check_sizes() const;
  void place(const BufferDeclaration& declaration);
  void place_own(const BufferDeclaration& declaration, std::vector<PlacedBuffer>& placed);
  void place_view(const BufferDeclaration& declaration, std::vector<PlacedBuffer>& placed) const;
  void place(const SignalDeclaration& declaration);
  std::vector<Index> shape_of(std::string_view name, const std::vector<Expression>& shape, RankId rank) const;

  SymbolicProgram program_;
  UnrollOptions options_;
  std::map<std::string, std::vector<PlacedBuffer>, std::less<>> buffers_;  // per rank
  std::map<std::string, PlacedSignal, std::less<>> signals_by_name_;
  std::vector<WindowSpec> windows_;
  std::vector<SignalSpec> signals_;
};

}  // namespace reshard
