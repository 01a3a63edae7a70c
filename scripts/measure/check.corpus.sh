#!/usr/bin/env bash
# Measures check.corpus: seconds to check every broken program and every fixed twin, at all numbers of ranks it is for.
# 1000 when one of them is judged wrongly.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/lane.sh build dev >&2
start=$(date +%s%N)
if build/dev/tests/property/corpus_test --gtest_filter='Corpus*' >&2; then
  seconds=$(awk -v ns=$(($(date +%s%N) - start)) 'BEGIN { printf "%.2f", ns / 1e9 }')
else
  seconds=1000
fi
echo "{\"measured\": $seconds}"
