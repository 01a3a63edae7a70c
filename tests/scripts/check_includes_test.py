"""check_includes.py on small trees: each with one fault, and one without."""
import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import check_includes


def check(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = check_includes.main(Path(folder))
        return status, output.getvalue()


class CheckIncludes(unittest.TestCase):
    def refused(self, files, *parts):
        status, output = check(files)
        self.assertEqual(status, 1, output)
        for part in parts:
            self.assertIn(part, output)

    def test_a_good_tree_passes(self):
        status, output = check({
            "include/reshard/index.h": "#include <cstdint>\n",
            "include/reshard/layout.h": '#include "reshard/index.h"\n',
            "src/base/checked.h": '#include "reshard/index.h"\n',
            "src/layout/layout.cpp": '#include <fmt/format.h>\n#include <sys/mman.h>\n#include "base/checked.h"\n#include "layout/grid.h"\n',
            "src/exec/run.cpp": '#include "fabric/shm/arena.h"\n#include "program/ops.h"\n#include <reshard/plan.h>\n',
            "tools/main.cpp": '#include <CLI/CLI.hpp>\n#include "explain.h"\n#include "reshard/plan.h"\n',
            "tools/explain.h": "",
            "tools/explain/command.cpp": '#include "plan/flags.h"\n',
            "tools/plan/flags.h": "",
            "bench/copy_bench.cpp": '#include <benchmark/benchmark.h>\n#include "kernel/copy.h"\n',
            "tests/oracle/cutting.h": '#include "oracle/cells.h"\n#include "layout/grid.h"\n#include "reshard/layout.h"\n',
            "tests/oracle/cells.h": "",
            "tests/unit/plan/plan_test.cpp": '#include <gtest/gtest.h>\n#include "plan/merge.h"\n#include "oracle/cutting.h"\n',
        })
        self.assertEqual(status, 0, output)
        self.assertIn("13 files include one way only", output)

    def test_an_upward_include_names_file_line_and_rule(self):
        self.refused({"src/layout/a.cpp": '\n\n#include "plan/merge.h"\n'},
                     "src/layout/a.cpp:3: layout may not include plan (it may include base)")

    def test_a_public_header_counts_for_its_layer(self):
        self.refused({"src/layout/a.cpp": "#include <reshard/plan.h>\n"}, "a.cpp:1: reshard/plan.h belongs to plan")
        self.refused({"include/reshard/cut.h": '#include "reshard/world.h"\n'}, "cut.h:1: reshard/world.h belongs to exec")

    def test_a_fabric_sees_no_program(self):
        self.refused({"src/fabric/shm/a.cpp": '#include "reshard/program.h"\n'}, "reshard/program.h belongs to program")
        self.refused({"src/program/a.cpp": '#include "fabric/spin.h"\n'}, "program may not include fabric")

    def test_an_unlisted_header_says_where_to_add_it(self):
        self.refused({"include/reshard/wobble.h": ""}, "wobble.h:1: has no layer; add it to PUBLIC")
        self.refused({"tools/a.cpp": '#include "reshard/wobble.h"\n'}, "reshard/wobble.h has no layer")

    def test_an_unlisted_folder_says_where_to_add_it(self):
        self.refused({"src/wobble/a.cpp": ""}, "lies in no known folder of src/")

    def test_public_headers_show_no_third_party_and_no_private_header(self):
        self.refused({"include/reshard/plan.h": "#include <nlohmann/json.hpp>\n"}, "the standard library and reshard/ only")
        self.refused({"include/reshard/plan.h": '#include "base/fail.h"\n'}, "a public header includes no private one")

    def test_a_third_party_stays_in_its_place(self):
        self.refused({"src/plan/a.cpp": "#include <CLI/CLI.hpp>\n"}, "CLI is for tools only")
        self.refused({"src/plan/a.cpp": "#include <boost/x.hpp>\n"}, "is of no known dependency")

    def test_tools_see_public_headers_only(self):
        self.refused({"tools/a.cpp": '#include "plan/merge.h"\n'}, "tools includes public headers and its own files only")

    def test_the_oracle_sees_base_and_layout_only(self):
        self.refused({"tests/oracle/a.cpp": '#include "reshard/plan.h"\n'}, "reshard/plan.h belongs to plan")
        self.refused({"tests/oracle/a.cpp": '#include "plan/merge.h"\n'}, "oracle may not include plan")
        self.refused({"tests/oracle/a.cpp": '#include "property/b.h"\n', "tests/property/b.h": ""}, "or it proves nothing")

    def test_relative_includes_in_src_are_refused(self):
        self.refused({"src/plan/a.cpp": '#include "merge.h"\n', "src/plan/merge.h": ""}, 'write "layer/merge.h"')

    def test_names_that_say_nothing_are_refused(self):
        for name in ("src/plan/utils.h", "src/base/misc.cpp", "tests/common/a.h", "tools/helper.cpp"):
            self.refused({name: ""}, f"{name}:1: a name that says nothing")

    def test_an_empty_tree_is_a_failure(self):
        self.assertEqual(check({})[0], 1)


if __name__ == "__main__":
    unittest.main()
