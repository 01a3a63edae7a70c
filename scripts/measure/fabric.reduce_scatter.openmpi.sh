#!/usr/bin/env bash
# Measures fabric.reduce_scatter.openmpi: reduce_scatter from 1 MiB beside Open MPI.
exec "$(dirname "$0")/in_contest.sh" reduce_scatter limit,reshard-process,openmpi over openmpi --from 1048576
