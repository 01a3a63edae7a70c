#!/usr/bin/env bash
# Measures fabric.private.limit: jobs a to d from private memory beside the kernel's copy between processes.
exec "$(dirname "$0")/in_contest.sh" a,b,c,d limit,reshard-process limit 'in place'
