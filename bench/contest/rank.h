// One rank of a contestant: does what the driver says over a Unix socket, on which it sleeps in between.
//
// The driver speaks in lines of JSON, and each gets one line as its answer:
//   {"do": "open", "job": {..}}                     {"ways": ["put", ..], "left_out": {"way": "why"}}
//   {"do": "time", "way": "put", "calls": 10}       {"from": ns, "to": ns}  (CLOCK_MONOTONIC, after the start line)
//   {"do": "check", "way": "put", "epoch": 3}       {"fault": ""}           stamps, runs once, looks at every element
//   {"do": "close"}                                 {}
//   {"do": "end"}                                   none; the rank ends
// {"error": ".."} answers what failed. All ranks of a contestant get the same lines.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "job.h"
#include "pages.h"

namespace contest {

// One way in which a contestant does a job. `run` is one call of it, which every rank makes; when it has returned on
// all ranks, the targets are complete.
struct Way {
  std::string name;
  std::vector<Bytes> sources;
  std::vector<Bytes> targets;
  std::function<void()> run;
};

// A job made ready on this rank.
struct Stage {
  std::vector<Way> ways;
  std::map<std::string, std::string> left_out;  // ways that do not work here, and why
  std::vector<std::shared_ptr<void>> keeps;     // what the ways use; goes last, after closed()
};

class Contestant {
 public:
  virtual ~Contestant() = default;
  // A stage without ways: this contestant does not do such jobs.
  virtual Stage open(const Job& job) = 0;
  // After the ways are gone: give their memory back.
  virtual void closed() {}
};

// Returns when the driver says so. CONTEST_SOCKET names the driver's socket. Throws std::runtime_error when the driver
// is gone.
void obey(const std::string& name, Place place, Contestant& contestant);

// Memory of this process alone, for the buffers of a job, touched; each buffer begins a cache line.
std::vector<Bytes> place_buffers(const std::vector<Index>& bytes, std::byte* memory);
Index bytes_to_place(const std::vector<Index>& bytes);
std::vector<Bytes> private_buffers(const std::vector<Index>& bytes, Stage& stage);

}  // namespace contest
