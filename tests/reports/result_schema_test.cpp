#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "slicewise/reports/result_report.hpp"

#include "golden_file.hpp"
#include "platform_sample.hpp"
#include "result_samples.hpp"

namespace slicewise::reports {
namespace {

namespace fs = std::filesystem;

const fs::path kSchemaFile =
    fs::path(SLICEWISE_SOURCE_DIR) / "reports" / "schema" / "result.v1alpha1.json";

TEST(ResultSchema, CommittedFileIsWhatTheProgramPrints) {
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kSchemaFile, std::ios::binary) << Report<sim::Result>::schema();
  }
  EXPECT_EQ(file_text(kSchemaFile), Report<sim::Result>::schema());
}

class ValidatedBySchema : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import jsonschema' 2>/dev/null") == 0) return;
    const char* reason = "python3 has no jsonschema module (apt install python3-jsonschema)";
    const char* required = std::getenv("SLICEWISE_REQUIRE_TOOLS");
    if (required != nullptr && std::string_view(required) == "1") FAIL() << reason;
    GTEST_SKIP() << reason;
  }

  static bool valid(const std::string& document) {
    // ctest runs the cases of this fixture at the same time: each has its own file.
    const std::string path = ::testing::TempDir() + "slicewise_result_schema_" +
                             ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                             ".json";
    std::ofstream(path, std::ios::binary) << document;
    const std::string check =
        "import json,sys,jsonschema as j; s=json.load(open(sys.argv[1])); "
        "j.Draft7Validator.check_schema(s); "
        "e=list(j.Draft7Validator(s).iter_errors(json.load(open(sys.argv[2])))); "
        "[print(x.json_path, x.message) for x in e]; sys.exit(bool(e))";
    const std::string command =
        "python3 -c '" + check + "' '" + kSchemaFile.string() + "' '" + path + "'";
    const bool accepted = std::system(command.c_str()) == 0;
    fs::remove(path);
    return accepted;
  }
};

TEST_F(ValidatedBySchema, AcceptsWhatIsPrinted) {
  EXPECT_TRUE(valid(Report(samples::aws_demo()).json()));
  EXPECT_TRUE(valid(Report(samples::voice()).json()));
  EXPECT_TRUE(valid(Report(samples::platform()).json()));
  EXPECT_TRUE(valid(Report(sim::Result{}).json()));
  sim::Result partial = samples::aws_demo();
  partial.interrupted = true;
  partial.stamp.price_file = "our.json";
  partial.stamp.price_file_sha256 = "1f2e";
  EXPECT_TRUE(valid(Report(partial).json()));
  sim::Result sliced = samples::aws_demo();
  sim::NodePoolResult& pool = sliced.variants[0].node_pools[0];
  pool.active_threads = 0.14;
  pool.memory_limit = gibibytes(5);
  pool.mig_config = "all-1g.5gb";
  pool.instances = {{"1g.5gb", 7}};
  pool.sms_unused_ratio = 0.1;
  sliced.variants[0].gpus[0].partition = "1g.5gb";
  sliced.variants[0].gpus[0].gpu_share = 1.0 / 7;
  EXPECT_TRUE(valid(Report(sliced).json()));
  EXPECT_TRUE(valid(Report(samples::with_policies()).json()));
}

TEST_F(ValidatedBySchema, RefusesAnUnknownKeyAndAMissingOne) {
  std::string unknown = Report(samples::aws_demo()).json();
  unknown.replace(unknown.find("\"runningMax\""), 12, "\"runningMix\"");
  EXPECT_FALSE(valid(unknown));
}

}  // namespace
}  // namespace slicewise::reports
