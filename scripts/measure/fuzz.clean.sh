#!/usr/bin/env bash
# Measures fuzz.clean: how many fuzz targets crash within a minute each.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/install_deps.sh build check >&2
# fuzz.sh ends with 1 for crashes, which are a measurement, and with anything else when it could not fuzz.
status=0
summary=$(scripts/fuzz.sh 60 | tee /dev/stderr | tail -1) || status=$?
((status <= 1)) || exit "$status"
[[ $summary =~ ^([0-9]+)\ targets,\ ([0-9]+)\ crashed$ ]] || { echo "no summary from fuzz.sh" >&2; exit 1; }
echo "{\"measured\": ${BASH_REMATCH[2]}, \"note\": \"${BASH_REMATCH[1]} targets\"}"
