// An endpoint that hands every call on: what wrappers, and tests, change one call of.
#pragma once

#include "reshard/fabric.h"

namespace reshard::fabric {

class ForwardEndpoint : public Endpoint {
 public:
  explicit ForwardEndpoint(Endpoint& inner) : inner_(inner) {}
  RankId rank() const override { return inner_.rank(); }
  Index ranks() const override { return inner_.ranks(); }
  Capabilities capabilities() const override { return inner_.capabilities(); }
  Index host_of(RankId rank) const override { return inner_.host_of(rank); }
  WindowId create_window(std::string_view name, Index bytes, Clock::time_point deadline) override {
    return inner_.create_window(name, bytes, deadline);
  }
  SignalId create_signal(std::string_view name, Index slots, Clock::time_point deadline) override {
    return inner_.create_signal(name, slots, deadline);
  }
  WindowId expose_window(std::string_view name, std::span<std::byte> memory, Exposure how,
                         Clock::time_point deadline) override {
    return inner_.expose_window(name, memory, how, deadline);
  }
  void destroy_window(WindowId window, Clock::time_point deadline) override { inner_.destroy_window(window, deadline); }
  void destroy_signal(SignalId signal, Clock::time_point deadline) override { inner_.destroy_signal(signal, deadline); }
  std::span<std::byte> memory(WindowId window) override { return inner_.memory(window); }
  Index window_bytes(WindowId window, RankId rank) const override { return inner_.window_bytes(window, rank); }
  void get(RankId peer, WindowId window, const StridedCopy& copy, std::span<std::byte> target) override {
    inner_.get(peer, window, copy, target);
  }
  void put(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source) override {
    inner_.put(peer, window, copy, source);
  }
  void accumulate(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source,
                  CopyKernel combine, Clock::time_point deadline) override {
    inner_.accumulate(peer, window, copy, source, combine, deadline);
  }
  void notify(RankId peer, SignalId signal, Index slot, std::uint64_t value, Update update) override {
    inner_.notify(peer, signal, slot, value, update);
  }
  void wait(SignalId signal, Index slot, std::uint64_t value, Until until, Clock::time_point deadline) override {
    inner_.wait(signal, slot, value, until, deadline);
  }
  std::uint64_t peek(SignalId signal, Index slot) const override { return inner_.peek(signal, slot); }
  void fence() override { inner_.fence(); }
  void progress() override { inner_.progress(); }
  void barrier(Clock::time_point deadline) override { inner_.barrier(deadline); }
  void check_peers() const override { inner_.check_peers(); }

 protected:
  Endpoint& inner() const { return inner_; }

 private:
  Endpoint& inner_;
};

}  // namespace reshard::fabric
