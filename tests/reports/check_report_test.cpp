#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/ci.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

CheckReport check_sample() {
  return {{"gpu/a b.yaml", "-"},
          {make_diagnostic(Code::ReplicasTooFew, {"gpu/a b.yaml", 3, 4, 5}, "100 % of, this",
                           "do that"),
           make_diagnostic(Code::FailRequestsUnset, {"gpu/a b.yaml", 9, 1, 1}, "several"),
           make_diagnostic(Code::KindNotChecked, {"-", 1, 1, 1}, "objects of kind X")}};
}

TEST(CheckReport, GithubCommandsEscapeWhatWouldEndThem) {
  CheckReport report = check_sample();
  report.findings[0].where.file = "a:b,c%.yaml";
  EXPECT_EQ(check_github(report),
            "::error file=a%3Ab%2Cc%25.yaml,line=3,col=4,endColumn=9,title=REPLICAS_TOO_FEW::100 "
            "%25 of, this%0Ado that\n"
            "::warning file=gpu/a b.yaml,line=9,col=1,endColumn=2,title=FAIL_REQUESTS_UNSET::"
            "several\n"
            "::notice line=1,col=1,endColumn=2,title=KIND_NOT_CHECKED::objects of kind X\n");
}

TEST(CheckReport, JsonCountsAndPlacesTheFindings) {
  const json document = json::parse(check_json(check_sample()));
  EXPECT_EQ(document["apiVersion"], kCheckApiVersion);
  EXPECT_EQ(document["errors"], 1);
  EXPECT_EQ(document["warnings"], 1);
  EXPECT_EQ(document["notes"], 1);
  const json& first = document["findings"][0];
  EXPECT_EQ(first["code"], "REPLICAS_TOO_FEW");
  EXPECT_EQ(first["line"], 3);
  EXPECT_EQ(first["column"], 4);
  EXPECT_EQ(first["help"], "do that");
}

// What SARIF 2.1.0 requires, and what code scanning shows.
TEST(CheckReport, SarifNamesARuleForEachResult) {
  const json sarif = json::parse(check_sarif(check_sample()));
  EXPECT_EQ(sarif["version"], "2.1.0");
  const json& run = sarif["runs"].at(0);
  const json& driver = run["tool"]["driver"];
  EXPECT_EQ(driver["name"], "slicewise");
  ASSERT_EQ(run["results"].size(), 3U);
  for (const json& result : run["results"]) {
    const json& rule = driver["rules"].at(result["ruleIndex"].get<std::size_t>());
    EXPECT_EQ(rule["id"], result["ruleId"]);
    EXPECT_FALSE(rule["shortDescription"]["text"].get<std::string>().empty());
    EXPECT_FALSE(result["message"]["text"].get<std::string>().empty());
    const json& place = result["locations"].at(0)["physicalLocation"];
    EXPECT_GE(place["region"]["startLine"], 1);
  }
  EXPECT_EQ(run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "gpu/a%20b.yaml");
  EXPECT_EQ(driver["rules"][0]["helpUri"],
            "https://github.com/NVIDIA/k8s-device-plugin/issues/1022");
}

TEST(CheckReport, BytesThatAreNoTextDoNotStopIt) {
  CheckReport report{{"\xff.yaml"}, {make_diagnostic(Code::YamlSyntax, {"\xff.yaml"}, "\xc3")}};
  EXPECT_TRUE(json::parse(check_json(report)).is_object());
  EXPECT_TRUE(json::parse(check_sarif(report)).is_object());
}

TEST(CheckReport, TheCommittedSchemaIsWhatTheProgramPrints) {
  const auto file =
      std::filesystem::path(SLICEWISE_SOURCE_DIR) / "reports" / "schema" / "check.v1alpha1.json";
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << check_schema_json();
  }
  std::ifstream in(file, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), check_schema_json());
}

}  // namespace
}  // namespace slicewise::reports
