#!/usr/bin/env bash
# Measures fabric.barrier.p8: a barrier of eight ranks, in microseconds.
RANKS=8 exec "$(dirname "$0")/in_contest.sh" barrier limit,reshard-process us
