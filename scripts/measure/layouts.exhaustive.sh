#!/usr/bin/env bash
# Measures layouts.exhaustive: how many plans between small layouts are planned, verified and equal to the oracle, in
# two processes at once. 0 when one of them is wrong or the minute is over.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/lane.sh build dev >&2
program=build/dev/tests/property/exhaustive_test
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

start=$(date +%s%N)
for half in 0 1; do
  "$program" --gtest_filter="*/$half:*/$((half + 2)):ExhaustiveCounts.*" >"$logs/$half" &
done
status=0
wait -n || status=1
wait -n || status=1
milliseconds=$((($(date +%s%N) - start) / 1000000))

cat "$logs"/* >&2
plans=$(awk '/^plans verified: / { sum += $3 } END { print sum + 0 }' "$logs"/*)
((status == 0 && milliseconds < 60000)) || plans=0
echo "{\"measured\": $plans, \"note\": \"$((milliseconds / 1000)).$((milliseconds % 1000 / 100)) s\"}"
