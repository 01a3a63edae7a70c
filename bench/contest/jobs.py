"""What is raced: the jobs of the contest, at full size and at a size for a smoke test."""
import dataclasses
import random

KIB, MIB = 1 << 10, 1 << 20
OPERATIONS = ("all_to_all", "all_gather", "reduce_scatter", "all_reduce", "broadcast")
FAMILIES = ("a", "b", "c", "d", "cast", "hop", "barrier", *OPERATIONS, "hosts")
TENSOR_SEED = 1


@dataclasses.dataclass(frozen=True)
class Job:
    """`spec` is what ranks are told (job.h). `payload` is what all ranks together must receive, local part included."""
    name: str
    family: str
    ranks: int
    spec: dict
    payload: int = 0
    parts: int = 1  # that one call is divided by: a hop is half of the way there and back

    @property
    def size(self):
        return self.spec.get("bytes", 0)


def grid(rows, columns, first=0):
    return {"rows": rows, "columns": columns, "first": first}


def matrix(name, family, ranks, n, source, target, kind="matrix"):
    spec = {"kind": kind, "rows": n, "columns": n, "source": source, "target": target}
    return Job(name, family, ranks, spec, payload=n * n * (2 if kind == "cast" else 4))


def tensors(count, largest):
    """Sizes spread evenly over their logarithms, from 1 KiB; in multiples of 64 bytes on each of the 4 sources."""
    chosen = random.Random(TENSOR_SEED)
    octaves = (largest // KIB).bit_length() - 1
    elements = [int(256 * 2 ** chosen.uniform(0, octaves)) // 64 * 64 for _ in range(count)]
    spec = {"kind": "tensors", "elements": elements, "source_ranks": 4, "first_target": 4, "target_ranks": 2}
    return Job("d", "d", 6, spec, payload=2 * 4 * sum(elements))


def collective(op, ranks, size):
    parts = {"broadcast": ranks - 1}.get(op, ranks)
    return Job(f"{op} {ranks} {size}", op, ranks, {"kind": "collective", "op": op, "bytes": size}, payload=size * parts)


def sizes_of(ranks, quick):
    if quick:
        return [KIB, 64 * KIB]
    sizes = [KIB, 8 * KIB, 64 * KIB, MIB, 16 * MIB, 64 * MIB]
    return sizes + [256 * MIB] if ranks <= 4 else sizes


def all_jobs(quick):
    n = 512 if quick else 8192
    ranks_of_collectives = (2, 4) if quick else (2, 4, 8)
    jobs = [
        matrix("a", "a", 4, n, grid(4, 1), grid(2, 2)),
        matrix("b", "b", 2, n, grid(2, 1), grid(1, 2)),
        matrix("c", "c", 4, n, grid(2, 1), grid(1, 2, 2)),
        tensors(12, 16 * KIB) if quick else tensors(200, MIB),
        matrix("cast", "cast", 2, n, grid(2, 1), grid(1, 2), kind="cast"),
        Job("hop", "hop", 2, {"kind": "hop"}, parts=2),
        *(Job(f"barrier {p}", "barrier", p, {"kind": "barrier"}) for p in ranks_of_collectives),
        *(collective(op, p, size) for p in ranks_of_collectives for size in sizes_of(p, quick) for op in OPERATIONS),
    ]
    return sorted(jobs, key=lambda job: job.ranks)  # stable: those that share processes come together
