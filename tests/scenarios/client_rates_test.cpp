#include "one_workload.hpp"
#include "traces/trace_files.hpp"

namespace slicewise::scenarios {
namespace {

constexpr const char* kTwoClients =
    "client,at_s,rate,law,variation\n"
    "7,0,0.5,Gamma,2.5\n7,600,0,,0\n7,1200,2,Weibull,1.5\n"
    "3,0,1,Exponential,1\n3,1200,0.25,Gamma,0.5\n";

std::string with_clients(const std::string& fields, const std::string& spec = "") {
  return with_workload(
      "kind: Service, measured: {requestGpuTime: 9ms}, traffic: {shape: Clients, clientRates: {" +
          fields + "}}",
      spec);
}

FileReader giving(const std::string& csv) {
  return [csv](const std::string& path) -> Expected<SourceText> { return SourceText{path, csv}; };
}

Traffic traffic_of(const std::string& csv, const std::string& fields = "",
                   const std::string& spec = "") {
  const Scenario scenario = scenario_of(with_clients("file: c.csv" + fields, spec), giving(csv));
  return scenario.workloads.empty() ? Traffic{} : *scenario.workloads.front().traffic;
}

TEST(ClientRates, WindowsComeInOrderOfClientAndTime) {
  const auto clients =
      std::get<ClientTraffic>(traffic_of(kTwoClients, ", from: 5m, scale: 2, repeat: true").shape);
  ASSERT_EQ(clients.windows.size(), 5U);
  EXPECT_EQ(clients.windows[0].client, 3U);
  EXPECT_EQ(clients.windows[1].at, seconds(1200));
  EXPECT_EQ(clients.windows[4].client, 7U);
  EXPECT_EQ(clients.windows[4].law, ClientWindow::Law::Weibull);
  EXPECT_EQ(clients.windows[4].variation, 1.5);
  EXPECT_EQ(clients.window, seconds(600));  // the shortest step, though client 3 leaves one out
  EXPECT_EQ(clients.from, minutes(5));
  EXPECT_EQ(clients.scale, 2);
  EXPECT_TRUE(clients.repeats);
}

TEST(ClientRates, MeanIsThatOfTheRun) {
  // To the end of the file: (1 + 0.25 + 0.5 + 2) * 600 requests in 1800 s.
  EXPECT_DOUBLE_EQ(traffic_of(kTwoClients).mean.per_second, 3.75 / 3);
  EXPECT_DOUBLE_EQ(traffic_of(kTwoClients, "", "  duration: 20m\n").mean.per_second, 0.75);
  EXPECT_DOUBLE_EQ(traffic_of(kTwoClients, ", from: 10m").mean.per_second, 2.25 / 2);
  // One pass and a third: twice the first window.
  EXPECT_DOUBLE_EQ(
      traffic_of(kTwoClients, ", repeat: true, scale: 4", "  duration: 40m\n").mean.per_second,
      4 * (3.75 + 1.5) / 4);
  EXPECT_DOUBLE_EQ(traffic_of(kTwoClients, "", "  duration: 1h\n").mean.per_second, 3.75 / 6);
}

TEST(ClientRates, WhatIsWrittenReadsBack) {
  Findings findings;
  const ClientRates rates = read_client_rates({"c.csv", kTwoClients}, findings);
  const std::string text = client_rates_csv(rates);
  EXPECT_EQ(text,
            "client,at_s,rate,law,variation\n"
            "3,0,1,Exponential,1\n3,1200,0.25,Gamma,0.5\n"
            "7,0,0.5,Gamma,2.5\n7,600,0,,0\n7,1200,2,Weibull,1.5\n");
  EXPECT_EQ(client_rates_csv(read_client_rates({"c.csv", text}, findings)), text);
}

TEST(ClientRates, MistakesHaveTheirPlaceInTheFile) {
  const std::string header = "client,at_s,rate,law,variation\n";
  const auto expect = [&](const std::string& csv, Code code, const std::string& message) {
    expect_problem(with_clients("file: c.csv"), code, message, giving(csv));
  };
  expect("", Code::FieldMissing, "does not name client, at_s, rate, law, variation");
  expect("client,at_s,rate,variation\n", Code::FieldMissing, "does not name law");
  expect(header, Code::ValueRange, "no client asks for anything");
  expect(header + "0,0,0,,0\n", Code::ValueRange, "no client asks for anything");
  expect(header + "0,0,1,Gamma\n", Code::FieldType, "4 values where the header has 5 columns");
  expect(header + "-1,0,1,Gamma,1\n", Code::FieldType, "no number of a client");
  expect(header + "0,1.5,1,Gamma,1\n", Code::FieldType, "no whole number of seconds");
  expect(header + "0,0,nan,Gamma,1\n", Code::FieldType, "no rate");
  expect(header + "0,0,-1,Gamma,1\n", Code::FieldType, "no rate");
  expect(header + "0,0,1,gamma,1\n", Code::FieldType, "no law of gaps");
  expect(header + "0,0,1,Gamma,0\n", Code::FieldType, "no coefficient of variation");
  expect(header + "0,0,1,Gamma,1\n0,0,1,Gamma,1\n", Code::SettingConflict, "two windows at 0 s");
  const auto loaded = load_scenario({"f.yaml", with_clients("file: c.csv")}, {},
                                    giving(header + std::string(9 * 6, ' ') + "\n0,0,x,,\n"));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().front().where.line, 3);
  EXPECT_EQ(loaded.error().front().where.column, 5);
}

TEST(ClientRates, SettingsAreChecked) {
  expect_problem(with_clients("file: c.csv, from: 30m"), Code::ValueRange,
                 "start behind the last window", giving(kTwoClients));
  expect_problem(with_clients("file: c.csv, scale: 0"), Code::ValueRange, "at least 0.000001",
                 giving(kTwoClients));
  expect_problem(with_workload("kind: Service, measured: {requestGpuTime: 9ms}, traffic: {shape: "
                               "Clients, mean: 1/s, clientRates: {file: c.csv}}"),
                 Code::SettingConflict, "mean with shape Clients", giving(kTwoClients));
  expect_problem(with_workload("kind: Service, measured: {requestGpuTime: 9ms}, traffic: {shape: "
                               "Clients}"),
                 Code::FieldMissing, "\"clientRates\" is missing");
}

TEST(ClientRates, ItsBytesAreInTheHash) {
  const auto hash = [](const std::string& csv) {
    return load_scenario({"f.yaml", with_clients("file: c.csv")}, {}, giving(csv))->sha256;
  };
  EXPECT_NE(hash(kTwoClients), hash(std::string(kTwoClients) + "\n"));
}

}  // namespace
}  // namespace slicewise::scenarios
