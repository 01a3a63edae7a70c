#!/usr/bin/env bash
# Measures fabric.cast: f32 to bf16 on the way beside a copy that reads and writes the same bytes.
exec "$(dirname "$0")/in_contest.sh" cast limit,reshard-process limit program
