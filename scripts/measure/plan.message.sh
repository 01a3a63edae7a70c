#!/usr/bin/env bash
# Measures plan.message: processor time per transfer of one rank's part, on grids of 2 to 1024 ranks.
set -euo pipefail
cd "$(dirname "$0")/../.."
build/dev/bench/plan_bench message
