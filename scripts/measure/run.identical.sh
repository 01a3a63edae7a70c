#!/usr/bin/env bash
# Measures run.identical: whether `make run` succeeds in a clean clone of the committed state and says of its final
# files that they are byte-identical.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q --no-hardlinks . "$work/clone"
identical=false
if make -C "$work/clone" run </dev/null 2>&1 | tee "$work/log" >&2 && grep -q "byte-identical" "$work/log"; then
  identical=true
fi
echo "{\"measured\": $identical}"
