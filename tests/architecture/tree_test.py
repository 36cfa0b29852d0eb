"""The tree shows the architecture: who may include whom, and where things may live."""

import os
import pathlib
import re
import subprocess
import unittest

from class_sizes import class_sizes

ROOT = pathlib.Path(os.environ["SLICEWISE_SOURCE_DIR"])
# A file holds one subject, however long that is within reason; beyond this it is several.
MAX_LINES = 1000

# What each folder may include of the public headers, besides the vocabulary at their root.
# tools -> reports -> sim -> {scenarios, models}; scenarios and models do not know each other.
MAY_INCLUDE = {
    "models": {"models"},
    "scenarios": {"scenarios"},
    "sim": {"models", "scenarios", "sim"},
    "reports": {"models", "scenarios", "sim", "reports"},
    "tools": {"models", "scenarios", "sim", "reports"},
}
# Inside sim each stage sees only those left of it. The world says what to run, so all but the
# kernel may look at it.
SIM_MAY_INCLUDE = {
    "kernel": {"kernel"},
    "device": {"kernel", "device"},
    "placement": {"kernel", "device", "placement"},
    "metrics": {"kernel", "metrics"},
    "serving": {"kernel", "metrics", "serving"},
    "replay": {"kernel", "device", "metrics", "placement", "replay"},
}
TOP_LEVEL = {
    "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "pyproject.toml",
    "include", "models", "reports", "scenarios", "sim", "tests", "tools",
}
VAGUE_NAMES = {"utils", "util", "common", "helpers", "helper", "misc"}
# What is composed of parts has none that became the whole.
MAX_FUNCTIONS, MAX_FIELDS = 25, 20
SOURCE_SUFFIXES = {".cpp", ".hpp", ".py", ".S"}


def tracked_files():
    """Files of the checkout; without git, every file that is not a build output."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        files = [pathlib.PurePath(line) for line in listing.stdout.splitlines()]
    else:
        files = [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file()]
    return [f for f in files if f.parts[0] not in {"build", ".git"} and (ROOT / f).is_file()]


FILES = tracked_files()


def owner(file):
    """The library that a file belongs to: public headers belong to the folder they describe."""
    parts = file.parts
    if parts[:2] == ("include", "slicewise"):
        return parts[2] if len(parts) > 3 else "vocabulary"
    return parts[0]


def public_includes(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    return re.findall(r'^\s*#include "slicewise/([^"]+)"', text, re.MULTILINE)


def sources(*suffixes):
    return [f for f in FILES if f.suffix in suffixes]


class IncludeDirection(unittest.TestCase):
    def test_a_folder_includes_only_what_its_layer_may_see(self):
        wrong = []
        for file in sources(".cpp", ".hpp"):
            allowed = MAY_INCLUDE.get(owner(file), set() if owner(file) == "vocabulary" else None)
            if allowed is None:
                continue
            for header in public_includes(file):
                folder = header.split("/")[0] if "/" in header else None
                if folder is not None and folder not in allowed:
                    wrong.append(f"{file} includes slicewise/{header}")
        self.assertEqual(wrong, [])

    def test_a_stage_of_sim_sees_only_the_stages_before_it(self):
        wrong = []
        for file in sources(".cpp", ".hpp"):
            parts = file.parts
            below = parts[1:-1] if parts[0] == "sim" else (
                parts[3:-1] if parts[:3] == ("include", "slicewise", "sim") else ())
            if not below or below[0] not in SIM_MAY_INCLUDE:
                continue
            for header in public_includes(file):
                target = header.split("/")
                if target[0] == "sim" and len(target) == 3 and \
                        target[1] not in SIM_MAY_INCLUDE[below[0]]:
                    wrong.append(f"{file} includes slicewise/{header}")
        self.assertEqual(wrong, [])

    def test_private_headers_stay_in_their_folder(self):
        wrong = []
        for file in sources(".cpp", ".hpp"):
            if file.parts[0] == "tests":
                continue
            text = (ROOT / file).read_text(encoding="utf-8")
            for header in re.findall(r'^\s*#include "((?!slicewise/)[^"]+)"', text, re.MULTILINE):
                target = (ROOT / file.parent / header).resolve()
                if not target.is_relative_to(ROOT / file.parts[0]):
                    wrong.append(f"{file} includes {header}")
        self.assertEqual(wrong, [])

    def test_heavy_headers_stay_out_of_headers(self):
        heavy = re.compile(r"#include <(nlohmann/json\.hpp|yaml-cpp/|CLI/|Eigen/)")
        self.assertEqual([str(f) for f in sources(".hpp")
                          if heavy.search((ROOT / f).read_text(encoding="utf-8"))
                          and f.parts[0] == "include"], [])

    def test_what_differs_between_machines_is_not_computed_with(self):
        """libm's transcendentals are not rounded alike everywhere; portable_math.hpp has our own."""
        libm = re.compile(r"std::(log|log2|log10|log1p|exp|exp2|expm1|pow|a?sin|a?cos|a?tan|atan2|"
                          r"[lt]gamma|cbrt|erfc?|hypot)\(")
        self.assertEqual([str(f) for f in sources(".cpp", ".hpp")
                          if f.parts[0] in {"include", "models", "scenarios", "sim", "reports"}
                          and libm.search((ROOT / f).read_text(encoding="utf-8"))], [])

    def test_the_command_line_library_is_in_one_file(self):
        users = [f for f in sources(".cpp", ".hpp")
                 if "#include <CLI/" in (ROOT / f).read_text(encoding="utf-8")]
        self.assertLessEqual(len(users), 1, users)


class Renderers(unittest.TestCase):
    def test_no_renderer_reads_what_another_one_wrote(self):
        """Tables, sentences and charts are values until they are written: who wants another form of
        one takes the value. Looking for lines, tags, bars or words in a text is the sign of it."""
        looks = re.compile(r"getline\(|istringstream|<regex>|starts_with\(\"[A-Z]|"
                           r"\bfind\((?:\"[<|]|\"\\n|\"\w+=|\"\w+:\"|'[<|]'|'\\n')")
        rooms = {"screens", "html", "charts", "ci", "difference", "export", "recording", "catalogue", "document"}
        found = [str(f) for f in sources(".cpp", ".hpp")
                 if f.parts[0] == "reports" and f.parts[1] in rooms
                 and f.name != "guide.cpp"  # fills in the blocks of guide.md
                 and looks.search((ROOT / f).read_text(encoding="utf-8"))]
        self.assertEqual(found, [])


class Names(unittest.TestCase):
    def test_no_two_headers_of_a_namespace_define_the_same_type(self):
        """The linker would pick one of them at random: undefined behaviour."""
        homes = {}
        for file in sources(".hpp"):
            text = (ROOT / file).read_text(encoding="utf-8")
            namespace = re.search(r"^namespace ([\w:]+)", text, re.MULTILINE)
            # A name before "<" is that of a specialisation: the linker knows them apart.
            for name in re.findall(r"^(?:struct|class|enum class) (\w+)\b(?!<)[^;:(\n]*(?::[^:][^;\n]*)?\{",
                                   text, re.MULTILINE):
                homes.setdefault((namespace and namespace[1], name), []).append(str(file))
        self.assertEqual({k: v for k, v in homes.items() if len(v) > 1}, {})

    # The later one wins without a word, and engines check no more than syntax.
    def test_no_script_of_a_page_declares_a_function_twice(self):
        for script in sources(".js"):
            declared = re.findall(r"^( *)(?:async )?function (\w+)\(", (ROOT / script).read_text(encoding="utf-8"), re.M)
            twice = {each for each in declared if declared.count(each) > 1}
            self.assertEqual(twice, set(), script)


class Readmes(unittest.TestCase):
    def test_a_readme_names_every_folder_and_where_it_lists_files_every_file(self):
        listed, missing = {".cpp", ".hpp", ".inc", ".json"}, []
        for readme in (f for f in FILES if f.name == "README.md" and f.parts[0] in TOP_LEVEL):
            text = (ROOT / readme).read_text(encoding="utf-8")
            lists_files = re.search(r"^\| file \|", text, re.MULTILINE)
            inside = [f.relative_to(readme.parent) for f in FILES if f.is_relative_to(readme.parent)]
            names = {f.parts[0] for f in inside if len(f.parts) > 1 and not f.parts[0].startswith(".")}
            if lists_files:
                names |= {f.stem for f in inside if len(f.parts) == 1 and f.suffix in listed}
            missing += [f"{readme}: {name}" for name in sorted(names)
                        if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]
        self.assertEqual(missing, [])


class Classes(unittest.TestCase):
    def test_no_class_does_the_work_of_several(self):
        large, seen = [], set()
        for file in sources(".cpp", ".hpp"):
            if file.parts[0] == "tests":
                continue
            # The event loop's parts are structs, too, and none of them may become the whole again.
            records = file.parts[:2] != ("sim", "cluster")
            for name, functions, fields in class_sizes((ROOT / file).read_text(encoding="utf-8"), records):
                seen.add(name)
                if functions > MAX_FUNCTIONS or fields > MAX_FIELDS:
                    large.append(f"{file}: {name} has {functions} functions and {fields} fields")
        self.assertEqual(large, [])
        self.assertLessEqual({"ClusterRun", "PodLife", "Recorder", "Scheduler", "ContinuousBatching", "Catalogue",
                              "World"}, seen)

    def test_a_class_is_counted_as_one_reads_it(self):
        source = """
            // class Nobody { void f(); };
            template <class T>
            class Part : public Base {
             public:
              explicit Part(Run& run) : run_(run), slots_{1, 2}, rest_(3) {}
              Part(const Part&) = delete;
              int count() const { return a_ < 3 ? 1 : 2; }
              template <class Use>
              void each(Use use);
             private:
              static constexpr int kMost = 3;
              using Row = int;
              enum class Kind { A, B };
              struct Inner { int x = 0; int y() const { return x; } };
              Run& run_;
              std::map<int, std::vector<int>> slots_{};
              int a_ = f(2), rest_;
              struct Owner { explicit Owner(int y) : z(y) {} private: int z; };
            };"""
        self.assertEqual(list(class_sizes(source)), [("Part", 3, 4), ("Inner", 1, 0), ("Owner", 1, 1)])
        self.assertEqual(list(class_sizes(source, records=False)), [("Part", 3, 4), ("Inner", 1, 1), ("Owner", 1, 1)])


class Layout(unittest.TestCase):
    def test_the_top_level_holds_only_the_stages_of_the_data_flow(self):
        extra = {f.parts[0] for f in FILES if not f.parts[0].startswith(".")} - TOP_LEVEL
        self.assertEqual(extra, set())

    def test_every_top_level_folder_has_a_readme(self):
        folders = {f.parts[0] for f in FILES if len(f.parts) > 1 and not f.parts[0].startswith(".")}
        self.assertEqual([f for f in sorted(folders) if not (ROOT / f / "README.md").is_file()], [])

    def test_no_name_says_nothing(self):
        vague = [str(f) for f in FILES
                 if any(word in VAGUE_NAMES
                        for part in f.parts for word in re.split(r"[_.\-]", part.lower()))]
        self.assertEqual(vague, [])

    def test_no_source_file_is_too_long_to_read(self):
        long = []
        for file in sources(*SOURCE_SUFFIXES):
            lines = (ROOT / file).read_text(encoding="utf-8").count("\n")
            if lines > MAX_LINES:
                long.append(f"{file}: {lines} lines")
        self.assertEqual(long, [])

    def test_nothing_points_outside_the_repository(self):
        """Tests alone may look beside the checkout, and only through SLICEWISE_SHARED_DIR."""
        outside = re.compile(r"\.\./shared|/work/")
        found = [str(f) for f in FILES
                 if f.suffix in SOURCE_SUFFIXES | {".md", ".txt", ".yaml", ".json"}
                 and f != pathlib.PurePath("tests/CMakeLists.txt")
                 and f != pathlib.PurePath("tests/architecture/tree_test.py")
                 and outside.search((ROOT / f).read_text(encoding="utf-8", errors="replace"))]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
