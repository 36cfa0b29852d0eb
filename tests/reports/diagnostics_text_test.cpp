#include "slicewise/reports/diagnostics_text.hpp"

#include <string>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"

#include "golden_file.hpp"

namespace slicewise::reports {
namespace {

std::string read(const std::string& path) {
  return file_text(std::string(SLICEWISE_SOURCE_DIR) + "/" + path);
}

const SourceText kSource{"f.yaml", "spec:\n  gpuMemory: {resident: 8GB}\n"};

TEST(DiagnosticsText, ManyMistakesInOneFileAreAllShownAtTheirPlaces) {
  const SourceText source{"ten_mistakes.yaml", read("tests/scenarios/ten_mistakes.yaml")};
  const auto loaded = scenarios::load_scenario(source);
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(diagnostics_text(loaded.error(), {source}, {}),
            read("tests/scenarios/ten_mistakes.txt"));
}

TEST(DiagnosticsText, CaretStandsUnderTheValue) {
  const Diagnostics found{
      make_diagnostic(Code::UnitUnknown, {"f.yaml", 2, 25, 3}, "what", "do", "oh")};
  EXPECT_EQ(diagnostics_text(found, {kSource}, {}),
            "f.yaml:2:25: error[UNIT_UNKNOWN]: what\n"
            "    2 |   gpuMemory: {resident: 8GB}\n"
            "      |                         ^^^ oh\n"
            "      help: do\n"
            "1 error in f.yaml\n");
}

TEST(DiagnosticsText, WithoutAPlaceThereIsNoCaret) {
  const Diagnostics found{make_diagnostic(Code::GpuOom, {}, "what", "do")};
  EXPECT_EQ(diagnostics_text(found, {kSource}, {}), "warning[GPU_OOM]: what\n      help: do\n");
}

// A note comes first, of a file without errors.
TEST(DiagnosticsText, TheTotalNamesTheFileOfTheErrors) {
  Diagnostics found{make_diagnostic(Code::InputAssumed, {"a.yaml", 1, 1, 1}, "a note"),
                    make_diagnostic(Code::FieldType, {"b.yaml", 1, 1, 1}, "wrong")};
  EXPECT_TRUE(diagnostics_text(found, {}, {}).ends_with("1 error in b.yaml\n"));
  found.push_back(make_diagnostic(Code::FieldType, {"c.yaml", 1, 1, 1}, "wrong"));
  EXPECT_TRUE(diagnostics_text(found, {}, {}).ends_with("2 errors in 2 files\n"));
}

TEST(DiagnosticsText, MistakesOfOneCauseAreOneWithItsPlaces) {
  Diagnostics found;
  for (int n = 0; n < 15; ++n) {
    const std::string at = "workloads[" + std::to_string(n) + "]";
    found.push_back(make_diagnostic(Code::FieldUnknown, {"f.yaml", 10 + n, 1, 1},
                                    "unknown field \"p95\" in " + at, "it belongs in slo"));
    found.push_back(make_diagnostic(Code::FieldUnknown, {"f.yaml", 10 + n, 9, 1},
                                    "unknown field \"p99\" in " + at, "it belongs in slo"));
  }
  found.push_back(make_diagnostic(Code::FieldUnknown, {"g.yaml", 7, 1, 1},
                                  "unknown field \"p95\" in workloads[0]", "it belongs in slo"));
  EXPECT_EQ(diagnostics_text(found, {}, {}),
            "f.yaml:10:1: error[FIELD_UNKNOWN]: unknown field \"p95\" in workloads[0]\n"
            "      help: it belongs in slo\n"
            "      and 14 more places: line 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, ...\n"
            "f.yaml:10:9: error[FIELD_UNKNOWN]: unknown field \"p99\" in workloads[0]\n"
            "      help: it belongs in slo\n"
            "      and 14 more places: line 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, ...\n"
            "g.yaml:7:1: error[FIELD_UNKNOWN]: unknown field \"p95\" in workloads[0]\n"
            "      help: it belongs in slo\n"
            "31 errors of 3 causes in 2 files\n");
}

// "12Mi or 12Gi?" stood for a time as well.
TEST(DiagnosticsText, UnitsOfDifferentKindsAreMissingEachByThemselves) {
  Diagnostics found;
  for (const int line : {1, 2, 3}) {
    found.push_back(make_diagnostic(Code::UnitMissing, {"f.yaml", line, 1, 1}, "\"12\" has no unit",
                                    "", line == 1 ? "did you mean 12Mi?" : "did you mean 12s?"));
  }
  EXPECT_NE(diagnostics_text(found, {}, {}).find("3 errors of 2 causes"), std::string::npos);
}

// The value, the numbers and the lines in a message are not what is wrong.
TEST(DiagnosticsText, TheSameMistakeWithOtherValuesIsOneCause) {
  Diagnostics found;
  for (int n = 0; n < 3; ++n) {
    const std::string value = "\"" + std::string(static_cast<std::size_t>(n) + 1, 'x') + "\"";
    const std::string number = std::to_string(10 * n + 7);
    found.push_back(make_diagnostic(Code::NameInvalid, {"t.csv", 2 + n, 1, 1},
                                    value + " is not a name", "use small letters"));
    found.push_back(make_diagnostic(Code::TraceRow, {"t.csv", 2 + n, 3, 1},
                                    number + " values where the header has 4 columns"));
    found.push_back(make_diagnostic(Code::NameDuplicate, {"t.csv", 2 + n, 5, 1},
                                    "two services are called " + value,
                                    "the first is on line " + number));
    found.push_back(make_diagnostic(Code::FieldUnknown, {"t.csv", 2 + n, 7, 1},
                                    "unknown field " + value, "known here: name"));
  }
  EXPECT_TRUE(diagnostics_text(found, {}, {}).ends_with("12 errors of 6 causes in t.csv\n"));
}

TEST(DiagnosticsText, QuietKeepsErrorsOnly) {
  const Diagnostics found{make_diagnostic(Code::InputAssumed, {}, "a note"),
                          make_diagnostic(Code::GpuOom, {}, "a warning")};
  EXPECT_EQ(diagnostics_text(found, {}, {}, Severity::Error), "");
}

TEST(DiagnosticsText, ColourNeverCarriesMeaningAlone) {
  const Diagnostics found{make_diagnostic(Code::GpuOom, {}, "what")};
  const std::string colored = diagnostics_text(found, {}, {.color = true});
  EXPECT_NE(colored.find("\x1b["), std::string::npos);
  EXPECT_NE(colored.find("warning[GPU_OOM]"), std::string::npos);
}

TEST(DiagnosticsText, ALongLineIsCutAroundTheCaret) {
  const SourceText source{"f.yaml", std::string(500, 'a') + "X" + std::string(500, 'b')};
  const Diagnostics found{make_diagnostic(Code::FieldType, {"f.yaml", 1, 501, 1}, "what")};
  std::istringstream lines(diagnostics_text(found, {source}, {.width = 60}));
  std::string line;
  std::string marked;
  std::getline(lines, line);
  std::getline(lines, marked);
  std::getline(lines, line);
  EXPECT_LE(marked.size(), 60U);
  EXPECT_EQ(marked[line.find('^')], 'X');
}

TEST(DiagnosticsText, AsciiTerminalsGetAscii) {
  const SourceText source{"f.yaml", "n: \xC3\xA4\xC3\xB6 x"};
  const Diagnostics found{make_diagnostic(Code::FieldType, {"f.yaml", 1, 7, 1}, "what")};
  EXPECT_NE(
      diagnostics_text(found, {source}, {.unicode = false}).find("| n: ?? x\n      |       ^"),
      std::string::npos);
}

}  // namespace
}  // namespace slicewise::reports
