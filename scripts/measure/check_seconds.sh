# Sourced: check_seconds RANKS prints the seconds that two calls of the two-round all-to-all take to check at so many
# ranks, 1000 when it is not proved.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

check_seconds() {
  scripts/lane.sh build dev >&2
  local start
  start=$(date +%s%N)
  if build/dev/tools/reshard program check tests/corpus/programs/03_one_round_again.fixed.rp --ranks "$1" --calls 2 >&2; then
    awk -v ns=$(($(date +%s%N) - start)) 'BEGIN { printf "{\"measured\": %.3f}\n", ns / 1e9 }'
  else
    echo '{"measured": 1000}'
  fi
}
