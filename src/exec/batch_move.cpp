#include "reshard/batch_move.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "base/fail.h"
#include "reshard/batch_program.h"

namespace reshard {
namespace {

Batch batch_of(const std::vector<BatchMove::Pair>& pairs) {
  Batch batch;
  std::set<int> sources, targets;
  for (const auto& [source, target] : pairs) {
    if (source == nullptr || target == nullptr)
      fail(Code::invalid_argument, "pair {} of the batch has no {}", batch.tensors.size(),
           source == nullptr ? "source" : "target");
    batch.add(source->name(), source->layout(), target->layout());
    sources.insert(source->window().value);
    if (!targets.insert(target->window().value).second)
      fail(Code::invalid_argument, "tensor {} is the target of two tensors; give each a target of its own",
           target->name());
  }
  for (const auto& [source, target] : pairs)
    if (sources.contains(target->window().value))
      fail(Code::invalid_argument, "tensor {} is both a source and a target of one batch; move it in another batch",
           target->name());
  return batch;
}

// In the order of the program's windows.
std::vector<WindowId> windows_of(const BatchPlan& plan, const std::vector<BatchMove::Pair>& pairs) {
  std::map<std::string, const BatchMove::Pair*> by_name;
  for (const BatchMove::Pair& pair : pairs) by_name.emplace(pair.source->name(), &pair);
  std::vector<WindowId> windows;
  for (const BatchTensor& tensor : plan.tensors()) {
    const BatchMove::Pair& pair = *by_name.at(tensor.name);
    windows.push_back(pair.source->window());
    windows.push_back(pair.target->window());
  }
  return windows;
}

// The name of the staging says which tensors move how, so that ranks which do not agree get an error when it is
// created.
std::string name_of(const BatchPlan& plan, const std::vector<WindowId>& windows) {
  std::string order;
  for (const WindowId window : windows) order += fmt::format("{} ", window.value);
  return fmt::format("batch {:016x} of {} tensors in windows {}", plan.fingerprint(), plan.tensors().size(), order);
}

}  // namespace

BatchMove::BatchMove(World& world, const std::vector<Pair>& pairs, BatchOptions options) : world_(&world) {
  std::optional<Error> fault;
  std::string call;
  Binding binding;
  try {
    for (const auto& [source, target] : pairs) {
      if (source != nullptr) world.check_own(*source);
      if (target != nullptr) world.check_own(*target);
    }
    plan_.emplace(batch_of(pairs), options);
    binding.windows = windows_of(*plan_, pairs);
    call = name_of(*plan_, binding.windows);
  } catch (const Error& error) {
    fault = error;
    call = fmt::format("batch: {}", error.what());  // differs from what the others say, unless all say it
  }
  const auto prepare = [&] {
    if (fault) throw *fault;
    executor_.emplace(batch_program(*plan_, world.rank(), world.ranks(), world.hosts()), world.endpoint());
  };
  world.together(call, prepare, [&](Clock::time_point deadline) {
    Endpoint& endpoint = world.endpoint();
    binding.windows.push_back(endpoint.create_window("batch staging", staging_bytes(*plan_), deadline));
    for (const char* signal : {"batch ready", "batch done"})
      binding.signals.push_back(endpoint.create_signal(signal, world.ranks(), deadline));
    executor_->bind(std::move(binding));
  });
}

Traffic BatchMove::run() {
  world_->check_whole("batch");
  try {
    executor_->run(runs_++, Clock::now() + world_->timeout());
  } catch (const Error& error) {
    world_->give_up(error.what());  // signals and staging are in an unknown state
    throw;
  }
  return executor_->traffic();
}

}  // namespace reshard
