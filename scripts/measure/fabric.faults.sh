#!/usr/bin/env bash
# Measures fabric.faults: how many cells of the table of faults, operations and fabrics are bad.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/lane.sh build dev >&2
scripts/fault_table.py build/dev --json
