#!/usr/bin/env bash
# Measures check.mutants: how many builtins without one fence, wait, notification or round pass both verify and check.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/lane.sh build dev >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
build/dev/tests/property/corpus_test --gtest_filter='Builtins*' >"$log" || echo "mutants 0 survivors 1000" >>"$log"
cat "$log" >&2
awk '$1 == "mutants" { all += $2; left += $4 } END { printf "{\"measured\": %d, \"note\": \"of %d mutants\"}\n", left, all }' "$log"
