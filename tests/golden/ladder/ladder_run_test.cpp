// Every step on threads, and in both modes with the same outputs.
#include <gtest/gtest.h>

#include <map>

#include "ladder/ladder.h"
#include "reshard/program_run.h"
#include "reshard/ranks.h"

namespace reshard {
namespace {

using Outputs = std::map<std::string, std::vector<std::byte>>;

// Of each rank, after three calls. Throws where a call does not give what the program expects.
std::vector<Outputs> outputs_of(const SymbolicProgram& program, Index ranks) {
  std::vector<Outputs> outputs(static_cast<std::size_t>(ranks));
  thread_ranks(ranks, [&](World& world) {
    ProgramRun run(world, program);
    for (int call = 0; call < 3; ++call) {
      run.fill_inputs();
      run.call();
      run.check_outputs();
    }
    for (const BufferDeclaration& buffer : program.buffers) {
      if (buffer.role != BufferRole::output) continue;
      const auto bytes = run.bytes(buffer.name);
      outputs[static_cast<std::size_t>(world.rank().value())][buffer.name] = {bytes.begin(), bytes.end()};
    }
  });
  return outputs;
}

TEST(LadderRun, HandAndBuiltinGiveTheSame) {
  for (const Index ranks : {1, 2, 3, 4, 7, 8}) {
    std::map<std::string, std::vector<Outputs>> of_step;
    each_right_program([&](const LadderFile& file, const SymbolicProgram& program) {
      const std::vector<Outputs> outputs = outputs_of(program, ranks);
      const auto [other, first] = of_step.try_emplace(file.step, outputs);
      EXPECT_TRUE(first || other->second == outputs) << ranks << " ranks";
    });
  }
}

}  // namespace
}  // namespace reshard
