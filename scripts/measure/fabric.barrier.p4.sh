#!/usr/bin/env bash
# Measures fabric.barrier.p4: a barrier of four ranks, in microseconds.
RANKS=4 exec "$(dirname "$0")/in_contest.sh" barrier limit,reshard-process us
