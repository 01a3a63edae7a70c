#include "program/symbolic/deferred_statements.h"

#include "program/symbolic/unroller.h"

namespace reshard {
namespace {

// Elements of buffers by name, in the memory of one rank.
class MemoryElements final : public ElementReader {
 public:
  MemoryElements(const PlacedProgram& program, RankId me, MemoryReader& memory)
      : program_(program), me_(me), memory_(memory) {}

  Index element(const std::string& name, std::span<const Index> indices) override {
    const PlacedBuffer& buffer = program_.buffer(name, me_);
    return memory_.integer(buffer.window, program_.offset_of(buffer, name, me_, indices), buffer.dtype);
  }

 private:
  const PlacedProgram& program_;
  RankId me_;
  MemoryReader& memory_;
};

}  // namespace

DeferredStatements::DeferredStatements(std::shared_ptr<const PlacedProgram> program, RankId me, const Body& body,
                                       std::size_t at, bool rest, Scope scope)
    : program_(std::move(program)), me_(me), body_(&body), at_(at), rest_(rest), scope_(std::move(scope)) {}

void DeferredStatements::expand(MemoryReader& memory, std::vector<Operation>& operations) const {
  MemoryElements elements(*program_, me_, memory);
  Unroller unroller(program_, me_, operations, elements, memory);
  Scope scope = scope_;
  rest_ ? unroller.walk(*body_, at_, scope) : unroller.walk_one((*body_)[at_], scope);
}

}  // namespace reshard
