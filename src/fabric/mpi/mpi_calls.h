// MPI's errors as Errors. Sources of this folder are compiled once for each MPI there is.
#pragma once

#include <mpi.h>

#include <string_view>

#include "base/fail.h"

namespace reshard::fabric {

inline std::string mpi_text(int result) {
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

// Throws Error(io) with MPI's own text.
inline void check_mpi(int result, std::string_view call) {
  if (result != MPI_SUCCESS) fail(Code::io, "{}: {}", call, mpi_text(result));
}

}  // namespace reshard::fabric
