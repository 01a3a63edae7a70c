// How the ranks of a fabric are started. The tests of this folder are written against this seam alone: one source,
// every fabric. Each launch_*.cpp defines fabrics(), and is linked with the same objects of the tests.
//
// A body that is given to a fabric runs on threads, on children, or on the processes of a launcher: what it changes may
// stay in its own process. Where ranks are processes of a launcher, each of them runs every test in step with the
// others, and is told the outcomes of all.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "reshard/fabric.h"
#include "reshard/ranks.h"
#include "reshard/world.h"

namespace reshard::multi {

// What tests may count on, beside what the endpoints say of themselves.
struct Traits {
  // Of every endpoint of a world of this fabric; a test compares.
  Capabilities capabilities = {};
  bool is_one_host = true;   // all ranks have the same host_of
  bool is_threads = false;   // ranks share a process: its memory, its counters
  bool may_die = false;      // a rank can be killed, stopped or left alone, and the outcomes still come
  bool tells_causes = true;  // peers of a rank that threw are told what it threw, not only who
};

class Fabric {
 public:
  virtual ~Fabric() = default;
  // One word, which begins the names of its tests: "thread".
  virtual std::string name() const = 0;
  virtual Traits traits() const = 0;
  // Whether it can start so many ranks here.
  virtual bool has_ranks(Index) const { return true; }
  // One outcome per rank.
  virtual std::vector<RankOutcome> try_run(Index ranks, const RankBody& body, const RunOptions& options) const = 0;
  // Throws the failure that first_failure names.
  virtual void run(Index ranks, const RankBody& body, const RunOptions& options) const;
};

inline void PrintTo(const Fabric* fabric, std::ostream* out) { *out << fabric->name(); }

// Those this program is linked with.
const std::vector<const Fabric*>& fabrics();
std::vector<const Fabric*> fabrics_where(const std::function<bool(const Traits&)>& suits);

// Worlds of tensors: the copies are those of the library.
void run_worlds(const Fabric& fabric, Index ranks, const std::function<void(World&)>& body,
                WorldOptions options = {.timeout = std::chrono::seconds(120)});

}  // namespace reshard::multi
