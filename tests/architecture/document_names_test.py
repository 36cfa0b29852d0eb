"""What documents name exists: files, types, functions and tests in backticks, what they link to."""

import pathlib
import re
import unittest

from tree_test import FILES, ROOT

DOCUMENTS = ("models/MODELS.md", "sim/ARCHITECTURE.md", "reports/RESULT.md", "include/API.md")
SUFFIXES = {".cpp", ".hpp", ".py", ".S", ".json", ".yaml", ".csv", ".md", ".txt"}
LIBRARIES = {"models", "scenarios", "sim", "reports", "tools"}
IDENTIFIER = re.compile(r"[A-Za-z_]\w+")
# The short ones are symbols of equations.
SHORTEST_NAME = 3


def words_by_file():
    texts = {}
    for file in FILES:
        if file.suffix in SUFFIXES - {".md", ".csv"}:
            texts[file] = (ROOT / file).read_text(encoding="utf-8", errors="replace")
    return {file: set(IDENTIFIER.findall(text)) for file, text in texts.items()}, texts


WORDS, TEXTS = words_by_file()
ALL_WORDS = set().union(*WORDS.values())
# How often a test is run is a part of its suite's name (tests/CMakeLists.txt), not of what documents
# call it.
TESTS = {(re.sub("^(Thorough|Nightly)", "", suite), name)
         for file, text in TEXTS.items() if file.suffix == ".cpp"
         for suite, name in re.findall(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)", text, re.MULTILINE)}
CALLED = {name for file, text in TEXTS.items() if file.suffix in {".cpp", ".hpp", ".py"}
          for name in re.findall(r"(\w+)\s*(?:<[^<>;]*>)?\(", text)}
PATHS = {str(file) for file in FILES} | {str(folder) for file in FILES for folder in file.parents}


def quoted(text):
    """What stands in backticks outside of code blocks, each once."""
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
    return dict.fromkeys(re.findall(r"`([^`\n]+)`", prose))


def is_path(name):
    if not re.fullmatch(r"[^\s:]+", name):  # a command
        return False
    first = name.split("/")[0]
    return pathlib.PurePath(name).suffix in SUFFIXES or ("/" in name and first in PATHS)


def path_exists(name, folder):
    wanted = re.sub(r"<.*?>|\bX(?=_)", "*", name.rstrip("/"))  # a place for a name
    for place in (wanted, f"{folder}/{wanted}", f"include/{wanted}", f"include/slicewise/{wanted}"):
        if place in PATHS or ("*" in place and any(
                pathlib.PurePath(path).match(place) for path in PATHS)):
            return True
    return "/" not in wanted and any(pathlib.PurePath(path).name == wanted for path in PATHS)


def identifier_exists(name):
    parts = name.removesuffix("()").split("::")
    if name.endswith("()") and parts[-1] not in CALLED:
        return False
    if parts[0] == "slicewise":
        parts = parts[1:]
    files = WORDS
    if len(parts) > 1 and parts[0] in LIBRARIES:
        library, *parts = parts
        files = {file: words for file, words in WORDS.items()
                 if library in (file.parts[0], *file.parts[2:3])}
    return any(words.issuperset(parts) for words in files.values())


def is_missing(name, folder):
    if is_path(name):
        return not path_exists(name, folder)
    if re.fullmatch(r"[A-Z]\w+\.[A-Z]\w+", name):
        return tuple(name.split(".")) not in TESTS
    if re.fullmatch(r"\w+(::\w+)*(\(\))?", name) and not name[0].isdigit():
        return len(name) >= SHORTEST_NAME and not identifier_exists(name)
    if re.fullmatch(r"\w+(\.\w+)+", name):  # a field of a document: requests.latencyP99Seconds
        return not ALL_WORDS.issuperset(word for word in name.split(".")
                                        if IDENTIFIER.fullmatch(word))
    return False  # a flag, an equation, a resource name


def headings(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)


def leads_somewhere(link, document):
    path, _, anchor = link.partition("#")
    target = (ROOT / document.parent / path).resolve() if path else ROOT / document
    if not anchor or target.suffix != ".md" or not target.is_file():
        return target.exists()
    return anchor in {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
                      for title in headings(target)}


def missing_names(text, folder):
    return [name for name in quoted(text) if is_missing(name, folder)]


def missing_files(text, folder):
    """Of the columns of tables that list files: without a suffix, of the folder of the document."""
    of_folder = (folder, pathlib.PurePath("include/slicewise") / folder)
    stems = {file.stem for file in FILES
             if file.suffix in SUFFIXES and any(file.is_relative_to(place) for place in of_folder)}
    missing = []
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        rows = [line.strip("|").split("|") for line in table.splitlines()]
        listed = [i for i, title in enumerate(rows[0]) if re.search(r"\bfiles?\b", title)]
        for name in quoted("\n".join(row[i] for row in rows[1:] for i in listed if i < len(row))):
            exists = path_exists(name, folder) if is_path(name) or "/" in name else name in stems
            if not exists:
                missing.append(name)
    return missing


class DocumentNames(unittest.TestCase):
    def test_what_documents_name_exists(self):
        for document in DOCUMENTS:
            with self.subTest(document):
                text = (ROOT / document).read_text(encoding="utf-8")
                self.assertEqual(missing_names(text, pathlib.PurePath(document).parent), [])

    def test_source_files_that_readmes_name_exist(self):
        for document in (file for file in FILES if file.name in {"README.md", "CONTRIBUTING.md"}):
            with self.subTest(str(document)):
                named = [name for name in quoted((ROOT / document).read_text(encoding="utf-8"))
                         if pathlib.PurePath(name).suffix in {".cpp", ".hpp", ".py", ".S"}]
                self.assertEqual([name for name in named if is_missing(name, document.parent)], [])

    def test_files_that_tables_of_readmes_name_exist(self):
        for document in (file for file in FILES if file.name == "README.md"):
            with self.subTest(str(document)):
                text = (ROOT / document).read_text(encoding="utf-8")
                self.assertEqual(missing_files(text, document.parent), [])

    def test_links_lead_somewhere(self):
        for document in (file for file in FILES if file.suffix == ".md"):
            text = (ROOT / document).read_text(encoding="utf-8")
            with self.subTest(str(document)):
                self.assertEqual([link for link in re.findall(r"\]\((?!\w+:)([^)\s]+)\)", text)
                                  if not leads_somewhere(link, document)], [])

    def test_sections_that_comments_cite_exist(self):
        cited = {cite for text in TEXTS.values()
                 for cite in re.findall(r"(\w+/[A-Z]+\.md),(?:\s|//)*\"([^\"]+)\"", text)}
        self.assertTrue(cited)
        self.assertEqual([(document, title) for document, title in sorted(cited)
                          if title not in headings(document)], [])

    def test_the_map_of_headers_is_complete(self):
        patterns = list(quoted((ROOT / "include/API.md").read_text(encoding="utf-8")))
        headers = [file.relative_to("include/slicewise") for file in FILES
                   if file.is_relative_to("include/slicewise") and file.suffix == ".hpp"]
        self.assertEqual([str(header) for header in headers
                          if not any(header.match(pattern) for pattern in patterns)], [])

    # Cut in two, so that this file does not hold the names that it makes up.
    def test_what_does_not_exist_is_found(self):
        made_up = ["sim/device/no_such_engine.cpp", "device/no_such_engine.hpp",
                   "FiniteTurnLaw.No" "SuchTest", "RoundRobin::no_such" "_member",
                   "no_such" "_function()", "No" "SuchType", "models::RoundRobin",
                   "workloads.no" "SuchFigure"]
        text = "".join(f"- `{name}`\n" for name in made_up)
        self.assertEqual(missing_names(text, "sim"), made_up)
        document = pathlib.PurePath("models/MODELS.md")
        self.assertFalse(leads_somewhere("no" "where.md", document))
        self.assertFalse(leads_somewhere("#no-such-section", document))
        self.assertTrue(leads_somewhere("README.md#validation", document))

    def test_a_file_that_a_table_lists_and_nobody_has_is_found(self):
        table = "| step | file |\n|---|---|\n| `no" "_step` | `round_robin`, `no" "_engine` |\n"
        self.assertEqual(missing_files(table, pathlib.PurePath("sim/device")), ["no" "_engine"])

    def test_what_exists_is_not_missing(self):
        text = ("`sim/device/round_robin.cpp`, `slicewise/units.hpp`, `round_robin.cpp`, "
                "`sim/device/`, `RoundRobin::advance`, `FiniteTurnLaw.MeanOverPhases`, "
                "`models::shared_speeds()`, `kHardNorm`, `nvidia.com/gpu`, `--set`, `q/(q + c)`\n"
                "```\n`No" "SuchType`\n```\n")
        self.assertEqual(missing_names(text, "include"), [])


if __name__ == "__main__":
    unittest.main()
