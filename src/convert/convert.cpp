#include "reshard/convert.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/fail.h"
#include "convert/compare.h"
#include "convert/mover.h"
#include "convert/shared_state.h"
#include "convert/source_state.h"
#include "convert/unit_queue.h"
#include "reshard/shm_fabric.h"

namespace reshard {
namespace convert_detail {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point start) { return duration<double>(steady_clock::now() - start).count(); }

// Equal for equal conversions of unchanged sources: a later run may keep what an earlier one finished.
std::string identify(const ConvertRequest& request, const Job& job, const std::vector<std::string>& source) {
  std::uint64_t digest = 14695981039346656037ULL;  // FNV-1a, 64 bits
  const auto add = [&](std::string_view text) {
    for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    digest = (digest ^ 0xffU) * 1099511628211ULL;
  };
  add(request.sync ? "synced" : "left to the system");
  for (const std::string& file : source) add(file);
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
  Progress(const ConvertRequest& request, const Units& units, SharedState& shared, bool verifying)
      : request_(request), units_(units), shared_(shared), verifying_(verifying) {}

  void maybe_report() {
    if (!request_.progress || steady_clock::now() - last_ < std::chrono::milliseconds(100)) return;
    report();
  }

  void report() {
    if (!request_.progress) return;
    last_ = steady_clock::now();
    request_.progress({shared_.bytes_done().load(), total_, shared_.files_done().load(), std::ssize(units_),
                       seconds_since(start_), verifying_});
  }

 private:
  const ConvertRequest& request_;
  const Units& units_;
  SharedState& shared_;
  bool verifying_;
  Index total_ = bytes_of(units_);
  steady_clock::time_point start_ = steady_clock::now();
  steady_clock::time_point last_{};
};

Index processes_for(const ConvertRequest& request, const Units& units) {
  const Index cores = std::max(1U, std::thread::hardware_concurrency());
  const Index wanted = request.processes > 0 ? request.processes : cores;
  return std::clamp<Index>(count(units), 1, wanted);
}

// Runs work(unit) for every unit, each in one of the processes.
template <class MakeWorker>
void share_units(const ConvertRequest& request, const Units& units, bool verifying, SharedState& shared,
                 const MakeWorker& make_worker) {
  shared.files_done() = std::ranges::count_if(units, &std::vector<Unit>::empty);  // nothing to do for these
  const auto work_on = [&](Endpoint& endpoint) {
    Progress progress(request, units, shared, verifying);
    auto work = make_worker();
    UnitQueue queue(units, shared);
    while (const Unit* unit = queue.next()) {
      work(*unit);
      shared.bytes_done() += unit->bytes;
      endpoint.check_peers();
      if (endpoint.rank() == RankId(0)) progress.maybe_report();
    }
    endpoint.barrier(Clock::now() + request.timeout);
    if (endpoint.rank() == RankId(0)) progress.report();
  };
  RunOptions options;
  options.grace = std::min(options.grace, request.timeout);
  run_processes(processes_for(request, units), work_on, options);
}

void move_all(const ConvertRequest& request, const Job& job, const Units& units, const PartialFolder& folder) {
  const MemoryShare memory = memory_share(request.memory, processes_for(request, units));
  SharedState shared(job.output.files().size());
  share_units(request, units, false, shared, [&] {
    return [&, mover = std::make_shared<Mover>(job, folder, memory)](const Unit& unit) {
      mover->move(unit);
      if (++shared.units_done(unit.file) < std::ssize(units[static_cast<std::size_t>(unit.file)])) return;
      folder.finish(job.output.files()[static_cast<std::size_t>(unit.file)]);
      ++shared.files_done();
    };
  });
}

void verify_all(const ConvertRequest& request, const Job& job, const PartialFolder& folder) {
  for (const OutputFile& file : job.output.files())
    if (!folder.has_header(file))
      throw OutputDiffers(fmt::format("{}: its header is not the one that was written", folder.path_of(file)));
  if (count(job.units) == 0) return;
  const MemoryShare memory = memory_share(request.memory, processes_for(request, job.units));
  SharedState shared(job.output.files().size());
  try {
    share_units(request, job.units, true, shared, [&] {
      return [&shared, comparer = std::make_shared<Comparer>(job, folder, memory.resident)](const Unit& unit) {
        try {
          comparer->compare(unit);
        } catch (const OutputDiffers&) {
          shared.differs() = 1;
          throw;
        }
      };
    });
  } catch (const Error& error) {
    // Of an exception in another process, code and message are left.
    if (error.code() == Code::corrupt && shared.differs() != 0) throw OutputDiffers(error.what());
    throw;
  }
}

void begin_files(const Job& job, const PartialFolder& folder, const std::vector<bool>& finished) {
  folder.require_space(job.output.files(), finished);
  for (std::size_t file = 0; file < finished.size(); ++file) {
    if (finished[file]) continue;
    folder.begin(job.output.files()[file]);
    if (job.units[file].empty()) folder.finish(job.output.files()[file]);  // no tensor, or only empty ones
  }
}

void check_request(const ConvertRequest& request) {
  if (request.processes < 0)
    fail(Code::invalid_argument, "{} processes: give 1 or more, or 0 for one per core", request.processes);
  if (request.memory < 1) fail(Code::invalid_argument, "{} bytes of memory: give at least 1", request.memory);
}

}  // namespace
}  // namespace convert_detail

ConvertReport convert(const ConvertRequest& request) {
  using namespace convert_detail;
  check_request(request);
  ConvertReport report;
  const auto plan_start = steady_clock::now();
  const Job job = make_job(request);
  account(job, report);
  report.plan_seconds = seconds_since(plan_start);

  const auto move_start = steady_clock::now();
  const std::vector<std::string> source = source_state(job.checkpoint);
  PartialFolder folder(request.out, identify(request, job, source), request.sync);
  const std::vector<bool> finished = folder.finished(job.output.files());
  report.files_kept = std::ranges::count(finished, true);
  const Units units = unfinished(job.units, finished);
  begin_files(job, folder, finished);
  report.processes = processes_for(request, units);
  if (count(units) > 0) move_all(request, job, units, folder);
  report.move_seconds = seconds_since(move_start);

  if (request.verify) {
    const auto verify_start = steady_clock::now();
    try {
      verify_all(request, job, folder);
    } catch (const OutputDiffers&) {
      folder.clear();  // what else may be wrong is not known
      throw;
    }
    report.verify_seconds = seconds_since(verify_start);
  }
  require_unchanged(job.checkpoint, source);
  for (const std::string& name : job.output.side_files()) folder.copy_side_file(job.checkpoint.folder(), name);
  for (const OutputText& text : job.output.texts()) folder.write_text(text);
  folder.publish();
  return report;
}

}  // namespace reshard
