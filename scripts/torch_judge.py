#!/usr/bin/env python3
"""Asks PyTorch what DTensor holds where, and writes its answers to tests/golden/torch/ for the test that reads them.

  torch_judge.py [--torch FOLDER] [--write]

Without --write it compares the answers with the files and exits 1 where they differ. PyTorch is taken from FOLDER
(build/torch), and installed there by pip when it is missing; it may be any version with torch.distributed.tensor.

Every question is put to every rank of a mesh alone, in a fake process group that moves nothing. Where two functions of
PyTorch answer differently, the difference is printed; the files hold what it actually cuts from a tensor.
"""
import argparse
import itertools
import math
import subprocess
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests/golden/torch"
MESHES = [(1,), (2,), (3,), (2, 2), (4,), (5,), (2, 3), (3, 2), (6,), (7,), (2, 2, 2), (2, 4), (4, 2), (8,)]


def import_torch(folder):
    sys.path.insert(0, str(folder))
    try:
        import torch.distributed.tensor  # noqa: F401
    except ImportError:
        subprocess.run([sys.executable, "-m", "pip", "install", "--target", str(folder), "torch", "numpy"], check=True)
    import torch
    return torch


class Judge:
    """One rank of a mesh in a fake process group."""

    def __init__(self, sizes, rank):
        import torch
        import torch.distributed as dist
        from torch.distributed.device_mesh import init_device_mesh
        from torch.testing._internal.distributed.fake_pg import FakeStore
        dist.init_process_group("fake", rank=rank, world_size=math.prod(sizes), store=FakeStore())
        self.torch, self.dist = torch, dist
        self.mesh = init_device_mesh("cpu", sizes)
        self.coordinate = self.mesh.get_coordinate()

    def close(self):
        self.dist.destroy_process_group()

    def numbered(self, shape):
        return self.torch.arange(math.prod(shape)).reshape(shape)

    def distributed(self, shape, placements):
        """Dimension by dimension, the indices that this rank holds; only how many where it holds nothing."""
        from torch.distributed.tensor import Replicate, distribute_tensor
        cuts = [Replicate() if p.is_partial() else p for p in placements]  # a pending sum would change the numbers
        local = distribute_tensor(self.numbered(shape), self.mesh, cuts, src_data_rank=None).to_local()
        return held(local, shape)

    def computed(self, shape, placements):
        from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
        return compute_local_shape_and_global_offset(self.torch.Size(shape), self.mesh, placements)

    def ordered(self, shape, order):
        """As distributed(), for Shard placements with an explicit order of cuts: {dimension: axes in turn}."""
        from torch.distributed.tensor import Replicate
        from torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta
        from torch.distributed.tensor._redistribute import _gen_transform_infos_non_cached, redistribute_local_tensor
        full = self.numbered(shape)
        meta = TensorMeta(full.shape, full.stride(), full.dtype)
        source = DTensorSpec(self.mesh, tuple(Replicate() for _ in self.mesh.shape), tensor_meta=meta)
        target = DTensorSpec(self.mesh, shards(order, self.mesh.ndim), tensor_meta=meta, shard_order=entries(order))
        for step in _gen_transform_infos_non_cached(source, target, True):
            if not step.src_dst_placements[0].is_replicate():
                raise RuntimeError(f"{order}: {step} is no local cut, which a fake process group cannot do")
        return held(redistribute_local_tensor(full, source, target, use_graph_based_transform=True), shape)

    def strided_form(self, order):
        from torch.distributed.tensor._dtensor_spec import DTensorSpec
        placements = shards(order, self.mesh.ndim)
        return DTensorSpec._convert_shard_order_to_StridedShard(entries(order), placements, self.mesh)

    def order_of(self, placements):
        """The order of cuts that strided shards stand for; None where PyTorch says that they stand for none."""
        from torch.distributed.tensor._dtensor_spec import DTensorSpec
        return DTensorSpec._maybe_convert_StridedShard_to_shard_order(tuple(placements), self.mesh)


def entries(order):
    from torch.distributed.tensor._dtensor_spec import ShardOrderEntry
    return tuple(ShardOrderEntry(tensor_dim=dim, mesh_dims=tuple(axes)) for dim, axes in sorted(order.items()))


def shards(order, axes):
    from torch.distributed.tensor import Replicate, Shard
    dim_of = {axis: dim for dim, in_turn in order.items() for axis in in_turn}
    return tuple(Shard(dim_of[axis]) if axis in dim_of else Replicate() for axis in range(axes))


def held(local, shape):
    if local.numel() == 0:
        return tuple(local.shape)
    places = []
    for dim, extent in enumerate(shape):
        line = local[tuple(slice(None) if d == dim else 0 for d in range(len(shape)))]
        stride = math.prod(shape[dim + 1:])
        places.append([int(value) // stride % extent for value in line])
    for values in itertools.islice(itertools.product(*(range(len(p)) for p in places)), 4096):
        number = 0
        for dim, at in enumerate(values):
            number = number * shape[dim] + places[dim][at]
        if int(local[values]) != number:
            raise RuntimeError(f"what a rank holds of {shape} is no product of its dimensions")
    return places


def expected_offset(answer, shape):
    """Per dimension the first index held, or the extent where none is; None where a shard empty along another dimension
    does not show it."""
    if isinstance(answer, tuple):
        return [extent if held_there == 0 else None for held_there, extent in zip(answer, shape)]
    return [places[0] for places in answer]


def intervals(places):
    runs = []
    for place in places:
        if runs and runs[-1][1] == place:
            runs[-1][1] = place + 1
        else:
            runs.append([place, place + 1])
    return ",".join(str(a) if b == a + 1 else f"{a}:{b}" for a, b in runs)


def answer_text(answer):
    return "~" + "x".join(map(str, answer)) if isinstance(answer, tuple) else "x".join(map(intervals, answer))


def ask(sizes, question):
    """The answers of all ranks, by rank."""
    answers = []
    for rank in range(math.prod(sizes)):
        judge = Judge(sizes, rank)
        answers.append(question(judge))
        judge.close()
    return answers


def coordinates(sizes):
    return itertools.product(*map(range, sizes))


def without_copies(sizes, placements, answers):
    """One answer for each shard: coordinate 0 along the axes that replicate, after checking that the others agree."""
    kept = []
    for coordinate, answer in zip(coordinates(sizes), answers):
        first = tuple(0 if p.is_replicate() or p.is_partial() else c for p, c in zip(placements, coordinate))
        original = answers[list(coordinates(sizes)).index(first)]
        if original != answer:
            raise RuntimeError(f"{placements}: copies at {first} and {coordinate} hold {original} and {answer}")
        if first == coordinate:
            kept.append(answer)
    return kept


class Book:
    """The text of one golden file, and the differences met on the way."""

    def __init__(self, head):
        self.lines = [f"# {line}" for line in head]
        self.differences = {}
        self.cases = 0

    def mesh(self, sizes):
        self.lines.append("mesh " + "x".join(map(str, sizes)))

    def placements(self, text):
        self.lines.append("on " + text)

    def case(self, shape, answers):
        self.cases += 1
        self.lines.append("x".join(map(str, shape)) + " " + " ".join(map(answer_text, answers)))

    def differ(self, what, case):
        self.differences.setdefault(what, []).append(case)


def text_of(placements):
    return " ".join(map(str, placements))


def held_book(head, dims, others, shapes_of):
    """`others`: placements to try besides Replicate and Shard."""
    from torch.distributed.tensor import Replicate, Shard
    book = Book(head)
    choices = [Replicate(), *(Shard(d) for d in range(dims)), *others]
    for sizes in MESHES:
        book.mesh(sizes)
        cases = [(p, s) for p in itertools.product(choices, repeat=len(sizes)) for s in shapes_of(sizes)]

        def question(judge):
            return [(judge.distributed(s, p), judge.computed(s, p)) for p, s in cases]

        by_rank = ask(sizes, question)
        last = None
        for k, (placements, shape) in enumerate(cases):
            for rank, answers in enumerate(by_rank):
                answer, (local_shape, offset) = answers[k]
                extents = list(answer) if isinstance(answer, tuple) else [len(p) for p in answer]
                case = (f"mesh {sizes}, {text_of(placements)}, shape {shape}, rank {rank}: "
                        f"computes {local_shape} at {offset}, holds {answer_text(answer)}")
                if list(local_shape) != extents:
                    book.differ("sizes computed and cut", case)
                if any(first not in (None, at) for first, at in zip(expected_offset(answer, shape), offset)):
                    book.differ("offsets computed and cut", case)
            if placements != last:
                book.placements(text_of(placements))
                last = placements
            book.case(shape, without_copies(sizes, placements, [answers[k][0] for answers in by_rank]))
    return book


def orders_of(axes, dims):
    """Every order in which some of the axes may cut the dimensions: {dimension: axes in turn}, where it matters."""
    for assignment in itertools.product(range(-1, dims), repeat=axes):
        groups = {d: [a for a in range(axes) if assignment[a] == d] for d in range(dims) if d in assignment}
        for turns in itertools.product(*(itertools.permutations(group) for group in groups.values())):
            if any(list(turn) != sorted(turn) for turn in turns):
                yield dict(zip(groups, turns))


def order_text(order, axes):
    place = {axis: f"S({dim})[{turn}]" for dim, in_turn in order.items() for turn, axis in enumerate(in_turn)}
    return " ".join(place.get(axis, "R") for axis in range(axes))


def order_book(head, dims, shapes_of):
    book = Book(head)
    for sizes in MESHES:
        if len(sizes) == 1:
            continue
        book.mesh(sizes)
        cases = [(o, s) for o in orders_of(len(sizes), dims) for s in shapes_of(sizes)]

        def question(judge):
            strided = {order_text(o, len(sizes)): judge.strided_form(o) for o, _ in cases}
            forms = [strided[order_text(o, len(sizes))] for o, _ in cases]
            return [(judge.ordered(s, o), judge.distributed(s, f), f) for (o, s), f in zip(cases, forms)]

        by_rank = ask(sizes, question)
        last = None
        for k, (order, shape) in enumerate(cases):
            strided = by_rank[0][k][2]
            for rank, answers in enumerate(by_rank):
                if answers[k][0] != answers[k][1]:
                    book.differ("an order and the strided shards that it is written as",
                                f"mesh {sizes}, {order_text(order, len(sizes))} or {text_of(strided)}, shape {shape}, "
                                f"rank {rank}: {answer_text(answers[k][0])} or {answer_text(answers[k][1])}")
            if order != last:
                book.placements(f"{order_text(order, len(sizes))} = {text_of(strided)}")
                last = order
            kept = without_copies(sizes, shards(order, len(sizes)), [answers[k][0] for answers in by_rank])
            book.case(shape, kept)
    return book


def reading_book(head, factors):
    """Which order of cuts strided shards stand for, if any."""
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.placement_types import _StridedShard
    book = Book(head)
    choices = [Replicate(), Shard(0)] + [_StridedShard(0, split_factor=f) for f in factors]
    for sizes in MESHES:
        book.mesh(sizes)
        judge = Judge(sizes, 0)
        for placements in itertools.product(choices, repeat=len(sizes)):
            order = judge.order_of(placements)
            reading = "none"
            if order is not None:
                reading = order_text({entry.tensor_dim: entry.mesh_dims for entry in order}, len(sizes))
            book.cases += 1
            book.lines.append(f"{text_of(placements)} = {reading}")
        judge.close()
    return book


def one_size(sizes):
    return [(n,) for n in (*range(18), 24, 25)]


def two_sizes(sizes):
    world = math.prod(sizes)
    return [(world, 2 * world), (world + 1, 2 * world + 1), (5, 7), (1, 2), (0, 3)]


def three_sizes(sizes):
    return [(8, 12, 4), (5, 3, 7), (2, 0, 9)]


def books(version):
    from torch.distributed.tensor import Partial
    from torch.distributed.tensor.placement_types import _StridedShard
    head = [f"What PyTorch {version} holds where; written by scripts/torch_judge.py.",
            "After \"on\", the placements; then lines of a shape and, for every coordinate in order that is 0 along axes",
            "which do not cut, the indices held along each dimension: \"0:2,5x3\" holds 0, 1 and 5 of the first, 3 of",
            "the second; \"~0x3\" holds nothing, in that local shape."]
    in_turn = ["After \"=\", the strided shards that PyTorch writes such an order as."]
    yield "one_dim.txt", held_book(head, 1, [_StridedShard(0, split_factor=f) for f in (2, 3, 4)], one_size)
    yield "two_dims.txt", held_book(head, 2, [_StridedShard(d, split_factor=2) for d in (0, 1)], two_sizes)
    yield "three_dims.txt", held_book(head, 3, [Partial()], three_sizes)
    yield "orders_one_dim.txt", order_book(head + in_turn, 1, one_size)
    yield "orders_two_dims.txt", order_book(head + in_turn, 2, two_sizes)
    yield "readings.txt", reading_book([f"Which order of cuts PyTorch {version} reads from strided shards; "
                                        "written by scripts/torch_judge.py."], (1, 2, 3, 4, 6, 8))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", type=Path, default=ROOT / "build/torch", metavar="FOLDER")
    parser.add_argument("--write", action="store_true", help="write the files instead of comparing with them")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    torch = import_torch(options.torch)
    changed = False
    for name, book in books(torch.__version__):
        text = "\n".join(book.lines) + "\n"
        path = GOLDEN / name
        if options.write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            changed = True
            print(f"{path.relative_to(ROOT)}: is not what PyTorch {torch.__version__} answers")
        print(f"{name}: {book.cases} cases, {len(text) / 1024:.0f} KiB")
        for what, cases in book.differences.items():
            print(f"  PyTorch disagrees with itself on {what}, {len(cases)} times:", *cases[:5], sep="\n    ")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
