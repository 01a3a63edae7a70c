// A put that is done later than it was asked for: it keeps what views data of the call.
#pragma once

#include <span>
#include <vector>

#include "reshard/fabric.h"

namespace reshard::fabric {

class HeldPut {
 public:
  HeldPut(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source)
      : peer_(peer), window_(window), copy_(copy), loops_(copy.loops.begin(), copy.loops.end()), source_(source) {}
  WindowId window() const { return window_; }
  void put_to(Endpoint& endpoint) const {
    StridedCopy copy = copy_;
    copy.loops = loops_;
    endpoint.put(peer_, window_, copy, source_);
  }

 private:
  RankId peer_;
  WindowId window_;
  StridedCopy copy_;
  std::vector<Stride> loops_;
  std::span<const std::byte> source_;
};

}  // namespace reshard::fabric
