#!/usr/bin/env bash
# Measures fabric.notify: a notification to the other of two ranks beside a flag on which it spins.
exec "$(dirname "$0")/in_contest.sh" hop limit,reshard-process times_limit 'notify and wait'
