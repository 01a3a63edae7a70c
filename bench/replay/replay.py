#!/usr/bin/env python3
"""The other way to plan, and how both grow: gather a record of every shard of every rank, let every rank replay the
whole loop over all target ranks, and keep what concerns itself (as in Megatron's core.resharding).

  replay.py PLAN_BENCH [--most RANKS]

PLAN_BENCH is the program plan_bench; its `growth` is the other column. A line is one move of one tensor: what planning
costs one rank, either way. Python against C++ says nothing by itself; the growth from line to line does. Both must find
the same number of transfers, else the exit status is 1.

The port is generous: the gathering costs nothing, and the pairwise check for overlapping rectangles is left out.
"""
import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Record:
    """What one rank tells all others of one shard."""
    owner: int
    shape: tuple  # of the shard
    cut_dim: int
    group: tuple  # ranks that share the tensor, in order
    place: int  # in the group

    def segments(self, dim):
        """(local begin, global begin, length) along a dimension."""
        length = self.shape[dim]
        return [(0, self.place * length if dim == self.cut_dim else 0, length)]

    def global_shape(self):
        return tuple(n * (len(self.group) if d == self.cut_dim else 1) for d, n in enumerate(self.shape))


def overlaps(source, target):
    found = []
    for source_local, source_begin, source_length in source:
        for target_local, target_begin, target_length in target:
            begin = max(source_begin, target_begin)
            end = min(source_begin + source_length, target_begin + target_length)
            if begin < end:
                found.append((source_local + begin - source_begin, target_local + begin - target_begin, end - begin))
    return found


def rectangles(source, target):
    boxes = [()]
    for dim in range(len(target.shape)):
        along = overlaps(source.segments(dim), target.segments(dim))
        boxes = [box + (overlap,) for box in boxes for overlap in along]
        if not boxes:
            break
    return boxes


def volume(box):
    product = 1
    for _, _, length in box:
        product *= length
    return product


def plan_target(target, sources):
    """(source rank, rectangle) of everything that one target shard needs."""
    representative = next(iter(sources.values()))
    operations = []
    for rank in representative.group:
        source = sources[rank]
        if source.global_shape() != target.global_shape():
            raise ValueError(f"shape {source.global_shape()} on rank {rank}, {target.global_shape()} on {target.owner}")
        operations += [(rank, box) for box in rectangles(source, target)]
    covered, wanted = sum(volume(box) for _, box in operations), volume([(0, 0, n) for n in target.shape])
    if covered != wanted:
        raise ValueError(f"rank {target.owner}: covered {covered} of {wanted} elements")
    return sorted(operations, key=lambda operation: [begin for _, begin, _ in operation[1]])


def replay(rank, sources, targets):
    """What `rank` sends and what it receives, a local copy twice: (number, sender, receiver, rectangle)."""
    by_owner = {record.owner: record for record in sources}
    mine, number = [], 0
    for target in sorted(targets, key=lambda record: record.owner):
        for sender, box in plan_target(target, by_owner):
            mine += [(number, sender, target.owner, box)] * ((rank == sender) + (rank == target.owner))
            number += 1
    return mine


def roster(shape, cut_dim, ranks):
    local = tuple(n // len(ranks) if d == cut_dim else n for d, n in enumerate(shape))
    group = tuple(ranks)
    return [Record(rank, local, cut_dim, group, place) for place, rank in enumerate(group)]


def move(name, ranks):
    """Sources and targets of the moves that `plan_bench growth` plans."""
    if name == "rows to columns":
        return roster((8192, 8192), 0, range(ranks)), roster((8192, 8192), 1, range(ranks))
    if name == "rows to fewer rows":
        return roster((12288, 64), 0, range(ranks)), roster((12288, 64), 0, range(ranks, ranks + ranks * 3 // 4))
    raise ValueError(f"plan_bench plans an unknown move, {name}")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan_bench")
    parser.add_argument("--most", type=int, default=1024, metavar="RANKS", help="replay no more than this many")
    options = parser.parse_args(arguments)
    lines = subprocess.run([options.plan_bench, "growth"], check=True, capture_output=True, text=True).stdout
    print(f"{'move':20}{'ranks':>7}{'replay, us':>13}{'own part, us':>14}{'transfers':>11}")
    wrong = 0
    for line in map(json.loads, lines.splitlines()):
        took = "-"
        if line["ranks"] <= options.most:
            sources, targets = move(line["move"], line["ranks"])
            start = time.process_time()
            mine = replay(line["rank"], sources, targets)
            took = f"{1e6 * (time.process_time() - start):.0f}"
            if len(mine) != line["transfers"]:
                wrong = 1
                print(f"rank {line['rank']}: {len(mine)} transfers replayed, {line['transfers']} planned", file=sys.stderr)
        print(f"{line['move']:20}{line['ranks']:7}{took:>13}{line['us']:14.1f}{line['transfers']:11}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
