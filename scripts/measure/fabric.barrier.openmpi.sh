#!/usr/bin/env bash
# Measures fabric.barrier.openmpi: a barrier of 2, 4 and 8 ranks beside MPI_Barrier of Open MPI.
exec "$(dirname "$0")/in_contest.sh" barrier limit,reshard-process,openmpi over openmpi
