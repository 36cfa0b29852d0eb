#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "one_workload.hpp"

namespace slicewise::scenarios {
namespace {

std::string with_requests(const std::string& fields = "") {
  return with_workload(
      "kind: Service, measured: {requestGpuTime: 9ms}, traffic: {shape: Trace, trace: {file: "
      "t.csv" +
      fields + "}}");
}

FileReader reading(std::string csv) {
  return [csv = std::move(csv)](const std::string& path) -> Expected<SourceText> {
    return SourceText{path, csv};
  };
}

RequestTrace trace_of(const std::string& csv, const std::string& fields = "") {
  const Scenario scenario = scenario_of(with_requests(fields), reading(csv));
  if (scenario.workloads.empty()) return {};
  return std::get<RequestTrace>(scenario.workloads[0].traffic->shape);
}

void expect_bad(const std::string& csv, int line, int column, const std::string& message,
                const std::string& fields = "") {
  const Diagnostics found =
      read_scenario_file({"f.yaml", with_requests(fields)}, {}, reading(csv)).problems;
  ASSERT_EQ(found.size(), 1U) << csv;
  EXPECT_EQ(found[0].where.file, "t.csv");
  EXPECT_EQ(found[0].where.line, line) << csv;
  EXPECT_EQ(found[0].where.column, column) << csv;
  EXPECT_NE(found[0].message.find(message), std::string::npos) << found[0].message;
}

Diagnostics notes_of(const std::string& csv) {
  return read_scenario_file({"f.yaml", with_requests()}, {}, reading(csv)).set.notes;
}

TEST(RequestTrace, AzureFormat) {
  // CRLF, 7 decimals, no line feed at the end.
  const RequestTrace trace = trace_of(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2023-11-16 23:59:59.9799600,4808,10\r\n"
      "2023-11-17 00:00:00.0319601,3180,8");
  EXPECT_TRUE(trace.has_tokens);
  ASSERT_EQ(trace.rows.size(), 2U);
  EXPECT_EQ(trace.rows[0].at, Duration{});
  EXPECT_EQ(trace.rows[1].at, nanoseconds(52'000'100));
  EXPECT_EQ(trace.rows[0].input_tokens, 4808);
  EXPECT_EQ(trace.rows[1].output_tokens, 8);
  EXPECT_EQ(trace.skipped, 0);
  EXPECT_EQ(trace.scale, 1);
  EXPECT_FALSE(trace.repeats);
}

TEST(RequestTrace, TimesAreSecondsOrIso8601) {
  const auto second = [](const std::string& first, const std::string& next) {
    const RequestTrace trace = trace_of("time\n" + first + "\n" + next + "\n");
    return trace.rows.size() == 2 ? trace.rows[1].at : Duration{-1};
  };
  EXPECT_EQ(second("0", "12.5"), milliseconds(12'500));
  EXPECT_EQ(second("1700000000.000000001", "1700000000.0000000029"), nanoseconds(1));
  EXPECT_EQ(second("2024-02-28T23:00", "2024-03-01T00:00:00Z"), hours(25));  // a leap year
  EXPECT_EQ(second("2023-02-28 23:00:00", "2023-03-01 00:00:00"), hours(1));
  EXPECT_EQ(second("2024-06-10T08:00:00+02:00", "2024-06-10T06:00:01Z"), seconds(1));
  EXPECT_EQ(second("2024-06-10T08:00:00-0530", "2024-06-10T13:30:01Z"), seconds(1));
  EXPECT_EQ(second("1970-01-01 00:00:00", "2260-12-31 23:59:59"), seconds(9'183'110'399));
}

TEST(RequestTrace, ColumnsGoByUsualOrGivenNames) {
  const RequestTrace burst_gpt = trace_of(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,\"Conversation, log\"\n");
  EXPECT_EQ(burst_gpt.rows[0].input_tokens, 472);
  EXPECT_EQ(burst_gpt.rows[0].output_tokens, 18);
  const RequestTrace named =
      trace_of("\xEF\xBB\xBFwhen, a ,b\n1,2,3\n",
               ", timeColumn: when, inputTokensColumn: b, outputTokensColumn: a");
  EXPECT_EQ(named.rows[0].input_tokens, 3);
  EXPECT_EQ(named.rows[0].output_tokens, 2);
  // One of the two alone says nothing about a request.
  EXPECT_FALSE(trace_of("time,input_tokens\n1,2\n").has_tokens);
}

TEST(RequestTrace, WindowIsCutAndCountsFromItsFirstRow) {
  const std::string csv = "time\n100\n110\n125\n140\n150\n";
  const RequestTrace trace = trace_of(csv, ", from: 10s, length: 40s, scale: 2.5, repeat: true");
  ASSERT_EQ(trace.rows.size(), 3U);
  EXPECT_EQ(trace.skipped, 2);
  EXPECT_EQ(trace.rows[0].at, Duration{});
  EXPECT_EQ(trace.rows[2].at, seconds(30));  // not scaled
  EXPECT_EQ(trace.scale, 2.5);
  EXPECT_TRUE(trace.repeats);
  expect_problem(with_requests(", from: 51s"), Code::ValueRange, "in its window", reading(csv));
  expect_problem(with_requests(", scale: 0"), Code::ValueRange, "scale", reading(csv));
}

TEST(RequestTrace, LinesOutOfOrderAndOtherColumnsAreNotes) {
  const RequestTrace trace = trace_of("time,user\n3,x\n1,y\n2,z\n");
  ASSERT_EQ(trace.rows.size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(trace.rows, {}, &RequestTrace::Row::at));
  const Diagnostics notes = notes_of("time,user\n3,x\n1,y\n2,z\n");
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].severity, Severity::Note);
  EXPECT_EQ(notes[0].message, "a column of the trace not used: user");
  EXPECT_EQ(notes[1].message.substr(0, 20), "one line of the trac");
  EXPECT_TRUE(notes_of("time\n1\n1\n2\n").empty());
}

TEST(RequestTrace, MistakesHaveTheirPlaceInTheTrace) {
  expect_bad("time,input_tokens,output_tokens\n1,2,3\n2,x,3\n", 3, 3,
             "\"x\" is no number of tokens");
  expect_bad("time,input_tokens,output_tokens\n1,2,-3\n", 2, 5, "\"-3\" is no number of tokens");
  expect_bad("time,input_tokens,output_tokens\n1,2.5,3\n", 2, 3, "\"2.5\"");
  expect_bad("time\r\n\r\n1\r\nsoon\r\n", 4, 1, "\"soon\" is no time");
  expect_bad("name,time\n\xC3\xA4\xC3\xB6,soon\n", 2, 4, "\"soon\" is no time");
  expect_bad("time\n2023-02-29 00:00:00\n", 2, 1, "is no time");
  expect_bad("time\n2023-01-01 24:00:00\n", 2, 1, "is no time");
  expect_bad("time\n1700000000123\n", 2, 1, "is no time");  // milliseconds
  expect_bad("time,a\n1\n", 2, 1, "1 values where the header has 2 columns");
  expect_bad("time,a\n1,\"b\n", 2, 1, "a quote that is not closed");
  expect_bad("", 1, 1, "the trace is empty");
  expect_bad("time,a\n", 1, 1, "no requests");
  expect_bad("when,a\n1,2\n", 1, 1, "no column of this trace is known as time");
}

TEST(RequestTrace, OnlyTheFirstBadLinesAreShown) {
  std::string csv = "time\n";
  for (int i = 0; i < 1'000; ++i) csv += "soon\n";
  const Diagnostics found =
      read_scenario_file({"f.yaml", with_requests()}, {}, reading(csv)).problems;
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[5].message, "995 more lines of the trace cannot be read");
  EXPECT_EQ(found[5].where.line, 7);
}

TEST(RequestTrace, ColumnsThatAreNotThereAreReportedWhereTheyAreNamed) {
  const FileReader csv = reading("time,prompt,answer\n1,2,3\n");
  expect_problem(with_requests(", inputTokensColumn: promt, outputTokensColumn: answer"),
                 Code::FieldUnknown, "has no column \"promt\"", csv);
  expect_problem(with_requests(", inputTokensColumn: prompt"), Code::FieldMissing,
                 "only one of the two columns of tokens", csv);
}

TEST(RequestTrace, IsFoundBesideTheScenarioAndReadOnce) {
  std::vector<std::string> paths;
  const FileReader read = [&](const std::string& path) -> Expected<SourceText> {
    paths.push_back(path);
    return SourceText{path, "time\n1\n"};
  };
  const std::string text = with_requests() + "  variants: [{name: x}, {name: y}]\n";
  const LoadedScenario loaded = read_scenario_file({"some/folder/f.yaml", text}, {}, read);
  EXPECT_TRUE(loaded.problems.empty());
  EXPECT_EQ(paths, std::vector<std::string>{"some/folder/t.csv"});
  ASSERT_EQ(loaded.traces.size(), 1U);
  EXPECT_EQ(loaded.traces[0].name, "some/folder/t.csv");
  paths.clear();
  read_scenario_file({"-", text}, {}, read);
  EXPECT_EQ(paths, std::vector<std::string>{"t.csv"});
  const FileReader none = [](const std::string& path) -> Expected<SourceText> {
    return tl::unexpected(Diagnostics{make_diagnostic(Code::FileUnreadable, {.file = path},
                                                      "cannot read \"" + path + "\": gone")});
  };
  expect_problem(with_requests(), Code::FileUnreadable, "gone", none);
  expect_problem(with_requests(), Code::FileUnreadable, "no other file is read");
}

TEST(RequestTrace, ItsBytesAreInTheHash) {
  const auto hash = [](const std::string& csv) {
    return read_scenario_file({"f.yaml", with_requests()}, {}, reading(csv)).set.sha256;
  };
  EXPECT_EQ(hash("time\n1\n"), hash("time\n1\n"));
  EXPECT_NE(hash("time\n1\n"), hash("time\n1\n2\n"));
}

TEST(RequestTrace, AnLlmNeedsTokensFromSomewhere) {
  const std::string chat = with_workload(
      "kind: Service, llm: {model: m}, traffic: {shape: Trace, trace: {file: t.csv}}");
  expect_problem(chat, Code::FieldMissing, "\"tokens\" is missing", reading("time\n1\n"));
  const Scenario scenario = scenario_of(chat, reading("time,input_tokens,output_tokens\n1,2,3\n"));
  EXPECT_FALSE(scenario.workloads[0].llm->input.has_value());
}

// Blocks of 16 tokens. The hash 5 after another block is another block; the last of the first
// prompt is of 8 tokens.
TEST(RequestTrace, BlocksOfPromptsAreATree) {
  const RequestTrace trace = trace_of(
      "at,input_tokens,output_tokens,hash_ids\n"
      "0,40,1,7 5 9\n"
      "1,32,1,7 5\n"
      "2,48,1,5 7 -1\n"
      "3,48,1,\n"
      "4,100,1,7\n",
      ", blockTokens: 16");
  ASSERT_TRUE(trace.blocks);
  EXPECT_EQ(trace.blocks->tokens, 16);
  EXPECT_EQ(trace.blocks->before, (std::vector<PromptBlocks::Block>{0, 0, 1, 0, 3, 4}));
  std::vector<PromptBlocks::Block> prompts;
  for (const RequestTrace::Row& row : trace.rows) prompts.push_back(row.prompt);
  EXPECT_EQ(prompts, (std::vector<PromptBlocks::Block>{2, 2, 5, 0, 1}));
  EXPECT_FALSE(trace_of("at,input_tokens,output_tokens\n0,40,1\n").blocks);
  EXPECT_FALSE(trace_of("at,hash_ids\n0,1 2\n").blocks) << "of how many tokens";
}

TEST(RequestTrace, BlocksThatAPromptCannotHaveAreFound) {
  const std::string header = "at,prompt_tokens,output_tokens,blocks\n";
  expect_bad(header + "0,1024,1,1 2\n1,1024,1,1 2 3\n", 3, 10, "more blocks of 512 tokens",
             ", blocksColumn: blocks");
  expect_bad(header + "0,1024,1,1 a\n", 2, 10, "\"1 a\" are no hashes", ", blocksColumn: blocks");
}

// Any bytes end in requests or in diagnostics, never in neither.
TEST(ThoroughRequestTrace, AnyBytesAreAnswered) {
  const std::string seed =
      "\xEF\xBB\xBFTIMESTAMP,ContextTokens,GeneratedTokens,\"x\"\r\n"
      "2023-11-16 18:17:03.9799600,4808,10,\"a,b\"\r\n12.5,3180,8,y";
  const std::string bytes = std::string("\0\n\r\",.:-+TZ0129e \xC3\xFF", 20);
  std::uint32_t random = 1;
  const auto draw = [&random](std::size_t below) {
    random = random * 1'664'525 + 1'013'904'223;
    return (random >> 8U) % below;
  };
  int read = 0;
  for (int round = 0; round < 4'000; ++round) {
    std::string csv = seed;
    for (std::size_t change = draw(4) + 1; change > 0; --change) {
      const std::size_t at = draw(csv.size());
      const char byte = bytes[draw(bytes.size())];
      draw(3) == 0 ? csv.erase(at, draw(20)) : csv.insert(at, 1, byte);
      if (csv.empty()) break;
    }
    const auto loaded = load_scenario({"f.yaml", with_requests()}, {}, reading(csv));
    if (!loaded) {
      ASSERT_FALSE(loaded.error().empty());
      continue;
    }
    ++read;
    const Traffic& traffic = *loaded->variants[0].workloads[0].traffic;
    ASSERT_FALSE(std::get<RequestTrace>(traffic.shape).rows.empty());
  }
  EXPECT_GT(read, 100);
  EXPECT_LT(read, 3'900);
}

// Counts of the file by
//   awk -F, 'NR>1{sub("\r","");n++;i+=$2;o+=$3}END{print n,i,o}' AzureLLMInferenceTrace_code.csv
TEST(RequestTrace, AzureCodeTraceIsCompleteToTheToken) {
  const std::string path =
      std::string(SLICEWISE_SHARED_DIR) + "/traces/azure_llm/AzureLLMInferenceTrace_code.csv";
  std::ifstream file(path, std::ios::binary);
  if (!file) GTEST_SKIP() << path << " is not here";
  std::ostringstream text;
  text << file.rdbuf();
  const RequestTrace trace = trace_of(text.str());
  EXPECT_EQ(trace.rows.size(), 8'819U);
  std::int64_t input = 0;
  std::int64_t output = 0;
  for (const RequestTrace::Row& row : trace.rows) {
    input += row.input_tokens;
    output += row.output_tokens;
  }
  EXPECT_EQ(input, 18'059'974);
  EXPECT_EQ(output, 245'896);
  // 18:17:03.9799600 to 19:14:19.9280160.
  EXPECT_EQ(trace.rows.back().at, nanoseconds(3'435'948'056'000));
  EXPECT_TRUE(notes_of(text.str()).empty());
}

}  // namespace
}  // namespace slicewise::scenarios
