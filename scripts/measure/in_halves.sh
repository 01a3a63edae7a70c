# Sourced: in_halves PROGRAM FILTER_0 FILTER_1 runs the two halves of an exhaustive test at once, their output to standard
# error, and sets `milliseconds` and `plans`, 0 when a half failed; `sum TEXT FIELD` adds up numbers that both printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

in_halves() {
  scripts/lane.sh build dev >&2
  logs=$(mktemp -d)
  trap 'rm -rf "$logs"' EXIT
  local start status=0
  start=$(date +%s%N)
  "$1" --gtest_filter="$2" >"$logs/0" &
  "$1" --gtest_filter="$3" >"$logs/1" &
  wait -n || status=1
  wait -n || status=1
  milliseconds=$((($(date +%s%N) - start) / 1000000))
  cat "$logs"/* >&2
  plans=$(sum "plans verified" 3)
  ((status == 0)) || plans=0
}
sum() { awk -v text="^$1" -v field="$2" '$0 ~ text { sum += $field } END { print sum + 0 }' "$logs"/*; }
