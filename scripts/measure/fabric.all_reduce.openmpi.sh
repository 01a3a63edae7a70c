#!/usr/bin/env bash
# Measures fabric.all_reduce.openmpi: all_reduce from 1 MiB beside Open MPI.
exec "$(dirname "$0")/in_contest.sh" all_reduce limit,reshard-process,openmpi over openmpi --from 1048576
