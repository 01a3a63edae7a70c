#!/usr/bin/env bash
# Measures program.twins: how many comparisons of a builtin with its hand-written twin fail, over simulated schedules,
# threads and processes.
source "$(dirname "$0")/tests_failed.sh"
tests_failed build/dev/tests/multi/twins/program_twins_test '*Twin*'
