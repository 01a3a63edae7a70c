#!/usr/bin/env bash
# Measures fabric.exchange.small: all_to_all and all_gather below 16 MiB beside Open MPI and MPICH.
exec "$(dirname "$0")/in_contest.sh" all_to_all,all_gather limit,reshard-process,openmpi,mpich over openmpi,mpich --below 16777216
