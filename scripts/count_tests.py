#!/usr/bin/python3
"""count_tests.py JUNIT..: sums test results over several ctest runs.

Prints one line a run, then a last line of the exact form `N passed, N failed`. A test that neither passed nor was
skipped counts as failed; a file that is missing or unreadable is a failed run and counts as one. A GoogleTest program
that ctest ran as one test counts as many as it says it ran, and as one failure more where it ended badly without saying so.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def said(output, verdict):
    """The number of tests in GoogleTest's last line of a verdict; None where it has none."""
    found = re.findall(rf"^\[ *{verdict} *\] (\d+) tests?\b", output, re.MULTILINE)
    return int(found[-1]) if found else None


def count_case(case):
    """Passed, failed and skipped tests of one ctest test."""
    status = case.get("status")
    if status in ("notrun", "disabled") or status != "run" and case.find("skipped") is not None:
        return 0, 0, 1
    output = case.findtext("system-out") or ""
    passed = said(output, "PASSED")
    failed, skipped = said(output, "FAILED") or 0, said(output, "SKIPPED") or 0
    if status == "run":
        return (1, 0, 0) if passed is None else (passed, failed, skipped)
    return passed or 0, max(failed, 1), skipped


def count(path):
    cases = ElementTree.parse(path).getroot().iter("testcase")
    return tuple(map(sum, zip((0, 0, 0), *map(count_case, cases))))


def main(paths):
    total_passed = total_failed = 0
    for path in map(Path, paths):
        try:
            passed, failed, skipped = count(path)
        except (OSError, ElementTree.ParseError) as error:
            passed, failed, skipped = 0, 1, 0
            print(f"{path}: no results: {error}")
        else:
            print(f"{path}: {passed} passed, {failed} failed, {skipped} skipped")
        total_passed += passed
        total_failed += failed
    print(f"{total_passed} passed, {total_failed} failed")


if __name__ == "__main__":
    main(sys.argv[1:])
