// Ranks as processes that find each other through any store, over UCX: TCP between hosts, remote memory access where a
// network has it, shared memory between ranks of one host.
//
//   UcxWorld world = join_ucx({.rank = RankId(0), .ranks = 4, .exchange = through_folder("/run/jobs", "7", RankId(0), 4)});
//   World tensors(world.endpoint());
//
// In builds without UCX everything here exists, and says so: ucx_available().
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "reshard/exchange.h"
#include "reshard/fabric.h"

namespace reshard {

struct UcxOptions {
  RankId rank = {};
  Index ranks = 1;
  Exchange exchange = {};
  // Runs put and get between ranks of one host. Null: a plain loop over rows.
  CopyKernel copy = nullptr;
  // Ranks with one host identity share memory. Empty: RESHARD_HOST, else what the machine says of itself.
  std::string host = {};
  // Address space for the windows of this rank; see RunOptions.
  Index window_space = Index{64} << 30;
  std::chrono::milliseconds timeout = std::chrono::seconds(30);  // of joining and of leaving
  // A peer that has not been heard of for so long is lost, whatever its connection says.
  std::chrono::milliseconds silence = std::chrono::seconds(10);
};

bool ucx_available();

// This rank's part of a world. Leaving is collective: the destructor serves peers until all have left, one is lost, or
// the timeout is over.
class UcxWorld {
 public:
  UcxWorld(UcxWorld&&) noexcept;
  ~UcxWorld();
  Endpoint& endpoint();

 private:
  friend UcxWorld join_ucx(const UcxOptions&);
  struct State;
  explicit UcxWorld(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Collective. Throws Error(unsupported) in a build without UCX, Error(timeout) that names a rank that did not come,
// Error(invalid_argument) where ranks disagree on how many they are.
UcxWorld join_ucx(const UcxOptions& options);

}  // namespace reshard
