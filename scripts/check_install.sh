#!/usr/bin/env bash
# check_install.sh BUILD_DIR: installs the library to a temporary prefix, and builds and runs examples/consumer against
# it, outside this source tree and with no more than find_package.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: check_install.sh BUILD_DIR}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" --component library >"$work/install.log"
cp -r examples/consumer "$work/consumer"
# Warnings that the library's own build forbids must not reach its users, nor may its private headers.
if grep -rqE -- '-Werror|-Wall|-fsanitize|/src' "$work"/prefix/lib*/cmake/reshard "$work"/prefix/lib/*/cmake/reshard 2>/dev/null; then
  echo "the installed package leaks build flags or source paths to its users" >&2
  exit 1
fi
cmake -S "$work/consumer" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" \
  >"$work/configure.log" || { cat "$work/configure.log" >&2; exit 1; }
cmake --build "$work/build"
# Who asks for no fabric over a library of others gets none of them.
if ldd "$work/build/consumer" | grep -E 'libuc[pstm]|libmpi'; then
  echo "examples/consumer links what only reshard::ucx and the MPIs need" >&2
  exit 1
fi
"$work/build/consumer" | tee "$work/output"
diff examples/consumer/expected.txt "$work/output" || { echo "examples/consumer printed something else" >&2; exit 1; }
echo "examples/consumer builds and runs against the installed package"
