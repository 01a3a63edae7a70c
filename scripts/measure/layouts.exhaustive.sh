#!/usr/bin/env bash
# Measures layouts.exhaustive: how many plans between small layouts are planned, verified and equal to the oracle, in
# two processes at once. 0 when one of them is wrong or the minute is over.
source "$(dirname "$0")/in_halves.sh"
in_halves build/dev/tests/property/exhaustive_test "*/0:*/2:ExhaustiveCounts.*" "*/1:*/3:ExhaustiveCounts.*"
((milliseconds < 60000)) || plans=0
echo "{\"measured\": $plans, \"note\": \"$((milliseconds / 1000)).$((milliseconds % 1000 / 100)) s\"}"
