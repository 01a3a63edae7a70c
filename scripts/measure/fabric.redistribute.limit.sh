#!/usr/bin/env bash
# Measures fabric.redistribute.limit: jobs a, b and c beside one plain copy of every byte.
exec "$(dirname "$0")/in_contest.sh" a,b,c limit,reshard-process limit windows
