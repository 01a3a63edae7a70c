#!/usr/bin/env bash
# Measures plan.random: how many moves between random layouts are judged without a fault, in two processes at once.
# plan.random.sh [PAIRS]; a fault is shown on the least pair that has it. RESHARD_SEED sets the seed.
set -euo pipefail
cd "$(dirname "$0")/../.."
export RESHARD_RANDOM_PAIRS=${1:-100000}
scripts/lane.sh build dev >&2
program=build/dev/tests/property/random_pairs_test
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

start=$(date +%s%N)
for half in 0 1; do
  "$program" --gtest_filter="*RandomPairs*/$half:*RandomPairs*/$((half + 2))" >"$logs/$half" &
done
status=0
wait -n || status=1
wait -n || status=1
seconds=$((($(date +%s%N) - start) / 1000000000))

cat "$logs"/* >&2
pairs=$(awk '/^random pairs without a fault: / { sum += $6 } END { print sum + 0 }' "$logs"/*)
((status == 0)) || pairs=0
echo "{\"measured\": $pairs, \"note\": \"$seconds s\"}"
