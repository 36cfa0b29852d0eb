#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "slicewise/scenarios/decompress.hpp"
#include "slicewise/scenarios/import.hpp"

#include "imported_log.hpp"
#include "one_workload.hpp"

namespace slicewise::scenarios {
namespace {

Imported import_of(ImportKind kind, std::vector<SourceText> files, ImportOptions options = {}) {
  auto result = import_log(kind, files, options);
  if (result) return std::move(*result);
  ADD_FAILURE() << result.error().front().message;
  return {RequestLog{}, {}};
}

Imported import_of(ImportKind kind, const std::string& text, ImportOptions options = {}) {
  return import_of(kind, std::vector<SourceText>{{"log", text}}, std::move(options));
}

const RequestLog& log_of(const Imported& result) { return std::get<RequestLog>(result.content); }

void expect_refused(ImportKind kind, const std::string& text, Code code, int line,
                    const std::string& message) {
  const std::vector<SourceText> files = {{"log", text}};
  const auto result = import_log(kind, files, {});
  ASSERT_FALSE(result) << text;
  EXPECT_EQ(info(result.error().front().code).name, info(code).name);
  EXPECT_EQ(result.error().front().where.line, line);
  EXPECT_NE(result.error().front().message.find(message), std::string::npos)
      << result.error().front().message;
}

std::string read_shared(const std::string& path) {
  std::ifstream file(std::filesystem::path(SLICEWISE_SHARED_DIR) / "traces" / path,
                     std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

constexpr const char* kAzure =
    "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
    "2023-11-16 18:17:03.9799600,4808,10\r\n"
    "2023-11-16 18:17:04.0319601,3180,8";

TEST(ImportAzure, CrlfNoLastLineFeedAndSevenDecimals) {
  const Imported result = import_of(ImportKind::Azure, kAzure);
  const RequestLog& log = log_of(result);
  ASSERT_EQ(log.rows.size(), 2U);
  EXPECT_EQ(log.rows[0].at, nanoseconds(979'960'000));  // since the second of the first
  EXPECT_EQ(log.rows[1].at, nanoseconds(1'031'960'100));
  EXPECT_EQ(log.rows[1].input_tokens, 3180);
  EXPECT_EQ(log.rows[1].output_tokens, 8);
  EXPECT_EQ(log.origin_unix_s, 1'700'158'623);
  EXPECT_EQ(result.log.read, 2);
  EXPECT_EQ(trace_csv(result),
            "arrival_s,input_tokens,output_tokens\n0.97996,4808,10\n1.0319601,3180,8\n");
}

TEST(ImportAzure, TimesWithoutAZoneAreGuessedUnlessSaid) {
  EXPECT_EQ(counted(import_of(ImportKind::Azure, kAzure), "without a zone"), 2);
  const Imported eastern = import_of(
      ImportKind::Azure, kAzure, with([](ImportOptions& o) { o.time_zone = TimeZone{hours(-5)}; }));
  EXPECT_EQ(counted(eastern, "without a zone"), 0);
  EXPECT_EQ(log_of(eastern).origin_unix_s, 1'700'158'623 + 5 * 3600);
  const Imported zoned =
      import_of(ImportKind::Azure,
                "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.009930+00:00,1,2\n");
  EXPECT_EQ(counted(zoned, "without a zone"), 0);
}

TEST(ImportAzure, BadRowsStopItOrAreCounted) {
  const std::string bad = std::string(kAzure) + "\nyesterday,1,2\n2023-11-16 18:17:05,-1,2\n";
  expect_refused(ImportKind::Azure, bad, Code::TraceRow, 4, "this is no time");
  const Imported result =
      import_of(ImportKind::Azure, bad, with([](ImportOptions& o) { o.skip_bad = true; }));
  EXPECT_EQ(log_of(result).rows.size(), 2U);
  EXPECT_EQ(counted(result, "cannot be read"), 2);
  expect_refused(ImportKind::Azure, "TIMESTAMP,ContextTokens\n", Code::TraceFormat, 1,
                 "no column \"GeneratedTokens\"");
  expect_refused(ImportKind::Azure, "", Code::TraceFormat, 1, "the file is empty");
  expect_refused(ImportKind::Azure, "TIMESTAMP,ContextTokens,GeneratedTokens\n", Code::TraceFormat,
                 1, "no request");
}

TEST(ImportAzure, RowsArePutInOrderAndCut) {
  const std::string text =
      "TIMESTAMP,ContextTokens,GeneratedTokens\n30,3,1\n10,1,1\n20,2,1\n40,4,1\n";
  const Imported all = import_of(ImportKind::Azure, text);
  EXPECT_EQ(counted(all, "put in order"), 1);
  EXPECT_EQ(log_of(all).rows.front().input_tokens, 1);
  const Imported window = import_of(ImportKind::Azure, text, with([](ImportOptions& o) {
                                      o.from = seconds(10);
                                      o.length = seconds(20);
                                    }));
  ASSERT_EQ(log_of(window).rows.size(), 2U);
  EXPECT_EQ(log_of(window).rows.front().input_tokens, 2);
  EXPECT_EQ(counted(window, "outside the window"), 2);
}

TEST(ImportMooncake, BatchedStampsAreSpreadOverTheirStep) {
  std::string text;
  for (const int ms : {0, 0, 0, 3000, 3000, 9000}) {
    text += "{\"timestamp\": " + std::to_string(ms) +
            ", \"input_length\": 7, \"output_length\": 5, \"hash_ids\": []}\n";
  }
  const Imported result = import_of(ImportKind::Mooncake, text);
  std::vector<std::int64_t> at_ms;
  for (const auto& row : log_of(result).rows) at_ms.push_back(row.at.ns / 1'000'000);
  EXPECT_EQ(at_ms, (std::vector<std::int64_t>{0, 1000, 2000, 3000, 4500, 9000}));
  EXPECT_EQ(counted(result, "steps of 3000 ms: spread evenly"), 3);
}

// As the published traces have them: batches every 3 s, some of them a millisecond early or late,
// some missing, and a stray one.
TEST(ImportMooncake, JitteredStampsAreSpreadOverTheirStep) {
  std::string text;
  const auto add = [&](int ms) {
    text +=
        "{\"timestamp\": " + std::to_string(ms) + ", \"input_length\": 7, \"output_length\": 5}\n";
  };
  for (int batch = 0; batch < 100; ++batch) {
    if (batch % 7 == 3) continue;
    const int stamp = 3'000 * batch + (batch % 5 == 1 ? 1 : 0) - (batch % 5 == 4 ? 1 : 0);
    for (int i = 0; i < 3; ++i) add(stamp + (batch % 2) * (i == 2));
  }
  add(301'300);
  const Imported result = import_of(ImportKind::Mooncake, text);
  EXPECT_EQ(counted(result, "steps of 3000 ms, give or take a few: spread evenly"), 2 * 86);
  const auto& rows = log_of(result).rows;
  ASSERT_EQ(rows.size(), 3 * 86 + 1U);
  EXPECT_EQ(rows[1].at, milliseconds(1'000));
  EXPECT_EQ(rows[3].at, milliseconds(3'001));
  EXPECT_EQ(rows[5].at, milliseconds(5'001));
  EXPECT_EQ(rows.back().at, milliseconds(301'300));
}

// One request by itself may lie anywhere; a batch every 3 s is still seen.
TEST(ImportMooncake, StraysDoNotHideTheStep) {
  std::string text;
  const auto add = [&](int ms) {
    text +=
        "{\"timestamp\": " + std::to_string(ms) + ", \"input_length\": 7, \"output_length\": 5}\n";
  };
  for (int batch = 0; batch < 200; ++batch) {
    if (batch % 3 == 1) continue;
    const int stamp = 3'000 * batch + batch % 2;
    for (int i = 0; i < 4; ++i) add(stamp);
    if (batch % 8 == 5) add(stamp + 311 * (batch % 9) + 100);
  }
  const Imported result = import_of(ImportKind::Mooncake, text);
  EXPECT_GT(counted(result, "steps of 3000 ms, give or take a few: spread evenly"), 0);
  const auto& rows = log_of(result).rows;
  EXPECT_TRUE(std::ranges::is_sorted(rows, {}, [](const auto& row) { return row.at; }));
}

TEST(ImportMooncake, StampsThatFollowNoStepStay) {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    for (int twice = 0; twice < 2; ++twice) {
      text += "{\"timestamp\": " + std::to_string(i * 1'000 + i * i * 7919 % 997) +
              ", \"input_length\": 7, \"output_length\": 5}\n";
    }
  }
  EXPECT_EQ(counted(import_of(ImportKind::Mooncake, text), "spread"), 0);
}

TEST(ImportMooncake, FineStampsStay) {
  const Imported result = import_of(
      ImportKind::Mooncake,
      "{\"output_length\":5,\"input_length\":7,\"timestamp\":27482,\"note\":\"a\\\"b\"}\r\n"
      "{\"timestamp\": 27482, \"input_length\": 7, \"output_length\": 5}\n"
      "{\"timestamp\": 30535.5, \"input_length\": 8, \"output_length\": 6, \"chat\": null}");
  ASSERT_EQ(log_of(result).rows.size(), 3U);
  EXPECT_EQ(log_of(result).rows[1].at, milliseconds(27'482));
  EXPECT_EQ(log_of(result).rows[2].at, microseconds(30'535'500));
  EXPECT_EQ(counted(result, "spread"), 0);
}

constexpr const char* kMooncake =
    "{\"timestamp\":1,\"input_length\":1536,\"output_length\":1,\"hash_ids\":[0,1,2]}\n"
    "{\"timestamp\":2002,\"input_length\":1537,\"output_length\":1,\"hash_ids\":[0,1,99999999999,4]"
    "}\n"
    "{\"timestamp\":3003,\"hash_ids\":[0],\"input_length\":1537,\"output_length\":1}\n"
    "{\"timestamp\":4004,\"input_length\":9,\"output_length\":1}\n";

TEST(ImportMooncake, BlocksOfPromptsAreKept) {
  const Imported result = import_of(ImportKind::Mooncake, kMooncake);
  EXPECT_EQ(counted(result, "33.3 % of 6 whole blocks of prompts repeat"), 1);
  EXPECT_EQ(counted(result, "not one for each 512 tokens"), 1);
  EXPECT_EQ(log_of(result).blocks->before, (std::vector<PromptBlocks::Block>{0, 0, 1, 2, 2}));
  EXPECT_EQ(trace_csv(result),
            "arrival_s,input_tokens,output_tokens,hash_ids\n"
            "0.001,1536,1,1 2 3\n2.002,1537,1,1 2 4\n3.003,1537,1,\n4.004,9,1,\n");
}

TEST(ImportMooncake, OtherJsonIsABadRow) {
  const std::string good = "{\"timestamp\":1,\"input_length\":1,\"output_length\":1}\n";
  const auto refused = [&](const std::string& line, const std::string& message) {
    expect_refused(ImportKind::Mooncake, good + line + "\n", Code::TraceRow, 2, message);
  };
  refused("[]", "no JSON object");
  refused("{\"timestamp\":1", "not closed");
  refused("{\"timestamp\":1}", "\"input_length\" is missing");
  refused("{\"timestamp\":\"1\",\"input_length\":1,\"output_length\":1}", "\"timestamp\"");
  refused("{\"timestamp\":1,\"input_length\":1,\"output_length\":-1}", "\"output_length\"");
  refused("{\"timestamp\":1,\"input_length\":1,\"output_length\":1} x", "something follows");
  refused("{\"a\":{\"b\":1}}", "a value is");
  refused("{\"a\":" + std::string(100'000, '['), "a value is");
  refused("{\"a\":\"", "a value is");
  refused(std::string((1U << 20U) + 1, '['), "a line of more than 1 MiB");
}

constexpr const char* kBurst =
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "5,ChatGPT,472,18,490,Conversation log\n"
    "45.5,ChatGPT,1087,0,1087,Conversation log\n"
    "118,GPT-4,417,276,700,API log\n";

TEST(ImportBurstGpt, FailedRequestsAreLeftOutAndCounted) {
  const Imported result = import_of(ImportKind::BurstGpt, kBurst);
  ASSERT_EQ(log_of(result).rows.size(), 2U);
  EXPECT_EQ(counted(result, "without response tokens: failed"), 1);
  EXPECT_EQ(result.log.read, 3);
  EXPECT_EQ(result.log.imported, 2);
}

TEST(ImportBurstGpt, TimeCountsFromTheFirstMidnight) {
  const RequestLog log = log_of(import_of(ImportKind::BurstGpt, kBurst));
  EXPECT_EQ(log.rows[0].at, seconds(5));
  EXPECT_EQ(log.rows[1].at, seconds(118));
  EXPECT_FALSE(log.origin_unix_s);
}

TEST(ImportBurstGpt, ModelsTypesAndTotalsAreTold) {
  const Imported result = import_of(ImportKind::BurstGpt, kBurst);
  EXPECT_EQ(counted(result, "models are not told apart: ChatGPT 1, GPT-4 1"), 1);
  EXPECT_EQ(counted(result, "types of log are not told apart"), 1);
  EXPECT_EQ(counted(result, "totals that are not the sum"), 1);
}

TEST(ImportBurstGpt, SessionAndElapsedTimeAreOtherColumns) {
  const Imported result = import_of(
      ImportKind::BurstGpt,
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log "
      "Type\n5,,0.5,ChatGPT,472,18,490,API log\n");
  EXPECT_EQ(log_of(result).rows.size(), 1U);
  EXPECT_EQ(counted(result, "column not used: Session ID"), 1);
  EXPECT_EQ(counted(result, "column not used: Elapsed time"), 1);
}

// Reads what a scenario would, from the text or binary form.
RequestTrace replayed(const std::string& bytes, const std::string& fields = "") {
  const std::string text = with_workload(
      "kind: Service, measured: {requestGpuTime: 9ms}, traffic: {shape: Trace, trace: {file: t" +
      fields + "}}");
  const Scenario scenario = scenario_of(text, [&](const std::string& path) -> Expected<SourceText> {
    return SourceText{path, bytes};
  });
  if (scenario.workloads.empty()) return {};
  return std::get<RequestTrace>(scenario.workloads.front().traffic->shape);
}

TEST(RequestBinary, ReadsLikeTheText) {
  for (const Imported& result :
       {import_of(ImportKind::BurstGpt, kBurst), import_of(ImportKind::Mooncake, kMooncake)}) {
    for (const std::string& fields : {std::string(), std::string(", from: 1s, length: 1h")}) {
      const RequestTrace text = replayed(trace_csv(result), fields);
      const RequestTrace binary = replayed(trace_binary(result), fields);
      EXPECT_TRUE(binary.has_tokens);
      EXPECT_EQ(binary.skipped, text.skipped);
      ASSERT_EQ(binary.rows.size(), text.rows.size());
      for (std::size_t row = 0; row < text.rows.size(); ++row) {
        EXPECT_EQ(binary.rows[row].at, text.rows[row].at);
        EXPECT_EQ(binary.rows[row].input_tokens, text.rows[row].input_tokens);
        EXPECT_EQ(binary.rows[row].output_tokens, text.rows[row].output_tokens);
        EXPECT_EQ(binary.rows[row].prompt, text.rows[row].prompt);
      }
      ASSERT_EQ(binary.blocks != nullptr, text.blocks != nullptr);
      if (!text.blocks) continue;
      EXPECT_EQ(binary.blocks->tokens, text.blocks->tokens);
      EXPECT_EQ(binary.blocks->before, text.blocks->before);
    }
  }
}

TEST(RequestBinary, DamageIsRefused) {
  const std::string whole = trace_binary(import_of(ImportKind::BurstGpt, kBurst));
  const std::string scenario = with_workload(
      "kind: Service, measured: {requestGpuTime: 9ms}, traffic: {shape: Trace, trace: {file: t}}");
  const auto refused = [&](const std::string& bytes, const std::string& message) {
    expect_problem(scenario, Code::TraceFormat, message,
                   [&](const std::string&) -> Expected<SourceText> {
                     return SourceText{"t", bytes};
                   });
  };
  refused(whole.substr(0, 20), "cut short");
  refused(whole.substr(0, whole.size() - 1), "not as long as its head says");
  refused(whole + "x", "not as long as its head says");
  std::string negative = whole;
  negative[32 + 7] = '\x80';
  refused(negative, "times out of order");
  const std::string with_blocks = trace_binary(import_of(ImportKind::Mooncake, kMooncake));
  refused(with_blocks.substr(0, with_blocks.size() - 1), "blocks of the binary trace cannot be");
  refused(with_blocks + "four", "blocks of the binary trace cannot be");
  for (const std::size_t place :
       {32U + 16 * 4, 32U + 20 * 4, 32U + 20 * 4 + 8, 32U + 20 * 4 + 16 + 8}) {
    std::string wrong = with_blocks;
    wrong[place + 1] = '\x70';
    refused(wrong, "blocks of the binary trace cannot be");
  }
}

TEST(RequestScenario, RunsAsItIs) {
  for (const ImportKind kind : {ImportKind::Azure, ImportKind::BurstGpt}) {
    const Imported result = import_of(kind, kind == ImportKind::Azure ? kAzure : kBurst);
    const std::string csv = trace_csv(result);
    const std::string yaml = scenario_of(result, kind, with([](ImportOptions& o) {
                                           o.name = "My Trace";
                                           o.trace_path = "t.csv";
                                         }))
                                 .yaml;
    const Scenario scenario = scenario_of(yaml, [&](const std::string& path) {
      return Expected<SourceText>(SourceText{path, csv});
    });
    ASSERT_EQ(scenario.workloads.size(), 1U) << yaml;
    EXPECT_TRUE(scenario.workloads.front().llm);
    EXPECT_NE(yaml.find("TODO"), std::string::npos);
    EXPECT_NE(yaml.find("metadata: {name: my-trace}"), std::string::npos);
  }
}

struct Means {
  double input = 0;
  double output = 0;
};

Means means_of(const RequestLog& log) {
  Means means;
  for (const auto& row : log.rows) {
    means.input += row.input_tokens / static_cast<double>(log.rows.size());
    means.output += row.output_tokens / static_cast<double>(log.rows.size());
  }
  return means;
}

// The whole traces and variants of them, against the figures that were measured on them.
TEST(ImportedTraces, AzureCode) {
  const std::string text = read_shared("azure_llm/AzureLLMInferenceTrace_code.csv");
  if (text.empty()) GTEST_SKIP() << "no shared traces here";
  const Imported result = import_of(ImportKind::Azure, text);
  const RequestLog& log = log_of(result);
  ASSERT_EQ(log.rows.size(), 8'819U);
  EXPECT_NEAR(means_of(log).input, 2'048, 0.5);
  EXPECT_NEAR(means_of(log).output, 27.9, 0.05);
  EXPECT_NEAR(to_seconds(log.rows.back().at - log.rows.front().at) / 60, 57.3, 0.05);
  std::string plain;
  for (const char c : text) plain += c == '\r' ? "" : std::string(1, c);
  EXPECT_EQ(trace_csv(import_of(ImportKind::Azure, plain)), trace_csv(result));
  EXPECT_EQ(replayed(trace_binary(result)).rows.size(), 8'819U);
}

TEST(ImportedTraces, MooncakeSynthetic) {
  const std::string text = read_shared("mooncake/synthetic_trace.jsonl");
  if (text.empty()) GTEST_SKIP() << "no shared traces here";
  const Imported result = import_of(ImportKind::Mooncake, text);
  EXPECT_EQ(log_of(result).rows.size(), 3'993U);
  EXPECT_EQ(counted(result, "spread"), 0);
  EXPECT_EQ(counted(result, "65.9 % of 117888 whole blocks"),
            1);  // counted by a few lines of Python
}

}  // namespace
}  // namespace slicewise::scenarios
