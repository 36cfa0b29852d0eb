#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"

namespace slicewise::scenarios {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(std::string(SLICEWISE_SOURCE_DIR) + "/" + path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// splitmix64: the same bytes on every machine.
std::uint64_t next(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

void mutate(std::string& text, std::uint64_t& state) {
  constexpr std::string_view kPieces[] = {"\t", "{",     "}",  "[",  "]",    "&a ",  "*a",  ": ",
                                          "- ", "\n",    "'",  "\"", "\r",   "|\n",  "? ",  "!!x",
                                          "#",  "---\n", "<<", "%",  "\xff", "\x04", "null"};
  const std::size_t at = next(state) % (text.size() + 1);
  switch (next(state) % 4) {
    case 0:
      text.insert(at, kPieces[next(state) % std::size(kPieces)]);
      break;
    case 1:
      text.erase(at, next(state) % 12);
      break;
    case 2:
      text.insert(at, text.substr(next(state) % text.size(), next(state) % 60));
      break;
    default:
      if (at < text.size()) text[at] = static_cast<char>(next(state) & 0xFFU);
  }
}

void expect_places_inside(const Diagnostics& problems, int lines) {
  EXPECT_FALSE(problems.empty());
  for (const Diagnostic& problem : problems) {
    EXPECT_FALSE(problem.message.empty());
    EXPECT_GE(problem.where.line, 1) << problem.message;
    EXPECT_LE(problem.where.line, lines) << problem.message;
    EXPECT_GE(problem.where.column, 1) << problem.message;
  }
}

// The traces of every_field.yaml, requests and clients.
Expected<SourceText> read_trace(const std::string& path) {
  if (path.find("jobs") != std::string::npos) {
    return SourceText{path,
                      "arrival_s,run_s,gpus,deadline_s,user,group\n0,60,1,90,ana,vision\n"
                      "5,60,1,,bo,vision\n9,60,2,90,bo,vision\n"};
  }
  return SourceText{path,
                    "when,prompt,answer,client,at_s,rate,law,variation,blocks\n"
                    "0,100,10,0,0,1,Gamma,2,1\n12.5,200,20,0,600,0,,0,1\n"};
}

// Every field once, and the examples, which are read in a tenth of its time.
std::vector<std::string> documents() {
  std::set<std::filesystem::path> examples;
  for (const auto& entry :
       std::filesystem::directory_iterator(SLICEWISE_SOURCE_DIR "/scenarios/examples")) {
    if (entry.path().extension() == ".yaml") examples.insert(entry.path().filename());
  }
  std::vector<std::string> texts{read("tests/scenarios/every_field.yaml")};
  for (const std::filesystem::path& example : examples) {
    texts.push_back(read("scenarios/examples/" + example.string()));
  }
  return texts;
}

void expect_an_end_of_mutations(int rounds) {
  const std::vector<std::string> originals = documents();
  std::uint64_t state = 20261121;
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    // One in five in what has every field.
    std::string text =
        originals[round % 5 == 0 ? 0 : static_cast<std::size_t>(round) % originals.size()];
    for (std::uint64_t i = next(state) % 4 + 1; i > 0; --i) mutate(text, state);
    const auto loaded = load_scenario({"mutated.yaml", text}, {}, read_trace);
    if (loaded) continue;
    ++refused;
    const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
    expect_places_inside(loaded.error(), lines);
  }
  EXPECT_GT(refused, rounds / 2);
}

TEST(ThoroughRobustness, MutationsEndInAScenarioOrDiagnostics) {
  expect_an_end_of_mutations(3'000);
}
TEST(NightlyRobustness, MutationsEndInAScenarioOrDiagnostics) {
  expect_an_end_of_mutations(100'000);
}

struct Hostile {
  std::string text;
  std::string why;
};

TEST(Robustness, HostileFilesAreOneDiagnostic) {
  std::string laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'j'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    laughs += std::string(1, c) + ": &" + std::string(1, c) + " [";
    for (int i = 0; i < 10; ++i) laughs += "*" + before + (i < 9 ? ", " : "]\n");
  }
  const Hostile cases[] = {
      {"", "an empty file"},
      {"# only a comment\n", "no value"},
      {laughs, "ten to the tenth values through aliases"},
      {"a: &a [*a]\n", "an alias to its own parent"},
      {std::string(100'000, '['), "deep flow lists"},
      {std::string(100'000, '{'), "deep flow mappings"},
      {"a: *nobody\n", "an unknown alias"},
      {"? [a, b]\n: c\n", "a key that is a list"},
      {"a: b\n---\nc: d\n", "two documents"},
      {"a:\n\t- b\n", "a tab for indentation"},
      {std::string("a\0b", 3), "a zero byte"},
      {"a: \"\xC3\x28\"\n", "broken UTF-8"},
      {"a: \x04\n", "the byte that the parser takes for the end of the file"},
      {"a: [1, 2\n", "an open list"},
  };
  for (const Hostile& hostile : cases) {
    const auto loaded = load_scenario({"hostile.yaml", hostile.text});
    ASSERT_FALSE(loaded.has_value()) << hostile.why;
    bool syntax = false;
    for (const Diagnostic& d : loaded.error()) syntax = syntax || d.code == Code::YamlSyntax;
    EXPECT_TRUE(syntax) << hostile.why;
  }
}

TEST(Robustness, DeepBlockNestingIsRefusedBeforeTheStackEnds) {
  std::string text;
  for (int depth = 0; depth < 3'000; ++depth) {
    text += std::string(static_cast<std::size_t>(depth), ' ') + "a:\n";
  }
  EXPECT_FALSE(load_scenario({"deep.yaml", text}).has_value());
}

TEST(Robustness, ByteOrderMarkAndWindowsLineEndsChangeNothing) {
  const std::string example = read("scenarios/examples/aws-cifar10.yaml");
  std::string windows = "\xEF\xBB\xBF";
  for (const char c : example) {
    if (c == '\n') windows += '\r';
    windows += c;
  }
  const auto loaded = load_scenario({"windows.yaml", windows});
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->variants.size(), 4U);
}

TEST(Robustness, ColumnsCountCharactersNotBytes) {
  const auto loaded = load_scenario({"f.yaml", "{\"\xC3\xA4\xC3\xB6\": 1, kind: x}"});
  ASSERT_FALSE(loaded.has_value());
  bool found = false;
  for (const Diagnostic& d : loaded.error()) {
    if (d.code != Code::ApiVersionUnknown) continue;
    found = true;
    EXPECT_EQ(d.where.column, 17);
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace slicewise::scenarios
