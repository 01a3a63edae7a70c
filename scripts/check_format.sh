#!/usr/bin/env bash
# check_format.sh [--fix]: clang-format 14 over every committed C++ file.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=$(command -v clang-format-14 || command -v clang-format) || { echo "clang-format is not installed" >&2; exit 2; }
version=$("$tool" --version)
[[ $version == *"version 14."* ]] || { echo "needs clang-format 14, found: $version" >&2; exit 2; }

mapfile -d '' files < <(git ls-files -z '*.h' '*.cpp')
[[ ${#files[@]} -gt 0 ]] || { echo "no C++ files found" >&2; exit 2; }
if [[ ${1:-} == --fix ]]; then
  "$tool" -i "${files[@]}"
else
  "$tool" --dry-run -Werror "${files[@]}"
  echo "${#files[@]} files are formatted"
fi
