#!/usr/bin/python3
"""check_includes.py [ROOT]: includes go one way only, as in docs/design/layers.md.

Prints `file:line: what is wrong` for every include against the table, for a public header without a layer, and for a
file with a name that says nothing; exits 1 when there is one.
"""
import re
import sys
from pathlib import Path

# What each folder of src/ may include besides itself.
LAYERS = {
    "base": set(),
    "layout": {"base"},
    "plan": {"base", "layout"},
    "program": {"base", "layout", "plan"},
    "kernel": {"base"},
    "fabric": {"base"},
    "exec": {"base", "layout", "plan", "program", "fabric", "kernel"},
    "collective": {"base", "layout", "plan", "program", "fabric", "exec"},
    "op": {"base", "layout", "plan", "program", "fabric", "exec"},
    "format": {"base", "layout"},
    "convert": {"base", "layout", "plan", "program", "fabric", "kernel", "format"},
}
# Public headers belong to the layer that implements them.
PUBLIC = {
    "base": "error index dtype reduce_op strided_copy",
    "layout": "mesh cut region layout notation topology",
    "plan": "plan predict multicast megatron agreement boxes compare relabel rounds m2m batch_plan",
    "program": "program batch_program multicast_program expression symbolic builder program_text unroll lower check "
               "simulate program_verify replay",
    "kernel": "kernel",
    "fabric": "fabric ranks thread_fabric shm_fabric exchange ucx_fabric mpi_fabric wrap",
    "exec": "world batch_move executor tensor stamp program_run",
    "collective": "collective collective_timing tuning",
    "op": "op halo check_adjoint primitives",
    "format": "safetensors checkpoint checkpoint_output manifest mapped_file model tensor_info topology_file",
    "convert": "convert",
}
LAYER_OF = {f"reshard/{name}.h": layer for layer, names in PUBLIC.items() for name in names.split()}
# Third parties, each with the only places that may see it.
THIRD_PARTY = {
    "fmt": {"src", "tools", "tests", "bench"},
    "nlohmann": {"src", "tools", "tests", "bench"},
    "yaml-cpp": {"src/format"},
    "CLI": {"tools"},
    "gtest": {"tests"},
    "gmock": {"tests"},
    "benchmark": {"bench"},
    "hwy": {"src/kernel"},
    "ucp": {"src/fabric/ucx"},
    "ucs": {"src/fabric/ucx"},
    "gloo": {"bench/contest"},
}
# Public headers of a third party's users: what they include beside the standard library.
PUBLIC_THIRD_PARTY = {
    "include/reshard/mpi_fabric.h": {"mpi.h"},
}
SYSTEM = {"sys", "linux", "asm", "arpa", "netinet"}
NAMELESS = {"util", "utils", "helper", "helpers", "misc", "common"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def place_of(path):
    """(kind, layer): the kind of file decides what it may include."""
    parts = path.parts
    if parts[0] == "include":
        return "public", LAYER_OF.get("/".join(parts[1:]))
    if parts[0] == "src":
        return "private", parts[1] if parts[1] in LAYERS else None
    if parts[:2] == ("tests", "oracle"):
        return "oracle", "layout"
    return parts[0], None


def fault(root, path, quote, target):
    """Why `path` may not include `target`, or None."""
    kind, layer = place_of(path)
    first = target.split("/")[0]
    if first == "reshard":
        return public_fault(kind, layer, target)
    own = kind not in ("public", "private") and any(
        (root / base / target).exists() for base in list(path.parents)[:-1])
    if quote == '"' and "/" in target and first in LAYERS and not own:
        return private_fault(kind, layer, first)
    if quote == '"':
        if own and kind == "oracle" and not (root / path.parent / target).exists() and first != "oracle":
            return "tests/oracle includes its own files, base and layout only, or it proves nothing"
        return None if own else f'write "layer/{Path(target).name}" with the folder of src/ it lies in, or <..>'
    return third_party_fault(kind, path, first, target)


def public_fault(kind, layer, target):
    owner = LAYER_OF.get(target)
    if owner is None:
        return f"{target} has no layer; add it to PUBLIC in scripts/check_includes.py"
    if kind in ("public", "private", "oracle") and layer and owner != layer and owner not in LAYERS[layer]:
        return f"{target} belongs to {owner}, which {layer} may not include ({allowed(layer)})"
    return None


def private_fault(kind, layer, owner):
    if kind == "public":
        return "a public header includes no private one"
    if kind in ("tools", "examples"):
        return f"{kind} includes public headers and its own files only"
    if kind in ("private", "oracle") and layer and owner != layer and owner not in LAYERS[layer]:
        return f"{kind if kind == 'oracle' else layer} may not include {owner} ({allowed(layer)})"
    return None


def third_party_fault(kind, path, first, target):
    if target in PUBLIC_THIRD_PARTY.get(path.as_posix(), set()):
        return None
    if kind == "public" and ("/" in target or target.endswith(".h")):
        return f"<{target}>: public headers include the standard library and reshard/ only"
    if "/" not in target or first in SYSTEM:
        return None
    places = THIRD_PARTY.get(first)
    if places is None:
        return f"<{target}> is of no known dependency; add it to THIRD_PARTY here and to docs/design/dependencies.md"
    if not any(path.is_relative_to(place) for place in places):
        return f"<{target}>: {first} is for {', '.join(sorted(places))} only"
    return None


def allowed(layer):
    return "it may include " + (", ".join(sorted(LAYERS[layer])) or "nothing but itself")


def faults_of(root, path):
    if path.stem.lower() in NAMELESS or NAMELESS & {part.lower() for part in path.parts[:-1]}:
        yield f"{path}:1: a name that says nothing; name the file after what is in it"
    kind, layer = place_of(path)
    if kind == "public" and layer is None:
        yield f"{path}:1: has no layer; add it to PUBLIC in scripts/check_includes.py"
    if kind == "private" and layer is None:
        yield f"{path}:1: lies in no known folder of src/; add the folder to LAYERS in scripts/check_includes.py"
    for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        reason = match and fault(root, path, *match.groups())
        if reason:
            yield f"{path}:{number}: {reason}"


def main(root):
    files = sorted(path.relative_to(root) for folder in ("include", "src", "tools", "tests", "bench", "examples")
                   for path in (root / folder).rglob("*") if path.suffix in (".h", ".cpp"))
    faults = [line for path in files for line in faults_of(root, path)]
    print("\n".join(faults) if faults else f"{len(files)} files include one way only")
    if not files:
        print(f"no sources under {root}")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)))
