// Ranks as processes that find each other through any store, over UCX: over TCP, or what else UCX_TLS names.
//
//   const Exchange exchange = through_folder("/run/jobs", "7", rank, 4);
//   UcxWorld world = join_ucx({.rank = rank, .ranks = 4, .exchange = exchange});
//   World tensors(world.endpoint());
//
// Link reshard::ucx, which a package has where UCX was found.
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
  // Of joining and of leaving, and of calls that take no deadline: get, put, notify, fence.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  // A host that does not answer for so long, 4 s at least, is gone, and its ranks are lost. Its kernel answers, so a
  // rank that computes is not taken for lost, nor is one that was stopped; and nobody asks while data is on its way
  // there. What ends the wait for such a rank is its deadline.
  std::chrono::milliseconds silence = std::chrono::seconds(10);
};

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

// Collective. Throws Error(timeout) that names a rank that did not come, Error(invalid_argument) where ranks disagree
// on how many they are.
UcxWorld join_ucx(const UcxOptions& options);

}  // namespace reshard
