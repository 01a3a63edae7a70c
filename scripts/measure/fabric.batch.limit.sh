#!/usr/bin/env bash
# Measures fabric.batch.limit: job d beside one plain copy of every byte.
exec "$(dirname "$0")/in_contest.sh" d limit,reshard-process limit windows
