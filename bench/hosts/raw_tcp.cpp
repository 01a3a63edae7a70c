#include "raw_tcp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

namespace reshard::bench {
namespace {

constexpr int kPort = 7450;
constexpr std::size_t kRowsAtOnce = 64;
constexpr std::size_t kReadAtOnce = 1 << 20;

[[noreturn]] void fail_socket(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

sockaddr_in place_of(const std::string& address) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(kPort);
  if (inet_pton(AF_INET, address.c_str(), &place.sin_addr) != 1) fail_socket("address");
  return place;
}

int accept_one(const sockaddr_in& place) {
  const int listening = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listening, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) fail_socket("bind");
  if (listen(listening, 1) != 0) fail_socket("listen");
  const int accepted = accept(listening, nullptr, nullptr);
  if (accepted < 0) fail_socket("accept");
  close(listening);
  return accepted;
}

int reach(const sockaddr_in& place) {
  for (int tries = 0; tries < 3000; ++tries) {
    const int reaching = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(reaching, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0) return reaching;
    close(reaching);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  fail_socket("connect");
}

// Bytes that went, 0 if none could now.
std::size_t went(ssize_t result, const char* what) {
  if (result > 0) return static_cast<std::size_t>(result);
  if (result == 0 || (errno != EAGAIN && errno != EINTR)) fail_socket(what);
  return 0;
}

}  // namespace

RawTcp::RawTcp(int rank, const std::string& address) : rank_(rank) {
  const sockaddr_in place = place_of(address);
  socket_ = rank == 0 ? accept_one(place) : reach(place);
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(socket_, F_SETFL, O_NONBLOCK);
}

RawTcp::~RawTcp() { close(socket_); }

void RawTcp::barrier() {
  char mark = 0;
  while (went(write(socket_, &mark, 1), "write") == 0) {
  }
  pollfd event{.fd = socket_, .events = POLLIN, .revents = 0};
  while (went(read(socket_, &mark, 1), "read") == 0) poll(&event, 1, 1000);
}

void RawTcp::rows_to_columns(const std::byte* rows, std::byte* columns, std::size_t edge) {
  const std::size_t half_row = edge / 2 * sizeof(float), pitch = 2 * half_row, count = edge / 2;
  const auto here = static_cast<std::size_t>(rank_), there = 1 - here;
  const std::byte* const outgoing = rows + there * half_row;
  std::byte* const incoming = columns + there * count * half_row;
  const std::size_t all = count * half_row;
  std::size_t written = 0, seen = 0;
  std::array<iovec, kRowsAtOnce> pieces;
  while (written < all || seen < all) {
    bool moved = false;
    if (written < all) {
      std::size_t used = 0;
      for (std::size_t at = written; used < kRowsAtOnce && at < all; ++used) {
        const std::size_t row = at / half_row, in_row = at % half_row;
        pieces[used] = {const_cast<std::byte*>(outgoing + row * pitch + in_row), half_row - in_row};
        at += half_row - in_row;
      }
      const std::size_t bytes = went(writev(socket_, pieces.data(), static_cast<int>(used)), "writev");
      written += bytes;
      moved |= bytes > 0;
    }
    if (seen < all) {
      const std::size_t bytes = went(read(socket_, incoming + seen, std::min(all - seen, kReadAtOnce)), "read");
      seen += bytes;
      moved |= bytes > 0;
    }
    if (moved) continue;
    pollfd event{.fd = socket_, .events = 0, .revents = 0};
    if (written < all) event.events |= POLLOUT;
    if (seen < all) event.events |= POLLIN;
    poll(&event, 1, 1000);
  }
  for (std::size_t row = 0; row < count; ++row) {
    std::memcpy(columns + (here * count + row) * half_row, rows + row * pitch + here * half_row, half_row);
  }
}

}  // namespace reshard::bench
