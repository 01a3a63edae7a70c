# Sourced: tests_failed PROGRAM FILTER prints how many of the tests that FILTER chooses fail; 1000 where none runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tests_failed() {
  scripts/lane.sh build dev >&2
  local log
  log=$(mktemp)
  "$1" --gtest_filter="$2" >"$log" || true
  cat "$log" >&2
  awk '/^\[==========\] [0-9]+ tests? from .* ran/ { ran = $2 }
       /^\[  PASSED  \]/ { passed = $4 }
       END { printf "{\"measured\": %d, \"note\": \"of %d tests\"}\n", ran ? ran - passed : 1000, ran }' "$log"
  rm -f "$log"
}
