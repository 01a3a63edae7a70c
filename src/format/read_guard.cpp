// The one piece of process-wide state of this layer: a signal has one handler per process, so the guards share a list.
//
// The handler walks the list without a lock. A guard leaves in two steps: unlink, then wait until no handler is
// walking; a handler that starts later cannot see it.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/fail.h"
#include "format/mapped_file.h"

namespace reshard {

struct ReadGuard::Node {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::atomic<bool>* faulted = nullptr;
  std::atomic<Node*> next = nullptr;

  static std::atomic<Node*> head;
  static bool repair(std::uintptr_t address);
};

std::atomic<ReadGuard::Node*> ReadGuard::Node::head = nullptr;

namespace {

std::atomic<int> walkers = 0;
std::mutex mutex;  // guards: links of the list, `guards`, `previous`
int guards = 0;
struct sigaction previous = {};
const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));

using Repair = bool (*)(std::uintptr_t);
Repair repair_fault = nullptr;  // set once, before the handler is installed

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool repaired = repair_fault(reinterpret_cast<std::uintptr_t>(info->si_addr));
  errno = saved;
  if (repaired) return;
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    // The faulting instruction runs again and meets the default action.
    sigaction(SIGBUS, &previous, nullptr);
  }
}

void install() {
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGBUS, &action, &previous) != 0) fail(Code::io, "cannot install a SIGBUS handler: errno {}", errno);
}

}  // namespace

bool ReadGuard::Node::repair(std::uintptr_t address) {
  walkers.fetch_add(1, std::memory_order_seq_cst);  // pairs with the wait in ~ReadGuard
  bool repaired = false;
  for (Node* node = head.load(std::memory_order_seq_cst); node != nullptr; node = node->next.load()) {
    if (address < node->begin || address >= node->end) continue;
    void* at = reinterpret_cast<void*>(address / page * page);
    if (mmap(at, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) break;
    node->faulted->store(true, std::memory_order_release);  // pairs with acquire in MappedFile::check
    repaired = true;
    break;
  }
  walkers.fetch_sub(1, std::memory_order_seq_cst);
  return repaired;
}

ReadGuard::ReadGuard(const MappedFile& file) : file_(&file), node_(std::make_unique<Node>()) {
  node_->begin = reinterpret_cast<std::uintptr_t>(file.state_->begin);
  node_->end = node_->begin + file.state_->bytes;
  node_->faulted = &file.state_->faulted;
  const std::lock_guard lock(mutex);
  if (guards == 0) {
    repair_fault = Node::repair;
    install();
  }
  ++guards;
  node_->next = Node::head.load();
  Node::head = node_.get();
}

ReadGuard::~ReadGuard() {
  const std::lock_guard lock(mutex);
  std::atomic<Node*>* link = &Node::head;
  while (link->load() != node_.get()) link = &link->load()->next;
  link->store(node_->next.load());
  while (walkers.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  if (--guards == 0) sigaction(SIGBUS, &previous, nullptr);
}

void ReadGuard::check() const { file_->check(); }

}  // namespace reshard
