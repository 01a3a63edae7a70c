#!/usr/bin/env bash
# Measures plan.crossmesh: how many plans between small layouts on meshes that are the same, overlap by half, or do not
# meet are verified, in two processes at once, with one in a hundred carried out on threads. 0 when one of them is wrong
# or two minutes are over.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/lane.sh build dev >&2
program=build/dev/tests/property/crossmesh_test
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

start=$(date +%s%N)
for half in 0 1; do
  "$program" --gtest_filter="*/$half:*/$((half + 2)):*/$((half + 4)):*/$((half + 6))" >"$logs/$half" &
done
status=0
wait -n || status=1
wait -n || status=1
milliseconds=$((($(date +%s%N) - start) / 1000000))

cat "$logs"/* >&2
plans=$(awk '/^plans verified: / { sum += $3 } END { print sum + 0 }' "$logs"/*)
moves=$(awk '/^moves on threads: / { sum += $4 } END { print sum + 0 }' "$logs"/*)
((status == 0 && milliseconds < 120000)) || plans=0
echo "{\"measured\": $plans, \"note\": \"$((milliseconds / 1000)) s, $moves of them carried out\"}"
