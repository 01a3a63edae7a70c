#!/usr/bin/env bash
# Measures fabric.reduce.mpich: reduce_scatter and all_reduce from 1 MiB beside MPICH, two ranks.
RANKS=2 exec "$(dirname "$0")/in_contest.sh" reduce_scatter,all_reduce limit,reshard-process,mpich over mpich --from 1048576
