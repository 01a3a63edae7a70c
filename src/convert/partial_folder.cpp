#include "convert/partial_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/fail.h"

namespace reshard::convert_detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = ".lock";
constexpr const char* kConversion = ".conversion";

[[noreturn]] void fail_errno(std::string_view doing, const std::string& path) {
  fail(Code::io, "{}: {} failed: {}", path, doing, std::strerror(errno));
}

OpenFile open_file(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (fd < 0) fail_errno("opening", path);
  return OpenFile(fd);
}

void write_all(int fd, Index offset, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EFAULT) fail(Code::corrupt, "{}: a source file shrank while it was read", path);
    if (written <= 0) fail_errno("writing", path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += written;
  }
}

std::string read_small(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? text.str() : "";
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

void rename_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail_errno("renaming to " + to, from);
}

}  // namespace

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

OpenFile::~OpenFile() {
  if (fd_ >= 0) ::close(fd_);
}

PartialFolder::PartialFolder(const std::string& out, const std::string& conversion, bool sync)
    : out_(without_slash(out)), path_(out_ + ".partial"), sync_(sync) {
  if (out_.empty()) fail(Code::invalid_argument, "no output folder is given");
  std::error_code error;
  if (fs::exists(fs::symlink_status(out_, error)))
    fail(Code::invalid_argument, "{} exists; give another output, or remove it first", out_);
  refuse_foreign();
  create("");
  lock();
  if (read_small(path_ + "/" + kConversion) == conversion) return;
  clear();
  write_small(path_ + "/" + kConversion, conversion);
  sync_folder(path_);
}

// The processes of a conversion that was killed hold the lock until the last of them is gone, a moment later.
void PartialFolder::lock() {
  lock_ = open_file(path_ + "/" + kLock, O_RDWR | O_CREAT);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (::flock(lock_.fd(), LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() > give_up)
      fail(Code::io, "{}: another conversion is writing it; wait for it or give another output", path_);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void PartialFolder::clear() const {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    if (entry.path().filename() == kLock) continue;
    fs::remove_all(entry.path(), error);
    if (error) fail(Code::io, "{}: removing it failed: {}", entry.path().string(), error.message());
  }
}

// What is there is removed sooner or later, so it must be ours.
void PartialFolder::refuse_foreign() const {
  std::error_code error;
  if (fs::symlink_status(path_, error).type() == fs::file_type::not_found) return;
  if (!fs::is_directory(path_, error) || (!fs::exists(fs::path(path_) / kLock) && !fs::is_empty(path_, error)))
    fail(Code::invalid_argument, "{} exists and no conversion made it; give another output, or remove it first", path_);
}

void PartialFolder::create(const std::string& name) const {
  std::error_code error;
  fs::create_directories(name.empty() ? fs::path(path_) : fs::path(path_) / name, error);
  if (error) fail(Code::io, "{}: creating the folder failed: {}", path_, error.message());
}

std::vector<bool> PartialFolder::finished(const std::vector<OutputFile>& files) const {
  std::vector<bool> finished;
  for (const OutputFile& file : files) {
    struct stat status {};
    finished.push_back(::stat(path_of(file).c_str(), &status) == 0 && status.st_size == file.bytes);
  }
  return finished;
}

bool PartialFolder::has_header(const OutputFile& file) const {
  const std::string expected = safetensors_prefix(file.header);
  std::string found(expected.size(), '\0');
  std::ifstream in(path_of(file), std::ios::binary);
  return in.read(found.data(), std::ssize(found)) && found == expected;
}

void PartialFolder::begin(const OutputFile& file) const {
  create(fs::path(file.name).parent_path());
  const std::string path = unfinished(file);
  const OpenFile opened = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (::ftruncate(opened.fd(), file.bytes) != 0) fail_errno("setting its size", path);
  const std::string prefix = safetensors_prefix(file.header);
  write_all(opened.fd(), 0, std::as_bytes(std::span(prefix)), path);
}

OpenFile PartialFolder::open_unfinished(const OutputFile& file) const { return open_file(unfinished(file), O_WRONLY); }

void PartialFolder::write(int fd, Index offset, std::span<const std::byte> bytes, const OutputFile& file) const {
  write_all(fd, offset, bytes, unfinished(file));
}

void PartialFolder::write_small(const std::string& path, std::string_view text) const {
  const OpenFile file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  write_all(file.fd(), 0, std::as_bytes(std::span(text)), path);
  sync_file(file.fd(), path);
}

void PartialFolder::sync_file(int fd, const std::string& path) const {
  if (sync_ && ::fsync(fd) != 0) fail_errno("syncing", path);
}

void PartialFolder::sync_folder(const std::string& path) const {
  const OpenFile folder = open_file(path, O_RDONLY | O_DIRECTORY);
  sync_file(folder.fd(), path);
}

void PartialFolder::write_back(int fd, Index offset, Index bytes) const {
  if (sync_) ::sync_file_range(fd, offset, bytes, SYNC_FILE_RANGE_WRITE);
}

void PartialFolder::finish(const OutputFile& file) const {
  const OpenFile opened = open_unfinished(file);
  sync_file(opened.fd(), unfinished(file));
  rename_file(unfinished(file), path_of(file));
  sync_folder(fs::path(path_of(file)).parent_path());
}

void PartialFolder::write_text(const OutputText& text) const {
  create(fs::path(text.name).parent_path());
  write_small(path_ + "/" + text.name, text.text);
}

void PartialFolder::copy_side_file(const std::string& from, const std::string& name) const {
  const fs::path target = fs::path(path_) / name;
  create(fs::path(name).parent_path());
  std::error_code error;
  fs::copy_file(fs::path(from) / name, target, fs::copy_options::overwrite_existing, error);
  if (error) fail(Code::io, "{}/{}: copying it to {} failed: {}", from, name, path_, error.message());
  const OpenFile copied = open_file(target, O_RDONLY);
  sync_file(copied.fd(), target);
}

void PartialFolder::publish() {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_))
    if (entry.is_directory()) sync_folder(entry.path());
  ::unlink((path_ + "/" + kConversion).c_str());
  ::unlink((path_ + "/" + kLock).c_str());
  sync_folder(path_);
  // Not over an existing folder, even one that appeared meanwhile. Where the file system has no such rename, the plain
  // one still refuses a folder that is not empty.
  int failed = ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, out_.c_str(), RENAME_NOREPLACE);
  if (failed != 0 && (errno == EINVAL || errno == ENOSYS)) failed = ::rename(path_.c_str(), out_.c_str());
  if (failed != 0) fail_errno("renaming to " + out_, path_);
  const fs::path parent = fs::path(out_).parent_path();
  sync_folder(parent.empty() ? "." : parent.string());
}

void PartialFolder::require_space(const std::vector<OutputFile>& files, const std::vector<bool>& finished) const {
  Index bytes = 0;
  for (std::size_t file = 0; file < files.size(); ++file) {
    if (finished[file]) continue;
    ::unlink(unfinished(files[file]).c_str());  // an earlier run's: its space is free again
    bytes += files[file].bytes;
  }
  struct statvfs status {};
  if (::statvfs(path_.c_str(), &status) != 0) fail_errno("asking for free space", path_);
  const auto free = static_cast<unsigned long long>(status.f_bavail) * status.f_frsize;
  if (static_cast<unsigned long long>(bytes) > free)
    fail(Code::io, "{}: the output needs {} bytes more, but only {} are free", path_, bytes, free);
}

}  // namespace reshard::convert_detail
