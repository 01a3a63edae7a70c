#!/usr/bin/env bash
# run_bench.sh [JOBS [CONTEST OPTION..]]: builds the preset `release` and runs the contest, which writes its table into
# docs/performance.md and its rows to build/release/contest.jsonl; then every program of build/release/bench, and
# replay.py. With options of bench/contest/contest.py only the contest is run, and the document stays as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/lane.sh build release "${1:-$(nproc)}"
shift || true
contest=(/usr/bin/python3 -B bench/contest/contest.py --build build/release --json build/release/contest.jsonl)
if (($# > 0)); then
  exec "${contest[@]}" "$@"
fi
"${contest[@]}" --document docs/performance.md
for program in build/release/bench/*; do
  [[ -f $program && -x $program && $program != */hosts_bench ]] || continue  # the contest ran that one
  "$program"
done
python3 bench/replay/replay.py build/release/bench/plan_bench
