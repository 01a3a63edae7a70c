#!/usr/bin/env bash
# in_contest.sh JOBS CONTESTANTS QUESTION..: races them in the release build and answers the question, as
# bench/contest/verdict.py has it. RANKS="2" restricts the ranks. The table goes to standard error.
set -euo pipefail
cd "$(dirname "$0")/../.."
jobs=$1 contestants=$2
shift 2
{
  scripts/install_deps.sh bench || true
  scripts/lane.sh build release
} >&2
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
/usr/bin/python3 -B bench/contest/contest.py --build build/release --jobs "$jobs" --contestants "$contestants" \
  ${RANKS:+--ranks "$RANKS"} --json "$rows" >&2
/usr/bin/python3 -B bench/contest/verdict.py "$rows" "$@"
