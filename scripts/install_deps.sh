#!/usr/bin/env bash
# install_deps.sh GROUP.. | PACKAGE..: installs the Debian packages that are missing, and does nothing when none is.
# Groups: build (make test, make run), fabrics (MPI and UCX, and hosts that are network namespaces), check (formatting,
# fuzzing) and bench (whom make bench compares with). Anything else is taken as a package name.
set -euo pipefail

build=(g++ cmake ninja-build libpng-dev libfmt-dev libcli11-dev nlohmann-json3-dev libyaml-cpp-dev libhwy-dev libgtest-dev libgmock-dev
  libbenchmark-dev procps python3 python3-yaml)
fabrics=(openmpi-bin libopenmpi-dev mpich libmpich-dev libucx-dev iproute2 pkg-config)
check=(clang libclang-rt-14-dev clang-format)
bench=(pkg-config openmpi-bin libopenmpi-dev mpich libmpich-dev libgloo-dev libscalapack-openmpi-dev libfftw3-dev
  libfftw3-mpi-dev python3-torch python3-numpy iproute2)

wanted=()
for name in "$@"; do
  case $name in
    build) wanted+=("${build[@]}") ;;
    fabrics) wanted+=("${fabrics[@]}") ;;
    check) wanted+=("${check[@]}") ;;
    bench) wanted+=("${bench[@]}") ;;
    *) wanted+=("$name") ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "not a Debian system: nothing installed; what is needed is ${wanted[*]}" >&2
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "cannot install ${missing[*]}: not root and no sudo; as root, run: apt-get install ${missing[*]}" >&2
    exit 2
  fi
  as_root=(sudo)
fi
echo "installing, once: ${missing[*]}"
"${as_root[@]}" apt-get update -qq </dev/null
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
  </dev/null >/dev/null
