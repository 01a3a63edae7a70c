#include "reshard/convert.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/fail.h"
#include "convert/compare.h"
#include "convert/mover.h"
#include "convert/shared_state.h"
#include "reshard/shm_fabric.h"

namespace reshard {
namespace convert_detail {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point start) { return duration<double>(steady_clock::now() - start).count(); }

// Equal for equal conversions of unchanged sources: a later run may keep what an earlier one finished.
std::string identify(const Job& job) {
  std::uint64_t digest = 14695981039346656037ULL;  // FNV-1a, 64 bits
  const auto add = [&](std::string_view text) {
    for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    digest = (digest ^ 0xffU) * 1099511628211ULL;
  };
  for (int file = 0; file < std::ssize(job.checkpoint.files()); ++file) {
    struct stat status {};
    ::stat(job.checkpoint.path_of(file).c_str(), &status);
    add(fmt::format("{} {} {}.{}", job.checkpoint.path_of(file), status.st_size, status.st_mtim.tv_sec,
                    status.st_mtim.tv_nsec));
  }
  for (const ModelLayout* model : {&job.from, &job.to})
    for (const ModelTensor& tensor : model->tensors()) {
      add(tensor.tensor.name);
      add(model->layout(tensor).text());
    }
  for (const OutputFile& file : job.output.files()) {
    add(file.name);
    add(file.header.text);
  }
  return fmt::format("reshard conversion 1 {:016x}\n", digest);
}

class Progress {
 public:
  Progress(const ConvertRequest& request, const Job& job, SharedState& shared, bool verifying)
      : request_(request), job_(job), shared_(shared), verifying_(verifying) {}

  void maybe_report() {
    if (!request_.progress || steady_clock::now() - last_ < std::chrono::milliseconds(100)) return;
    report();
  }

  void report() {
    if (!request_.progress) return;
    last_ = steady_clock::now();
    Index total = 0;
    for (const Unit& unit : job_.units) total += unit.bytes;
    request_.progress({shared_.bytes_done().load(), total, shared_.files_done().load(), std::ssize(job_.output.files()),
                       seconds_since(start_), verifying_});
  }

 private:
  const ConvertRequest& request_;
  const Job& job_;
  SharedState& shared_;
  bool verifying_;
  steady_clock::time_point start_ = steady_clock::now();
  steady_clock::time_point last_{};
};

// Runs work(unit) for every unit, each in one of the processes.
template <class MakeWorker>
void share_units(const ConvertRequest& request, const Job& job, Index processes, bool verifying,
                 const MakeWorker& make_worker) {
  SharedState shared(job.output.files().size());
  shared.files_done() = std::ranges::count(job.units_of, 0);  // nothing to do for these
  run_processes(processes, [&](Endpoint& endpoint) {
    Progress progress(request, job, shared, verifying);
    auto work = make_worker(shared);
    const Index units = std::ssize(job.units);
    for (Index at = shared.next_unit()++; at < units; at = shared.next_unit()++) {
      const Unit& unit = job.units[static_cast<std::size_t>(at)];
      work(unit);
      shared.bytes_done() += unit.bytes;
      endpoint.check_peers();
      if (endpoint.rank() == RankId(0)) progress.maybe_report();
    }
    endpoint.barrier(Clock::now() + request.timeout);
    if (endpoint.rank() == RankId(0)) progress.report();
  });
}

void move_all(const ConvertRequest& request, const Job& job, const PartialFolder& folder, Index processes) {
  const MemoryShare memory = memory_share(request.memory, processes);
  share_units(request, job, processes, false, [&](SharedState& shared) {
    return [&, mover = std::make_shared<Mover>(job, folder, memory)](const Unit& unit) {
      mover->move(unit);
      if (++shared.units_done(unit.file) < job.units_of[static_cast<std::size_t>(unit.file)]) return;
      folder.finish(job.output.files()[static_cast<std::size_t>(unit.file)]);
      ++shared.files_done();
    };
  });
}

void verify_all(const ConvertRequest& request, const Job& job, const PartialFolder& folder, Index processes) {
  const MemoryShare memory = memory_share(request.memory, processes);
  share_units(request, job, processes, true, [&](SharedState&) {
    return [comparer = std::make_shared<Comparer>(job, folder, memory.resident)](const Unit& unit) {
      comparer->compare(unit);
    };
  });
}

Index processes_for(const ConvertRequest& request, const Job& job) {
  const Index cores = std::max(1U, std::thread::hardware_concurrency());
  const Index wanted = request.processes > 0 ? request.processes : cores;
  return std::clamp<Index>(std::ssize(job.units), 1, wanted);
}

void begin_files(const Job& job, const PartialFolder& folder, const std::vector<bool>& finished) {
  Index needed = 0;
  for (std::size_t file = 0; file < finished.size(); ++file)
    if (!finished[file]) needed += job.output.files()[file].bytes;
  folder.require_space(needed);
  for (std::size_t file = 0; file < finished.size(); ++file) {
    if (finished[file]) continue;
    folder.begin(job.output.files()[file]);
    if (job.units_of[file] == 0) folder.finish(job.output.files()[file]);  // no tensor, or only empty ones
  }
}

void check_request(const ConvertRequest& request) {
  if (request.processes < 0 || request.memory < 1)
    fail(Code::invalid_argument, "processes ({}) must not be negative and memory ({}) at least 1 byte",
         request.processes, request.memory);
}

}  // namespace
}  // namespace convert_detail

ConvertReport convert(const ConvertRequest& request) {
  using namespace convert_detail;
  check_request(request);
  ConvertReport report;
  const auto plan_start = steady_clock::now();
  Job job = make_job(request);
  account(job, report);
  report.plan_seconds = seconds_since(plan_start);

  const auto move_start = steady_clock::now();
  PartialFolder folder(request.out, identify(job));
  const std::vector<bool> finished = folder.finished(job.output.files());
  report.files_kept = std::ranges::count(finished, true);
  const std::vector<Unit> all_units = job.units;
  skip_finished(job, finished);
  begin_files(job, folder, finished);
  report.processes = processes_for(request, job);
  if (!job.units.empty()) move_all(request, job, folder, report.processes);
  report.move_seconds = seconds_since(move_start);

  if (request.verify) {
    const auto verify_start = steady_clock::now();
    job.units = all_units;
    if (!job.units.empty()) verify_all(request, job, folder, report.processes);
    report.verify_seconds = seconds_since(verify_start);
  }
  for (const std::string& name : job.output.side_files()) folder.copy_side_file(job.checkpoint.folder(), name);
  for (const OutputText& text : job.output.texts()) folder.write_text(text);
  folder.publish();
  return report;
}

}  // namespace reshard
