#!/usr/bin/env bash
# Measures program.bad_data: how many calls with wrong counts or indices on one rank are not refused alike on all.
source "$(dirname "$0")/tests_failed.sh"
tests_failed build/dev/tests/multi/twins/program_twins_test '*BadData*'
