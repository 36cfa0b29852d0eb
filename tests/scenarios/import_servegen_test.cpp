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

constexpr const char* kSeven =
    "0,1.5,8.5,Weibull,0.37,0.39\n600,0,0,,0,0\n1200,0.15,4,Gamma,0.06,103\n";
constexpr const char* kThree = "0,2,0.5,Gamma,4,0.125";
constexpr const char* kLengths =
    "{\"0\": {\"input_tokens\": \"{10: 0.5, 30: 0.5}\", \"output_tokens\": \"{1: 1.0}\", "
    "\"reason_ratio\": \"{0.5: 1.0}\"}, \"600\": {\"input_tokens\": \"{1000: 1.0}\", "
    "\"output_tokens\": \"{200: 1.0}\"}}";

std::vector<SourceText> files_of_pool() {
  return {{"data/language/m/chunk-7-trace.csv", kSeven},
          {"data/language/m/chunk-3-trace.csv", kThree},
          {"data/language/other/chunk-3-trace.csv", kThree},
          {"data/LICENSE", "text"}};
}

Imported servegen_import(const std::vector<SourceText>& files, const ImportOptions& options) {
  auto result = import_log(ImportKind::ServeGen, files, options);
  if (result) return std::move(*result);
  ADD_FAILURE() << result.error().front().message;
  return {ClientRates{}, {}};
}

const ClientRates& rates_of(const Imported& result) {
  return std::get<ClientRates>(result.content);
}

void expect_pool_refused(const std::vector<SourceText>& files, const ImportOptions& options,
                         Code code, const std::string& message) {
  const auto result = import_log(ImportKind::ServeGen, files, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(info(result.error().front().code).name, info(code).name);
  EXPECT_NE(result.error().front().message.find(message), std::string::npos)
      << result.error().front().message;
}

TEST(ImportServeGen, WindowsOfOnePoolInOneFile) {
  const Imported result =
      servegen_import(files_of_pool(), with([](ImportOptions& o) { o.pool = "language/m"; }));
  EXPECT_EQ(trace_csv(result),
            "client,at_s,rate,law,variation\n3,0,2,Gamma,0.5\n7,0,1.5,Weibull,8.5\n7,600,0,,0\n"
            "7,1200,0.15,Gamma,4\n");
  EXPECT_EQ(counted(result, "2 clients, 2190 requests in 0.5 h"), 1);
  EXPECT_EQ(counted(result, "Weibull windows get the measured CV"), 1);
  EXPECT_EQ(counted(result, "neither rates"), 1);
  EXPECT_EQ(
      trace_csv(servegen_import(files_of_pool(), with([](ImportOptions& o) { o.pool = "m"; }))),
      trace_csv(result));
}

TEST(ImportServeGen, OneFileIsOneClient) {
  EXPECT_EQ(rates_of(servegen_import({{"-", kSeven}}, {})).windows.size(), 3U);
  EXPECT_EQ(
      rates_of(servegen_import({{"a.csv", kSeven}, {"b.csv", kThree}}, {})).windows.back().client,
      1U);
}

TEST(ImportServeGen, RatesAreScaledAndTimeIsCut) {
  const ClientRates rates = rates_of(servegen_import(files_of_pool(), with([](ImportOptions& o) {
                                                       o.from = seconds(600);
                                                       o.pool = "m";
                                                       o.rate_scale = 2;
                                                     })));
  ASSERT_EQ(rates.windows.size(), 2U);
  EXPECT_EQ(rates.windows.back().at, seconds(1200));
  EXPECT_EQ(rates.windows.back().rate.per_second, 0.3);
}

TEST(ImportServeGen, PoolsAreNamedWhenThereAreSeveral) {
  expect_pool_refused(files_of_pool(), {}, Code::TraceFormat, "several pools");
  expect_pool_refused(files_of_pool(), with([](ImportOptions& o) { o.pool = "n"; }),
                      Code::TraceFormat, "no pool \"n\"");
  expect_pool_refused({{"x-dataset.json", "{}"}}, {}, Code::TraceFormat, "no file is called");
  expect_pool_refused({{"a/m/chunk-1-trace.csv", kThree}, {"b/chunk-1-trace.csv", kThree}},
                      with([](ImportOptions& o) { o.pool = ""; }), Code::TraceFormat, "");
}

TEST(ImportServeGen, BadRowsAreCountedOrStopIt) {
  const std::string bad = std::string(kSeven) + "x,1,1,Gamma,1,1\n1800,1,1,Pareto,1,1\n1,2\n";
  expect_pool_refused({{"a.csv", bad}}, {}, Code::TraceRow, "no start of a window");
  EXPECT_EQ(
      counted(servegen_import({{"a.csv", bad}}, with([](ImportOptions& o) { o.skip_bad = true; })),
              "cannot be read"),
      3);
  const std::string twice = "0,1,1,Gamma,1,1\n0,1,1,Gamma,1,1\n";
  const auto refused =
      import_log(ImportKind::ServeGen, std::vector<SourceText>{{"a.csv", twice}}, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().front().where.line, 2);
  EXPECT_EQ(refused.error().front().message, "a client has two windows at that time");
  const Imported guessed = servegen_import({{"a.csv", "0,1,0,,0,0\n"}}, {});
  EXPECT_EQ(counted(guessed, "taken for Poisson"), 1);
  EXPECT_EQ(rates_of(guessed).windows.front().law, ClientWindow::Law::Exponential);
}

TEST(ImportServeGen, LengthsWeighAsTheRequestsOfTheirTime) {
  std::vector<SourceText> files = files_of_pool();
  files.push_back({"data/language/m/chunk-7-dataset.json", kLengths});
  const Imported result = servegen_import(files, with([](ImportOptions& o) { o.pool = "m"; }));
  const ClientRates& rates = rates_of(result);
  ASSERT_TRUE(rates.input && rates.output);
  // 900 requests of the first window, 90 of the last.
  EXPECT_NEAR(rates.input->mean, (900 * 20 + 90 * 1000) / 990.0, 1e-9);
  EXPECT_NEAR(rates.output->mean, (900 * 1 + 90 * 200) / 990.0, 1e-9);
  EXPECT_EQ(rates.input->p50, 30);
  EXPECT_EQ(rates.input->p99, 1000);
  EXPECT_EQ(counted(result, "lengths are known of 45.2 % of the requests"), 1);
}

TEST(ImportServeGen, DamagedLengthsAreBadRows) {
  for (const std::string& text :
       {std::string("["), std::string(100'000, '['), std::string("{\"0\": 1}"),
        std::string("{\"0\": {\"input_tokens\": \"{1: 2}\", \"output_tokens\": \"{1: 1}\"}}"),
        std::string("{\"0\": {\"input_tokens\": \"[1]\", \"output_tokens\": \"{1: 1}\"}}")}) {
    std::vector<SourceText> files = files_of_pool();
    files.push_back({"data/language/m/chunk-7-dataset.json", text});
    expect_pool_refused(files, with([](ImportOptions& o) { o.pool = "m"; }), Code::TraceRow, "");
  }
}

TEST(ImportServeGen, ScenarioRunsAsItIs) {
  std::vector<SourceText> files = files_of_pool();
  for (const bool with_lengths : {false, true}) {
    if (with_lengths) files.push_back({"data/language/m/chunk-7-dataset.json", kLengths});
    const Imported result = servegen_import(files, with([](ImportOptions& o) { o.pool = "m"; }));
    const std::string yaml =
        scenario_of(result, ImportKind::ServeGen,
                    with([](ImportOptions& o) { o.trace_path = "clients.csv"; }))
            .yaml;
    const Scenario scenario = scenario_of(yaml, [&](const std::string& path) {
      return Expected<SourceText>(SourceText{path, trace_csv(result)});
    });
    ASSERT_EQ(scenario.workloads.size(), 1U) << yaml;
    EXPECT_EQ(scenario.workloads.front().llm.has_value(), with_lengths);
    EXPECT_NE(yaml.find("shape: Clients"), std::string::npos);
  }
}

// The totals of the public archive.
TEST(ThoroughImportedTraces, ServeGenPools) {
  const auto path = std::filesystem::path(SLICEWISE_SHARED_DIR) /
                    "traces/servegen/servegen_client_rates_all5.tar.zst";
  std::ifstream file(path, std::ios::binary);
  if (!file) GTEST_SKIP() << "no shared traces here";
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const auto files = unpacked({path.string(), bytes.str()});
  ASSERT_TRUE(files);
  struct Pool {
    std::string name;
    std::string total;
  };
  for (const Pool& pool : {Pool{"language/m-large", "162 clients, 236892826 requests in 336 h"},
                           Pool{"deepseek-r1", "73 clients, 1383669 requests in 24 h"},
                           Pool{"mm-image", "35 clients, 818610 requests in 24 h"}}) {
    const Imported result =
        servegen_import(*files, with([&](ImportOptions& o) { o.pool = pool.name; }));
    EXPECT_EQ(counted(result, pool.total), 1) << pool.name;
  }
}

}  // namespace
}  // namespace slicewise::scenarios
