#!/usr/bin/env bash
# Measures check.p5: seconds to prove two calls of the two-round all-to-all at 5 ranks.
source "$(dirname "$0")/check_seconds.sh"
check_seconds 5
