#include "program/traced_ranks.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "output/output.h"
#include "reshard/kernel.h"
#include "reshard/shm_fabric.h"
#include "reshard/thread_fabric.h"
#include "reshard/wrap.h"

namespace reshard::cli {
namespace {

std::string part_file(const std::string& file, Index rank) { return fmt::format("{}.rank{}", file, rank); }

void run_rank(Endpoint& endpoint, const std::function<void(World&)>& body, const WorldOptions& options,
              const std::string& file) {
  TraceLog log(endpoint.rank());
  const std::unique_ptr<Endpoint> drawn = traced(endpoint, log);
  const auto write_part = [&] { write_file(part_file(file, endpoint.rank().value()), trace_part(log)); };
  try {
    World world(*drawn, options);
    body(world);
  } catch (...) {
    write_part();
    throw;
  }
  write_part();
}

// Ranks that died have left no part.
void merge_parts(Index ranks, const std::string& file) {
  std::vector<std::string> parts;
  for (Index r = 0; r < ranks; ++r) {
    const std::string part = part_file(file, r);
    if (!std::filesystem::exists(part)) continue;
    parts.push_back(read_file(part));
    std::filesystem::remove(part);
  }
  write_file(file, chrome_trace(parts));
}

}  // namespace

void traced_ranks(bool as_processes, Index ranks, const std::function<void(World&)>& body, const WorldOptions& options,
                  const std::string& file) {
  const RankBody rank = [&](Endpoint& endpoint) { run_rank(endpoint, body, options, file); };
  try {
    (as_processes ? run_processes : run_threads)(ranks, rank, {.copy = copy_kernel()});
  } catch (...) {
    merge_parts(ranks, file);
    throw;
  }
  merge_parts(ranks, file);
}

}  // namespace reshard::cli
