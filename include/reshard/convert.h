// Re-lays a checkpoint: reads one laid out one way, writes it laid out another, with several processes on this host.
//
//   ConvertReport report = convert({.source = "llama/", .to = load_model_rules("models/llama.yaml"), .out =
//   "llama-tp3/"});
//
// The output folder appears whole or not at all: files are written under OUT.partial, synced, renamed one by one as
// they are finished, and the folder takes its name last. A run that was killed leaves OUT.partial; the same conversion
// run again keeps the files that were finished. Source files are never changed.
//
// Every process maps the source files and writes its share of each output file. Long rows go from the source's pages
// straight into the output file; short ones are gathered in a staging buffer first. Resident memory is bounded by
// `memory`, whatever the size of the model.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "reshard/error.h"
#include "reshard/model.h"
#include "reshard/plan.h"

namespace reshard {

struct ConvertProgress {
  Index bytes_done = 0;
  Index bytes_total = 0;
  Index files_done = 0;
  Index files_total = 0;
  double seconds = 0;
  bool verifying = false;
};

struct ConvertRequest {
  std::string source;                   // a .safetensors file or a folder
  std::optional<ModelRules> from = {};  // none: as the source's manifest says, or whole tensors
  std::optional<ModelRules> to = {};    // none: whole tensors, in the files the source was made from
  ResolveSettings from_settings = {};
  ResolveSettings to_settings = {};
  std::string out;
  Index processes = 0;  // 0: one per core
  // Bytes of staging and resident source pages, all processes together; at least 128 KiB per process are used.
  Index memory = Index{256} << 20;
  Index max_file_bytes = 5'000'000'000;  // data per file of whole tensors
  PlanOptions plan = {};
  bool sync = true;     // bytes are on disk before names appear; false leaves that to the system, as `cp` does
  bool verify = false;  // read the output back and compare it with the source before it appears
  std::chrono::milliseconds timeout = std::chrono::seconds(120);  // for a process that stops without dying
  // Called now and then, in one of the processes, never in two at once.
  std::function<void(const ConvertProgress&)> progress = {};
};

struct ConvertReport {
  Index tensors = 0;
  Index files = 0;       // with tensors, written or kept
  Index files_kept = 0;  // finished by an earlier run
  Index bytes = 0;       // of tensors in the output, replicas counted
  Index moved = 0;       // bytes that changed rank
  Index needed = 0;      // the least that any method must move between ranks
  Index in_place = 0;    // bytes whose rank already held them
  Index processes = 0;
  double plan_seconds = 0;
  double move_seconds = 0;
  double verify_seconds = 0;
};

// What verifying throws: the output that was written is not what the source says. Nothing of it is kept.
class OutputDiffers : public Error {
 public:
  explicit OutputDiffers(const std::string& message) : Error(Code::corrupt, message) {}
};

// Throws OutputDiffers, or another Error: invalid_argument or unsupported for a wrong request, corrupt for a source
// that contradicts itself or changes while it is read, io for the file system, peer_lost or timeout for a process that
// dies or stops. Whatever it throws, OUT does not exist. Call from a process without other threads.
ConvertReport convert(const ConvertRequest& request);

}  // namespace reshard
