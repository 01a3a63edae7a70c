#!/usr/bin/env bash
# Measures fabric.redistribute.scalapack: jobs a, b and c beside p?gemr2d and, in b, the transposition of FFTW.
exec "$(dirname "$0")/in_contest.sh" a,b,c limit,reshard-process,scalapack,fftw over scalapack,fftw
