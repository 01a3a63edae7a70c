#!/usr/bin/env bash
# Measures plan.own: processor time of one rank's own part of a plan between two meshes of 131,072 ranks.
set -euo pipefail
cd "$(dirname "$0")/../.."
build/dev/bench/plan_bench own
