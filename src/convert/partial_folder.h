// The folder that an output grows in: OUT.partial, until it takes its name.
//
//   OUT.partial/.lock          held by the conversion that writes
//   OUT.partial/.conversion    what is being converted; a later run goes on only if it is the same
//   OUT.partial/x.unfinished   a file of tensors that is being written
//   OUT.partial/x              one that is complete and on disk
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "reshard/checkpoint_output.h"

namespace reshard::convert_detail {

// Owns a file descriptor.
class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int fd) : fd_(fd) {}
  OpenFile(OpenFile&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

class PartialFolder {
 public:
  // Creates OUT.partial or takes over the one a killed run left. `conversion` identifies what is written: if it differs
  // from what the folder was made for, what is there is removed. Throws Error(invalid_argument) if OUT exists or
  // OUT.partial is not a conversion's, Error(io) if another process is writing it.
  // `sync` is ConvertRequest::sync.
  PartialFolder(const std::string& out, const std::string& conversion, bool sync);

  const std::string& path() const { return path_; }
  // Per file, whether an earlier run finished it.
  std::vector<bool> finished(const std::vector<OutputFile>& files) const;
  // Whether a finished file begins as it was written.
  bool has_header(const OutputFile& file) const;
  // Removes what was written: the next run starts over.
  void clear() const;
  // Creates the unfinished file at its full size with everything before the data. Throws Error(io).
  void begin(const OutputFile& file) const;
  OpenFile open_unfinished(const OutputFile& file) const;
  void write(int fd, Index offset, std::span<const std::byte> bytes, const OutputFile& file) const;
  // The disk begins with bytes that were written, so that it works at the same time as the processors.
  void write_back(int fd, Index offset, Index bytes) const;
  // The file gets its name, with its bytes on disk.
  void finish(const OutputFile& file) const;
  std::string path_of(const OutputFile& file) const { return path_ + "/" + file.name; }
  // Small files, whole and on disk.
  void write_text(const OutputText& text) const;
  void copy_side_file(const std::string& from, const std::string& name) const;
  // Everything is there: the folder takes its name.
  void publish();
  // Removes what an earlier run left of unfinished files. Throws Error(io) naming what the files that are not finished
  // need and what is free.
  void require_space(const std::vector<OutputFile>& files, const std::vector<bool>& finished) const;

 private:
  std::string unfinished(const OutputFile& file) const { return path_of(file) + ".unfinished"; }
  void refuse_foreign() const;
  void lock();
  void create(const std::string& name) const;
  void write_small(const std::string& path, std::string_view text) const;
  void sync_file(int fd, const std::string& path) const;
  void sync_folder(const std::string& path) const;

  std::string out_;
  std::string path_;
  bool sync_;
  OpenFile lock_;
};

}  // namespace reshard::convert_detail
