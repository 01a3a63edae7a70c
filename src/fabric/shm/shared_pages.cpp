#include "fabric/shm/shared_pages.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "base/fail.h"
#include "fabric/host/window_store.h"

namespace reshard::fabric {
namespace {

struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  std::uint64_t file = 0;  // its number; 0: none
  std::string rights{};
};

// A line of /proc/self/maps.
Mapping read_mapping(const std::string& line) {
  Mapping mapping;
  char rights[5] = {};
  if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*x:%*x %" SCNu64, &mapping.begin, &mapping.end,
                  rights, &mapping.file) == 4) {
    mapping.rights = rights;
  }
  return mapping;
}

// Whole pages, with whatever lies beside the memory that is meant: the address sanitizer, which watches memcpy, knows
// parts of them as nobody's.
#if defined(__SANITIZE_ADDRESS__)
__attribute__((no_sanitize_address)) void copy_pages(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t))
    *reinterpret_cast<volatile std::uint64_t*>(to + i) = *reinterpret_cast<const volatile std::uint64_t*>(from + i);
}
#else
void copy_pages(std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
#endif

}  // namespace

std::span<std::byte> pages_of(std::span<const std::byte> memory) {
  const auto page = static_cast<std::uintptr_t>(round_to_pages(1));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data()) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory.data() + memory.size()) + page - 1) / page * page;
  return {reinterpret_cast<std::byte*>(begin), end - begin};
}

bool are_replaceable(std::span<const std::byte> pages) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pages.data());
  const auto end = begin + pages.size();
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  std::ifstream maps("/proc/self/maps");
  std::uintptr_t covered = begin;
  for (std::string line; covered < end && std::getline(maps, line);) {
    const Mapping mapping = read_mapping(line);
    if (mapping.end <= covered) continue;
    const bool has_stack = mapping.begin <= frame && frame < mapping.end;
    if (mapping.begin > covered || mapping.rights != "rw-p" || mapping.file != 0 || has_stack) return false;
    covered = mapping.end;
  }
  return covered >= end;
}

void share_pages(std::span<std::byte> pages, std::byte* piece, int file, Index offset) {
  copy_pages(piece, pages.data(), pages.size());
  if (::mmap(pages.data(), pages.size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, offset) == MAP_FAILED) {
    fail(Code::io, "cannot replace {} bytes of memory by shared memory: {}", pages.size(), std::strerror(errno));
  }
  populate(pages.data(), pages.size());
}

void unshare_pages(std::span<std::byte> pages) {
  void* const copy = ::mmap(nullptr, pages.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) fail(Code::io, "cannot map {} bytes: {}", pages.size(), std::strerror(errno));
  ::madvise(copy, pages.size(), MADV_HUGEPAGE);  // advice: may be refused
  copy_pages(static_cast<std::byte*>(copy), pages.data(), pages.size());
  // Not mremap(): where UCX is loaded its libucm stands in for that, and up to 1.13 drops the last argument.
  if (::syscall(SYS_mremap, copy, pages.size(), pages.size(), MREMAP_MAYMOVE | MREMAP_FIXED, pages.data()) < 0) {
    fail(Code::io, "cannot make {} bytes of shared memory private: {}", pages.size(), std::strerror(errno));
  }
}

}  // namespace reshard::fabric
