#include "fabric/ucx/ucx_worker.h"

#include <poll.h>
#include <ucs/config/global_opts.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/fail.h"

namespace reshard::fabric {

void check_ucx(ucs_status_t status, std::string_view what) {
  if (status != UCS_OK) fail(Code::io, "UCX cannot {}: {}", what, ucs_status_string(status));
}

namespace {

struct ReleaseConfig {
  void operator()(ucp_config_t* config) const { ucp_config_release(config); }
};
using UcxConfig = std::unique_ptr<ucp_config_t, ReleaseConfig>;

bool user_sets(const std::string& name) { return std::getenv(("UCX_" + name).c_str()) != nullptr; }

void set_default(const UcxConfig& config, const std::string& name, const std::string& value) {
  if (!user_sets(name)) check_ucx(ucp_config_modify(config.get(), name.c_str(), value.c_str()), "set UCX_" + name);
}

// Of TCP alone: some versions of UCX (1.13) know these only without the name of the transport, others only with it.
void set_tcp_default(const UcxConfig& config, const std::string& name, const std::string& value) {
  if (user_sets("TCP_" + name)) return;
  for (const std::string& known : {name, "TCP_" + name}) ucp_config_modify(config.get(), known.c_str(), value.c_str());
}

// A host is silent for a quarter of the time before the first of three probes, and each gets a quarter to be answered.
UcxConfig configure(std::chrono::milliseconds silence) {
  ucp_config_t* read = nullptr;
  check_ucx(ucp_config_read(nullptr, nullptr, &read), "read its configuration");
  UcxConfig config(read);
  const auto quarter = std::max<std::chrono::milliseconds>(std::chrono::seconds(1), silence / 4);
  set_default(config, "TLS", "tcp,self");
  set_tcp_default(config, "TX_SEG_SIZE", "64K");
  set_tcp_default(config, "RX_SEG_SIZE", "64K");
  set_tcp_default(config, "KEEPIDLE", fmt::format("{}ms", quarter.count()));
  set_tcp_default(config, "KEEPINTVL", fmt::format("{}ms", quarter.count()));
  set_tcp_default(config, "KEEPCNT", "3");
  return config;
}

}  // namespace

UcxWorker::UcxWorker(std::chrono::milliseconds silence) {
  if (!user_sets("LOG_LEVEL")) ucs_global_opts_set_value("LOG_LEVEL", "fatal");
  const UcxConfig config = configure(silence);
  ucp_params_t features{};
  features.field_mask = UCP_PARAM_FIELD_FEATURES;
  features.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  check_ucx(ucp_init(&features, config.get(), &context_), "start");

  ucp_worker_params_t threads{};
  threads.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  threads.thread_mode = UCS_THREAD_MODE_SINGLE;
  ucs_status_t status = ucp_worker_create(context_, &threads, &worker_);
  if (status == UCS_OK) status = ucp_worker_get_efd(worker_, &events_);
  if (status == UCS_OK) return;
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
  ucp_cleanup(context_);
  check_ucx(status, "make a worker");
}

UcxWorker::~UcxWorker() {
  ucp_worker_destroy(worker_);
  ucp_cleanup(context_);
}

std::string UcxWorker::address() const {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  check_ucx(ucp_worker_get_address(worker_, &address, &bytes), "tell its address");
  std::string copy(reinterpret_cast<const char*>(address), bytes);
  ucp_worker_release_address(worker_, address);
  return copy;
}

void UcxWorker::sleep(Clock::time_point until) {
  const ucs_status_t armed = ucp_worker_arm(worker_);
  if (armed == UCS_ERR_BUSY) return;  // something has come already
  check_ucx(armed, "wait for events");
  const auto left = std::max<Clock::duration>(until - Clock::now(), Clock::duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(left - seconds);
  const timespec span{static_cast<time_t>(seconds.count()), static_cast<long>(rest.count())};
  pollfd event{.fd = events_, .events = POLLIN, .revents = 0};
  ppoll(&event, 1, &span, nullptr);
}

}  // namespace reshard::fabric
