#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Feeds tools/check_layers and tools/check_sources small trees, good and bad.

Each bad tree breaks one rule: the checker must fail, and name the file and the reason.
"""

import os
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.dirname(os.path.realpath(__file__))
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


def run(checker, tree):
    """The exit code and output of a checker over {path: content}."""
    with tempfile.TemporaryDirectory() as root:
        for path, content in tree.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(content)
        done = subprocess.run([sys.executable, os.path.join(TOOLS, checker), root], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout


class CheckerTest(unittest.TestCase):
    def accepts(self, tree):
        code, output = run(self.checker, tree)
        self.assertEqual((code, output), (0, ""))

    def rejects(self, tree, place, reason):
        code, output = run(self.checker, tree)
        self.assertEqual(code, 1, output)
        self.assertEqual(len(output.splitlines()), 1, output)
        self.assertTrue(output.startswith(place + ": "), output)
        self.assertIn(reason, output)


class LayersTest(CheckerTest):
    checker = "check_layers"

    def source(self, path, include, place, reason):
        self.rejects({path: "\n" + include + "\n"}, f"{path}:{place}", reason)

    def test_accepts_what_is_below(self):
        self.accepts({
            "coffer/base/a.h": "#include <vector>\n",
            "coffer/os/file.cc": '#include <unistd.h>\n#include "coffer/base/a.h"\n',
            "coffer/crypto/a.cc": '#include <openssl/evp.h>\n#include "coffer/os/random.h"\n'
                                  '#include "coffer/os/memory.h"\n'
                                  '#include "coffer/crypto/internal/b.h"\n',
            "coffer/age/a_test.cc": '#include <unistd.h>\n#include "coffer/os/file.h"\n',
            "coffer/age/b_test.cc": '#include "coffer/base/testing/a.h"\n',
            "coffer/os/testing/a.cc": '#include "coffer/base/testing/a.h"\n',
            "coffer/vault/a.h": '#include "coffer/store/a.h"\n#include "coffer/age/a.h"\n',
            "fuzz/a_fuzz.cc": '#include "coffer/age/internal/a.h"\n',
            "coffer/age/CMakeLists.txt": "coffer_layer(age\n  SOURCES # here\n    a.cc\n"
                                         "  DEPS coffer_base coffer_crypto)\n"
                                         "coffer_test(a_test SOURCES a_test.cc DEPS coffer_os)\n",
        })

    def test_layer_above(self):
        self.source("coffer/base/a.cc", '#include "coffer/os/a.h"', 2, "the standard library alone")
        self.source("coffer/store/a.h", '#  include "coffer/crypto/a.h"', 2, "cannot leak")
        self.source("coffer/age/a.cc", '#include "coffer/os/file.h"', 2, "sources and sinks")
        self.source("coffer/store/a_test.cc", '#include "coffer/age/a.h"', 2, "cannot leak")

    def test_crypto_takes_little_of_os(self):
        self.source("coffer/crypto/a.cc", '#include "coffer/os/file.h"', 2, "only cpu, memory and random")

    def test_internal_is_private(self):
        self.source("coffer/age/a.cc", '#include "coffer/crypto/internal/a.h"', 2, "private to")
        self.source("tests/a.cc", '#include "coffer/crypto/internal/a.h"', 2, "private to")

    def test_public_header_shows_no_internals(self):
        self.source("coffer/age/a.h", '#include "coffer/age/internal/a.h"', 2, "public header")

    def test_include_names_its_layer(self):
        self.source("coffer/age/a.cc", '#include "a.h"', 2, "does not name its layer")
        self.source("coffer/age/a.cc", '#include "coffer/misc/a.h"', 2, "not a layer")

    def test_unknown_layer(self):
        self.rejects({"coffer/utils/a.h": "\n"}, "coffer/utils/a.h:1", "not a layer")

    def test_system_calls_stay_in_os(self):
        self.source("coffer/age/a.cc", "#include <unistd.h>", 2, "outside coffer/os")
        self.source("coffer/base/a.h", "#include <sys/mman.h>", 2, "outside coffer/os")

    def test_openssl_stays_in_crypto(self):
        self.source("coffer/age/a.cc", "#include <openssl/evp.h>", 2, "outside coffer/crypto")

    def test_heavy_headers_stay_out_of_headers(self):
        self.source("coffer/cli/a.h", "#include <CLI/CLI.hpp>", 2, "many seconds")

    def test_cmake_dependency(self):
        self.rejects({"coffer/store/CMakeLists.txt":
                      "coffer_layer(store\n  SOURCES a.cc\n  DEPS coffer_base\n coffer_crypto)\n"},
                     "coffer/store/CMakeLists.txt:1", "must not depend on coffer_crypto")
        self.rejects({"coffer/store/CMakeLists.txt":
                      "coffer_test(a_test SOURCES a_test.cc DEPS coffer_age)\n"},
                     "coffer/store/CMakeLists.txt:1", "must not depend on coffer_age")
        self.rejects({"coffer/crypto/CMakeLists.txt": "coffer_layer(pq SOURCES a.cc)\n",
                      "coffer/store/CMakeLists.txt": "coffer_layer(s3 SOURCES a.cc DEPS coffer_pq)\n"},
                     "coffer/store/CMakeLists.txt:1", "must not depend on coffer_pq")

    def test_test_support_stays_in_tests(self):
        self.source("coffer/age/a.cc", '#include "coffer/base/testing/a.h"', 2, "for tests")


class SourcesTest(CheckerTest):
    checker = "check_sources"

    def line(self, path, line, reason):
        tree = {path: SPDX + line + "\n"}
        if path.endswith(".cc"):
            tree["CMakeLists.txt"] = f"# {SPDX[3:]}x({path})\n"
        self.rejects(tree, f"{path}:2", reason)

    def test_accepts_a_good_tree(self):
        self.accepts({
            "CMakeLists.txt": "# " + SPDX[3:] + "add_subdirectory(coffer)\n",
            "coffer/CMakeLists.txt": "# " + SPDX[3:] + 'coffer_layer(a SOURCES\n  b/a.cc  # x\n)\n'
                                     'coffer_test(a_test SOURCES "b/a_test.cc")\n',
            "coffer/b/a.cc": SPDX,
            "coffer/b/a_test.cc": SPDX + "if (memcmp(a, b, 3) == 0) {}\n",
            "cmake/x.cmake": "# " + SPDX[3:] + "x(${CMAKE_CURRENT_SOURCE_DIR}/replay.cc)\n",
            "fuzz/replay.cc": SPDX,
            "tests/CMakeLists.txt": "# " + SPDX[3:] + "coffer_cli_test(b)\n",
            "tests/cli/b.script": "$ coffer\n",
            "fuzz/corpus/a/b.cc": "no newline, TO" + "DO",
            "scripts/a": "#!/bin/sh\n# " + SPDX[3:],
            "README.md": "words\n",
            "coffer/a.h": SPDX + "reinterpret_cast<const uint8_t*>(x);\n" * 599,
        })

    def test_licence_line(self):
        self.rejects({"coffer/a.h": "\n"}, "coffer/a.h:1", "SPDX")
        self.rejects({"scripts/a": "#!/bin/sh\n"}, "scripts/a:1", "SPDX")

    def test_source_in_no_target(self):
        cmake = {"coffer/CMakeLists.txt": "# " + SPDX[3:] + "# a_test.cc\nx(b/a_test.cc)\n"}
        self.rejects({"coffer/a_test.cc": SPDX, **cmake}, "coffer/a_test.cc:1", "no CMake target")
        self.rejects({"tests/cli/b.script": "x\n", **cmake}, "tests/cli/b.script:1",
                     "no CMake target")
        self.rejects({"tests/a_test.sh": "# " + SPDX[3:], **cmake}, "tests/a_test.sh:1",
                     "no CMake target")

    def test_long_file(self):
        self.rejects({"coffer/a.h": SPDX * 601}, "coffer/a.h:601", "over 600 lines")

    def test_text_form(self):
        self.rejects({"a.md": "x"}, "a.md:1", "no newline")
        self.rejects({"a.md": "x\ny \n"}, "a.md:2", "white space")

    def test_words(self):
        self.line("coffer/a.h", "// TO" + "DO: later", "left for later")
        self.line("docs/a.h", "see /wor" + "k/x", "one machine")
        self.line("docs/a.h", "by a sub" + "agent", "itself alone")

    def test_tests_that_cannot_fail(self):
        self.line("coffer/a_test.cc", "GTEST_" + "SKIP();", "cannot fail")
        self.line("coffer/a_test.cc", "TEST(A, DIS" + "ABLED_B) {", "cannot fail")

    def test_integers_by_cast(self):
        self.line("coffer/a.cc", "x = *reinterpret_cast<const uint32_t*>(p);", "endian.h")
        self.line("coffer/a.cc", "x = *reinterpret_cast<unsigned long*>(p);", "endian.h")

    def test_comparison_and_random(self):
        self.line("coffer/a.cc", "return memcmp(a, b, n) == 0;", "ct::Equal")
        self.line("coffer/a.cc", "std::mt19937 g;", "random.h")


if __name__ == "__main__":
    unittest.main()
