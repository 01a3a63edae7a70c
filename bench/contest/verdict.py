#!/usr/bin/python3
"""verdict.py FILE QUESTION ARGUMENT..: answers a question from the rows of a contest, as claims want it.

  limit WAY                        the least share of the limit, over all rows of ours of that way
  over CONTESTANTS [WAYS]          how many times our time the best way of a peer takes, at least: the peer's worst job for us
  published RATIO_A,RATIO_B,..     our share of the limit over that published for jobs a, b, c, at least
  times_limit WAY                  our time over the limit's, at most
  us                               our time in microseconds, at most
  hosts FABRIC                     the ratio to raw TCP between two hosts

Ours are the processes, and tensors in windows; --from BYTES and --below BYTES choose sizes. Prints {"measured": ..},
with the row that decides as a note.
"""
import argparse
import json
import sys
from pathlib import Path

OURS = "reshard-process"
MOVES = ("a", "b", "c")


def ours(rows, way=None):
    found = [row for row in rows if row["contestant"] == OURS and "ms" in row and way in (None, row["way"])]
    if not found:
        raise ValueError(f"no row of {OURS}" + (f", {way}" if way else "") + "; was it left out?")
    return found


def decide(pick, answers):
    """The deciding answer of [(value, row)]."""
    if not answers:
        raise ValueError("no row to answer from; was the contestant left out?")
    value, row = pick(answers, key=lambda answer: answer[0])
    return {"measured": round(value, 3), "note": f"{row['contestant']} {row['way']}, job {row['job']}"}


def own_ratio(row):
    """Against ours in the row of a peer: the fastest of our ways that is in windows, or the only one there is."""
    own = {key: value for key, value in row["ours"].items() if key.startswith(OURS + "/")}
    if not own:
        raise ValueError(f"job {row['job']} has no row of {OURS}")
    return own.get(OURS + "/windows", max(own.values()))


def answer(rows, question, arguments):
    if question == "limit":
        return decide(min, [(row["ratio"], row) for row in ours(rows, arguments[0])])
    if question == "times_limit":
        return decide(max, [(1 / row["ratio"], row) for row in ours(rows, arguments[0])])
    if question == "us":
        return decide(max, [(row["ms"] * 1e3, row) for row in ours(rows)])
    if question == "over":
        names = arguments[0].split(",")
        ways = arguments[1].split(",") if len(arguments) > 1 else None
        return decide(min, [(own_ratio(row), row) for row in rows if row["contestant"] in names and "ours" in row
                            and (ways is None or row["way"] in ways)])
    if question == "published":
        published = dict(zip(MOVES, map(float, arguments[0].split(","))))
        return decide(min, [(row["ratio"] / published[row["job"]], row) for row in ours(rows, "windows")
                            if row["job"] in published])
    if question == "hosts":
        return decide(min, [(row["ratio"], {"way": row["fabric"], **row}) for row in rows
                            if row.get("family") == "hosts" and row["fabric"] == arguments[0]])
    raise ValueError(f"no question {question}")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("question")
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--from", type=int, default=0, dest="least")
    parser.add_argument("--below", type=int, default=1 << 60)
    options = parser.parse_args(arguments)
    rows = [json.loads(line) for line in Path(options.file).read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if options.least <= row.get("bytes", 0) < options.below]
    try:
        print(json.dumps(answer(rows, options.question, options.arguments)))
    except ValueError as error:
        print(f"verdict: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
