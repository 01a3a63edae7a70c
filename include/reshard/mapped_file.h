// A file mapped into memory for reading, and the guard that makes reading it safe while others may truncate it.
//
//   MappedFile file = MappedFile::open("model.safetensors");
//   ReadGuard guard(file);             // from here a fault reads zeros instead of killing the process
//   copy(file.bytes(), ...);
//   guard.check();                     // throws if the file shrank or was written to: what was copied is void
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "reshard/index.h"

namespace reshard {

// Owns the mapping. Movable; a moved-from file is empty.
//
// Thread rule: bytes() may be read by any number of threads; the object itself is confined.
class MappedFile {
 public:
  // Throws Error(io) if the path cannot be opened or is no regular file.
  static MappedFile open(const std::string& path);
  MappedFile(MappedFile&&) noexcept;
  MappedFile& operator=(MappedFile&&) noexcept;
  ~MappedFile();

  const std::string& path() const;
  Index size() const { return static_cast<Index>(bytes().size()); }
  // Valid while this object lives. Reading past the present end of a file that shrank is a SIGBUS unless a guard lives.
  std::span<const std::byte> bytes() const;
  // Throws Error(corrupt) if the file shrank or was modified since it was opened, or a guarded read met its end.
  void check() const;

 private:
  friend class ReadGuard;
  struct State;
  explicit MappedFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// While at least one guard lives, a SIGBUS handler is installed; a fault inside a guarded file puts a page of zeros in
// place of the missing one and marks the file. A fault elsewhere goes to the handler that was there before.
//
// Thread rule: construct and destroy from any thread; many guards may live at once. The file must outlive the guard.
class ReadGuard {
 public:
  explicit ReadGuard(const MappedFile& file);
  ~ReadGuard();
  ReadGuard(const ReadGuard&) = delete;
  ReadGuard& operator=(const ReadGuard&) = delete;
  // As MappedFile::check.
  void check() const;

 private:
  struct Node;
  const MappedFile* file_;
  std::unique_ptr<Node> node_;
};

}  // namespace reshard
