#!/usr/bin/env bash
# Measures fabric.redistribute.openmpi: jobs a, b and c beside the three ways of Open MPI that need no packing.
exec "$(dirname "$0")/in_contest.sh" a,b,c limit,reshard-process,openmpi over openmpi put,isend,alltoallw
