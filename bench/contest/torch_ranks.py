#!/usr/bin/python3
"""PyTorch with gloo in the contest, as its users would write the jobs: torch_ranks.py RANK RANKS

  isend         batch_isend_irecv of blocks made contiguous, copied to their place
  all_to_all    packed, all_to_all_single, unpacked

The protocol is that of rank.h, the values those of job.cpp.
"""
import ctypes
import json
import mmap
import os
import socket
import sys
import time

import numpy as np
import torch
import torch.distributed as dist

CHUNK_ROWS = 1 << 10  # of a matrix, that are stamped or looked at together


class Start:
    """The start line, in the code that all contestants use."""

    def __init__(self, file, offset, ranks):
        library = ctypes.CDLL(os.environ["CONTEST_START_LIBRARY"])
        self.meet_at = library.contest_meet
        self.meet_at.argtypes, self.meet_at.restype = [ctypes.c_void_p, ctypes.c_int], ctypes.c_bool
        with open(file, "r+b") as page:
            self.page = mmap.mmap(page.fileno(), mmap.PAGESIZE)
        self.cell = ctypes.addressof(ctypes.c_char.from_buffer(self.page, offset))
        self.ranks = ranks

    def meet(self):
        if not self.meet_at(self.cell, self.ranks):
            raise RuntimeError("a rank did not come to the start line")


def words_of(origins, epoch):
    key = np.uint32((epoch + 1) * 0x9E3779B9 & 0xFFFFFFFF)
    return (origins.astype(np.uint32) ^ key).view(np.int32)


def part_of(job, grid, rank):
    """(first row, end row, first column, end column), or None."""
    cell = rank - grid["first"]
    if not 0 <= cell < grid["rows"] * grid["columns"]:
        return None
    rows, columns = job["rows"] // grid["rows"], job["columns"] // grid["columns"]
    y, x = divmod(cell, grid["columns"])
    return y * rows, (y + 1) * rows, x * columns, (x + 1) * columns


class Matrix:
    def __init__(self, job, rank, ranks):
        self.columns = job["columns"]
        sources = [part_of(job, job["source"], r) for r in range(ranks)]
        targets = [part_of(job, job["target"], r) for r in range(ranks)]
        self.mine, self.wanted = sources[rank], targets[rank]
        self.source, self.target = self.buffer(self.mine), self.buffer(self.wanted)
        self.sends = [self.view(self.source, self.mine, other) for other in targets]
        self.receives = [self.view(self.target, self.wanted, other) for other in sources]

    @staticmethod
    def buffer(part):
        return torch.zeros((part[1] - part[0], part[3] - part[2]), dtype=torch.int32) if part else None

    @staticmethod
    def view(buffer, part, other):
        """What a part and another share, as a list of one view; empty when nothing."""
        if part is None or other is None:
            return []
        top, bottom = max(part[0], other[0]), min(part[1], other[1])
        left, right = max(part[2], other[2]), min(part[3], other[3])
        if top >= bottom or left >= right:
            return []
        return [buffer[top - part[0]:bottom - part[0], left - part[2]:right - part[2]]]

    def chunks(self, part, buffer, epoch):
        for top in range(part[0], part[1], CHUNK_ROWS):
            bottom = min(part[1], top + CHUNK_ROWS)
            rows, columns = np.arange(top, bottom, dtype=np.int64), np.arange(part[2], part[3], dtype=np.int64)
            yield buffer[top - part[0]:bottom - part[0]].numpy(), words_of(rows[:, None] * self.columns + columns, epoch)

    def stamp(self, epoch):
        for held, words in self.chunks(self.mine, self.source, epoch) if self.mine else ():
            held[...] = words

    def fault(self, epoch):
        for held, words in self.chunks(self.wanted, self.target, epoch) if self.wanted else ():
            if not np.array_equal(held, words):
                return f"an element is not that of epoch {epoch}"
        return ""


class Tensors:
    def __init__(self, job, rank, ranks):
        self.sources, self.first, self.targets = job["source_ranks"], job["first_target"], job["target_ranks"]
        sizes = job["elements"]
        self.starts = np.cumsum([0, *sizes[:-1]])
        self.rank = rank
        is_target = self.first <= rank < self.first + self.targets
        self.source = [torch.zeros(n // self.sources, dtype=torch.int32) for n in sizes] if rank < self.sources else []
        self.target = [torch.zeros(n, dtype=torch.int32) for n in sizes] if is_target else []
        self.sends = [self.source if self.first <= r < self.first + self.targets else [] for r in range(ranks)]
        self.receives = [[t.view(self.sources, -1)[r] for t in self.target] if r < self.sources else [] for r in range(ranks)]

    def stamp(self, epoch):
        for start, tensor in zip(self.starts, self.source):
            n = tensor.numel()
            tensor.numpy()[...] = words_of(start + self.rank * n + np.arange(n, dtype=np.int64), epoch)

    def fault(self, epoch):
        for number, (start, tensor) in enumerate(zip(self.starts, self.target)):
            if not np.array_equal(tensor.numpy(), words_of(start + np.arange(tensor.numel(), dtype=np.int64), epoch)):
                return f"tensor {number} is not that of epoch {epoch}"
        return ""


class Stage:
    def __init__(self, job, rank, ranks):
        self.rank = rank
        self.data = (Matrix if job["kind"] == "matrix" else Tensors)(job, rank, ranks)
        self.sent = [sum(view.numel() for view in views) for views in self.data.sends]
        self.received = [sum(view.numel() for view in views) for views in self.data.receives]
        self.packed = torch.zeros(sum(self.sent), dtype=torch.int32)
        self.arrived = torch.zeros(sum(self.received), dtype=torch.int32)
        self.ways = {"isend": self.isend, "all_to_all": self.all_to_all}

    def isend(self):
        operations, staged = [], []
        for peer, views in enumerate(self.data.receives):
            for view in views if peer != self.rank else ():
                staged.append((view, torch.empty(view.shape, dtype=view.dtype)))
                operations.append(dist.P2POp(dist.irecv, staged[-1][1], peer))
        for peer, views in enumerate(self.data.sends):
            for view in views if peer != self.rank else ():
                operations.append(dist.P2POp(dist.isend, view.contiguous(), peer))
        requests = dist.batch_isend_irecv(operations) if operations else []
        for mine, here in zip(self.data.sends[self.rank], self.data.receives[self.rank]):
            here.copy_(mine)
        for request in requests:
            request.wait()
        for view, buffer in staged:
            view.copy_(buffer)

    def all_to_all(self):
        at = 0
        for views in self.data.sends:
            for view in views:
                self.packed[at:at + view.numel()].view(view.shape).copy_(view)
                at += view.numel()
        dist.all_to_all_single(self.arrived, self.packed, self.received, self.sent)
        at = 0
        for views in self.data.receives:
            for view in views:
                view.copy_(self.arrived[at:at + view.numel()].view(view.shape))
                at += view.numel()


class Rank:
    def __init__(self, rank, ranks, start):
        self.rank, self.ranks, self.start, self.stage = rank, ranks, start, None

    def answer(self, order):
        if order["do"] == "open":
            self.stage = Stage(order["job"], self.rank, self.ranks)
            return {"ways": list(self.stage.ways), "left_out": {}}
        if order["do"] == "close":
            self.stage = None
            return {}
        run = self.stage.ways[order["way"]]
        if order["do"] == "check":
            return self.check(run, order["epoch"])
        self.start.meet()
        began = time.monotonic_ns()
        for _ in range(order["calls"]):
            run()
        return {"from": began, "to": time.monotonic_ns()}

    def check(self, run, epoch):
        self.stage.data.stamp(epoch)
        self.start.meet()
        run()
        self.start.meet()
        return {"fault": self.stage.data.fault(epoch)}


def main(rank, ranks):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{os.environ['CONTEST_FOLDER']}/torch", rank=rank, world_size=ranks)
    with socket.socket(socket.AF_UNIX) as driver:
        driver.connect(os.environ["CONTEST_SOCKET"])
        lines = driver.makefile("rw")

        def say(what):
            lines.write(json.dumps(what) + "\n")
            lines.flush()

        say({"contestant": "torch", "rank": rank, "process": os.getpid()})
        welcome = json.loads(lines.readline())
        obedient = Rank(rank, ranks, Start(welcome["start_line"], welcome["offset"], ranks))
        for line in lines:
            order = json.loads(line)
            if order["do"] == "end":
                return
            try:
                say(obedient.answer(order))
            except RuntimeError as error:
                say({"error": str(error)})


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
