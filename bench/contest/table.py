"""The rows of a contest as tables in Markdown, and their place in a document."""
import datetime
import os
import platform
import re
from pathlib import Path

from contestants import TITLES
from jobs import KIB, MIB, OPERATIONS

BEGIN, END = "<!-- contest:begin -->", "<!-- contest:end -->"
MOVES = ("a", "b", "c", "d")


def lines_of(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows), ""]


def label(row):
    way = "" if row["way"] in ("notify and wait", "barrier") else f", {row['way']}"
    return TITLES.get(row["contestant"], row["contestant"]) + way


def time_text(ms):
    if ms >= 0.1:
        return f"{ms:.1f} ms"
    return f"{ms * 1e3:.1f} us" if ms >= 1e-3 else f"{ms * 1e6:.0f} ns"


def size_text(size):
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"


def best_of_ours(row):
    """How many times the time of the faster one of ours this takes; None for ours and the limit."""
    return max(row["ours"].values()) if row.get("ours") else None


def rate(row):
    return f" {row['GB/s']:.2f}" if "GB/s" in row else ""


def beside_limit(row):
    return f" ({row['ratio']:.2f})" if "ratio" in row else ""


def beside_ours(row):
    best = best_of_ours(row)
    return f" x{best:.2f}" if best else ""


def in_order(rows):
    order = list(TITLES)
    return sorted(rows, key=lambda row: order.index(row["contestant"]) if row["contestant"] in order else len(order))


def labels_of(rows):
    return list(dict.fromkeys(label(row) for row in in_order(rows)))


def grid(rows, columns, column_of, cell):
    """One line per contestant and way, one column per `columns`."""
    cells = {(label(row), column_of(row)): cell(row) for row in rows}
    return [[name, *(cells.get((name, column), "") for column in columns)] for name in labels_of(rows)]


def moves_table(rows):
    rows = [row for row in rows if row["family"] in (*MOVES, "cast") and "ms" in row]
    columns = [family for family in (*MOVES, "cast") if any(row["family"] == family for row in rows)]
    if not columns:
        return []
    body = grid(rows, columns, lambda row: row["family"],
                lambda row: f"{time_text(row['ms'])}{rate(row)}{beside_limit(row)}{beside_ours(row)}")
    return ["### Redistribution", "", "Time, GB/s, (share of the limit), x times the faster one of ours.", "",
            *lines_of(["", *columns], body)]


def latency_table(rows):
    rows = [row for row in rows if row["family"] in ("hop", "barrier") and "ms" in row]
    columns = list(dict.fromkeys(row["job"] for row in sorted(rows, key=lambda row: (row["family"] != "hop", row["ranks"]))))
    if not columns:
        return []
    body = grid(rows, columns, lambda row: row["job"], lambda row: f"{time_text(row['ms'])}{beside_limit(row)}{beside_ours(row)}")
    return ["### Notification to the other rank, and barrier", "", "Time, (share of the limit), x times the faster one of ours.",
            "", *lines_of(["", *columns], body)]


def collective_tables(rows):
    text = []
    for op in OPERATIONS:
        for ranks in (2, 4, 8):
            here = [row for row in rows if row["family"] == op and row["ranks"] == ranks and "ms" in row]
            sizes = sorted({row["bytes"] for row in here})
            if not sizes:
                continue
            body = grid(here, sizes, lambda row: row["bytes"], lambda row: time_text(row["ms"]) + beside_limit(row) + beside_ours(row))
            text += [f"### {op}, {ranks} ranks", "", *lines_of(["bytes per rank", *map(size_text, sizes)], body)]
    return text


def hosts_table(rows):
    rows = [{key: value for key, value in row.items() if key not in ("family", "contestant")} for row in rows if row["family"] == "hosts"]
    if not rows:
        return []
    keys = list(dict.fromkeys(key for row in rows for key in row))
    body = [[f"{row[key]:.4g}" if isinstance(row.get(key), float) else str(row.get(key, "")) for key in keys] for row in rows]
    return ["### Job b between two hosts (network namespaces)", "", *lines_of(keys, body)]


def absent(rows, missing):
    texts = [f"- {TITLES.get(name, name)}: {why}" for name, why in missing.items()]
    for row in rows:
        if "left_out" in row and row["contestant"] not in missing:
            way = f", {row['way']}" if "way" in row else ""
            texts.append(f"- {TITLES.get(row['contestant'], row['contestant'])}{way}, {row['ranks']} ranks: {row['left_out']}")
    texts = list(dict.fromkeys(texts))
    return ["### Not there", "", *texts, ""] if texts else []


def processor():
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def facts(rows):
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    timed = [row for row in rows if "rounds" in row]
    idle = min((row["idle"] for row in timed), default=1)
    quiet = "" if idle >= 0.9 else f" Others used up to {100 * (1 - idle):.0f} % of the cores meanwhile: provisional."
    rounds = max((row["rounds"] for row in timed), default=0)
    return [f"{datetime.date.today()}, {len(os.sched_getaffinity(0))} cores ({processor()}), {memory:.0f} GiB, "
            f"Linux {platform.release()}; medians of {rounds} rounds.{quiet}", ""]


def render(rows, missing):
    return "\n".join([*facts(rows), *moves_table(rows), *latency_table(rows), *collective_tables(rows), *hosts_table(rows),
                      *absent(rows, missing)]).rstrip() + "\n"


def write(document, rendered):
    text = document.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise ValueError(f"{document} has no markers {BEGIN} and {END}")
    between = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    document.write_text(between.sub(lambda _: f"{BEGIN}\n{rendered}{END}", text), encoding="utf-8")
