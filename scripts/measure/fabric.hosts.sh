#!/usr/bin/env bash
# Measures fabric.hosts: job b between two network namespaces beside raw TCP from and to the strided rows.
exec "$(dirname "$0")/in_contest.sh" hosts limit hosts ucx
