// UCX's handles with owners: a context and one worker, configured as this fabric needs it.
//
// Whatever the user sets in UCX_* counts. What the user leaves open:
//   UCX_TLS=tcp,self             ranks of one host have shared memory without UCX, and names of networks are not
//   guessed;
//                                UCX_TLS=rc,ud,self, say, uses InfiniBand
//   UCX_TCP_{TX,RX}_SEG_SIZE=64K a piece of a payload is one segment, read and written once by each side
//   UCX_TCP_KEEP*                a host that does not answer is noticed after `silence`
//   UCX_LOG_LEVEL=fatal          errors are told, not printed
#pragma once

#include <ucp/api/ucp.h>

#include <chrono>
#include <string>
#include <string_view>

#include "reshard/fabric.h"

namespace reshard::fabric {

// Throws Error(io): "UCX cannot <what>: <reason>".
void check_ucx(ucs_status_t status, std::string_view what);

class UcxWorker {
 public:
  explicit UcxWorker(std::chrono::milliseconds silence);
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;
  ~UcxWorker();

  ucp_worker_h handle() const { return worker_; }
  // What other processes reach this one by, as bytes.
  std::string address() const;
  bool progress() { return ucp_worker_progress(worker_) != 0; }
  // Returns at the next event, or at `until`.
  void sleep(Clock::time_point until);

 private:
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int events_ = -1;  // readable when there is something to progress, once armed
};

}  // namespace reshard::fabric
