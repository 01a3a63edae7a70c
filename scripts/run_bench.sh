#!/usr/bin/env bash
# run_bench.sh [JOBS]: builds the preset `release`, runs every program of build/release/bench, and replay.py beside them.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/lane.sh build release "${1:-$(nproc)}"
shopt -s nullglob
ran=0
for program in build/release/bench/*; do
  [[ -f $program && -x $program ]] || continue
  "$program"
  ran=$((ran + 1))
done
((ran > 0)) || { echo "no benchmark found in build/release/bench" >&2; exit 2; }
python3 bench/replay/replay.py build/release/bench/plan_bench
