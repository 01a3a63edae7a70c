// What the contestants that are MPI programs share: errors, and their start and end.
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "rank.h"

namespace contest {

inline void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(call) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

// A committed datatype; not copied. Its offsets are relative to the buffer that it is used with.
class Datatype {
 public:
  explicit Datatype(MPI_Datatype type) : type_(type) { check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit"); }
  ~Datatype() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  Datatype(Datatype&& other) noexcept : type_(other.type_) { other.type_ = MPI_DATATYPE_NULL; }
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
};

// Runs `contestant_of(place)` as a rank of MPI_COMM_WORLD until the driver ends it. The exit status.
template <class ContestantOf>
int run_mpi(int argc, char** argv, const std::string& name, const ContestantOf& contestant_of) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  Place place;
  MPI_Comm_rank(MPI_COMM_WORLD, &place.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &place.ranks);
  try {
    auto contestant = contestant_of(place);
    obey(name, place, contestant);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: rank %d: %s\n", name.c_str(), place.rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace contest
