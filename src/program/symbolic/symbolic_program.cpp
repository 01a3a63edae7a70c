#include "reshard/symbolic.h"

#include <algorithm>
#include <string_view>

namespace reshard {
namespace {

template <class Declaration>
const Declaration* declared(const std::vector<Declaration>& declarations, std::string_view name) {
  const auto at = std::ranges::find(declarations, name, &Declaration::name);
  return at == declarations.end() ? nullptr : &*at;
}

}  // namespace

const BufferDeclaration* SymbolicProgram::buffer(std::string_view buffer_name) const {
  return declared(buffers, buffer_name);
}

const SignalDeclaration* SymbolicProgram::signal(std::string_view signal_name) const {
  return declared(signals, signal_name);
}

}  // namespace reshard
