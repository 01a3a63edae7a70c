#!/usr/bin/env bash
# Measures fabric.exchange.large: all_to_all and all_gather from 16 MiB beside Open MPI and MPICH.
exec "$(dirname "$0")/in_contest.sh" all_to_all,all_gather limit,reshard-process,openmpi,mpich over openmpi,mpich --from 16777216
