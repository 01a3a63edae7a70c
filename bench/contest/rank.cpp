#include "rank.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "start_line.h"

namespace contest {
namespace {

using nlohmann::json;

constexpr Index line_bytes = 64;

class Line {
 public:
  explicit Line(const char* path) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (path == nullptr || std::strlen(path) >= sizeof(address.sun_path))
      throw std::runtime_error("CONTEST_SOCKET names no socket; contest.py starts this program");
    std::strcpy(address.sun_path, path);
    if (fd_ < 0 || connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      throw std::runtime_error(std::string("cannot reach the driver at ") + path);
  }
  ~Line() { close(fd_); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void say(const json& what) {
    const std::string text = what.dump() + "\n";
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t n = send(fd_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) throw std::runtime_error("the driver is gone");
      sent += static_cast<std::size_t>(n);
    }
  }

  json hear() {
    std::size_t end = 0;
    while ((end = heard_.find('\n')) == std::string::npos) {
      char chunk[4096];
      const ssize_t n = recv(fd_, chunk, sizeof(chunk), 0);
      if (n <= 0) throw std::runtime_error("the driver is gone");
      heard_.append(chunk, static_cast<std::size_t>(n));
    }
    json line = json::parse(heard_.substr(0, end));
    heard_.erase(0, end + 1);
    return line;
  }

 private:
  int fd_;
  std::string heard_;
};

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

class Obedience {
 public:
  Obedience(StartLine& start, Place place, Contestant& contestant)
      : start_(start), place_(place), contestant_(contestant) {}

  json answer(const json& order) {
    const std::string what = order.at("do");
    if (what == "open") return open(order.at("job").dump());
    if (what == "time") return time(way(order.at("way")), order.at("calls").get<Index>());
    if (what == "check") return check(way(order.at("way")), order.at("epoch").get<std::uint32_t>());
    close();
    return json::object();
  }

 private:
  json open(const std::string& text) {
    job_ = read_job(text);
    stage_ = contestant_.open(job_);
    json names = json::array();
    for (const Way& way : stage_.ways) names.push_back(way.name);
    return {{"ways", names}, {"left_out", stage_.left_out}};
  }

  json time(const Way& way, Index calls) {
    start_.meet();
    const std::int64_t from = now_ns();
    for (Index i = 0; i < calls; ++i) way.run();
    return {{"from", from}, {"to", now_ns()}};
  }

  json check(const Way& way, std::uint32_t epoch) {
    stamp(job_, place_, way.sources, epoch);
    start_.meet();
    way.run();
    start_.meet();
    return {{"fault", fault(job_, place_, way.targets, epoch)}};
  }

  void close() {
    const auto memory = std::move(stage_.keeps);  // outlives what ways have made of it
    stage_ = {};
    contestant_.closed();
  }

  const Way& way(const std::string& name) const {
    const auto found = std::ranges::find(stage_.ways, name, &Way::name);
    if (found == stage_.ways.end()) throw std::runtime_error("there is no way " + name);
    return *found;
  }

  StartLine& start_;
  Place place_;
  Contestant& contestant_;
  Job job_;
  Stage stage_;
};

}  // namespace

void obey(const std::string& name, Place place, Contestant& contestant) {
  Line driver(std::getenv("CONTEST_SOCKET"));
  driver.say({{"contestant", name}, {"rank", place.rank}, {"process", getpid()}});
  const json welcome = driver.hear();
  StartLine start(welcome.at("start_line"), welcome.at("offset").get<std::size_t>(), place.ranks);
  Obedience obedience(start, place, contestant);
  for (json order = driver.hear(); order.at("do") != "end"; order = driver.hear()) {
    json answer;
    try {
      answer = obedience.answer(order);
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    driver.say(answer);
  }
}

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(memory);
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

Index bytes_to_place(const std::vector<Index>& bytes) {
  Index total = 0;
  for (const Index n : bytes) total += (n + line_bytes - 1) / line_bytes * line_bytes;
  return total;
}

std::vector<Bytes> place_buffers(const std::vector<Index>& bytes, std::byte* memory) {
  std::vector<Bytes> buffers;
  for (const Index n : bytes) {
    buffers.emplace_back(memory, static_cast<std::size_t>(n));
    memory += (n + line_bytes - 1) / line_bytes * line_bytes;
  }
  return buffers;
}

std::vector<Bytes> private_buffers(const std::vector<Index>& bytes, Stage& stage) {
  auto pages = std::make_shared<Pages>(static_cast<std::size_t>(bytes_to_place(bytes)));
  stage.keeps.push_back(pages);
  return place_buffers(bytes, pages->data());
}

}  // namespace contest
