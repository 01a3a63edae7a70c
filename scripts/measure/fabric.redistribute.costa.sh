#!/usr/bin/env bash
# Measures fabric.redistribute.costa: the share of the limit in jobs a, b and c over that of COSTA 2.3.2 on Open MPI, measured once.
exec "$(dirname "$0")/in_contest.sh" a,b,c limit,reshard-process published 0.34,0.39,0.22
