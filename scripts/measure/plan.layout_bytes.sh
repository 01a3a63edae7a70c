#!/usr/bin/env bash
# Measures plan.layout_bytes: bytes that describe a tensor on 1,048,576 ranks.
set -euo pipefail
cd "$(dirname "$0")/../.."
build/dev/bench/plan_bench layout
