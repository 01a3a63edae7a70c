#!/usr/bin/env bash
# fuzz.sh [SECONDS]: builds the preset `fuzz` and runs each of its targets for SECONDS (60), two at a time, starting
# from the committed corpus. New inputs stay in build/fuzz/found/, crashes in build/fuzz/crashes/.
# The last line is `N targets, N crashed`; exits 1 when one crashed, 2 when there is no target.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
scripts/lane.sh build fuzz

build=build/fuzz
mkdir -p $build/found $build/crashes $build/logs
shopt -s nullglob
targets=()
for program in $build/fuzz/fuzz_*; do
  [[ -f $program && -x $program ]] && targets+=("${program##*/fuzz_}")
done
[[ ${#targets[@]} -gt 0 ]] || { echo "no fuzz target found in $build/fuzz" >&2; exit 2; }

fuzz_one() {
  local name=$1
  mkdir -p $build/found/"$name"
  # The committed corpus comes second: libFuzzer writes only to the first folder.
  $build/fuzz/fuzz_"$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix=$build/crashes/"$name"- $build/found/"$name" tests/fuzz/corpus/"$name" \
    >$build/logs/"$name".log 2>&1
}

crashed=0
finish() {  # finish NAME PID
  local verdict=clean
  if ! wait "$2"; then
    verdict=CRASHED
    crashed=$((crashed + 1))
    tail -40 $build/logs/"$1".log
  fi
  printf '%-24s %s, %s runs\n' "$1" "$verdict" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' $build/logs/"$1".log | tail -1)"
}
for ((i = 0; i < ${#targets[@]}; i += 2)); do
  fuzz_one "${targets[i]}" & first=$!
  second=
  if ((i + 1 < ${#targets[@]})); then fuzz_one "${targets[i + 1]}" & second=$!; fi
  finish "${targets[i]}" $first
  if [[ -n $second ]]; then finish "${targets[i + 1]}" $second; fi
done
echo "${#targets[@]} targets, $crashed crashed"
((crashed == 0))
