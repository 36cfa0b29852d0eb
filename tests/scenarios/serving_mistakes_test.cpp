#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"

namespace slicewise::scenarios {
namespace {

// Every mistake of a file is found in one go, at its place, and says what to do.
TEST(Serving, EveryMistakeIsFoundAtOnce) {
  std::ifstream file(std::string(SLICEWISE_SOURCE_DIR) + "/tests/scenarios/serving_mistakes.yaml");
  std::ostringstream text;
  text << file.rdbuf();
  std::string found;
  for (const Diagnostic& d : read_scenario_file({"f.yaml", text.str()}).problems) {
    found += std::to_string(d.where.line) + ":" + std::to_string(d.where.column) + " " +
             std::string(info(d.code).name) + "\n";
    EXPECT_FALSE(d.help.empty() && d.label.empty() &&
                 d.message.find("did you mean") == std::string::npos)
        << d.message;
  }
  EXPECT_EQ(found,
            "5:13 FIELD_TYPE\n"         // Monday
            "10:16 FIELD_MISSING\n"     // p50 alone
            "10:44 FIELD_UNKNOWN\n"     // p90
            "11:49 SETTING_CONFLICT\n"  // a peak below the mean
            "11:62 FIELD_TYPE\n"        // 2pm
            "12:24 ENUM_UNKNOWN\n"      // Roundrobin
            "12:70 UNIT_MISSING\n"      // 5
            "13:59 SETTING_CONFLICT\n"  // a share for a percentage
            "14:11 FIELD_UNKNOWN\n"     // latencyP99.9
            "14:43 UNIT_MISSING\n"      // 0.999
            "17:26 SETTING_CONFLICT\n"  // clients with shape Poisson
            "18:48 UNIT_MISSING\n"      // 63.7
            "18:84 UNIT_UNKNOWN\n"      // 16GB
            "19:44 FIELD_MISSING\n"     // p50 alone
            "22:5 SETTING_CONFLICT\n"   // replicas on a Notebook
            "23:49 FIELD_TYPE\n"        // one time for a list
            "24:11 SETTING_CONFLICT\n"  // latencyP99 on a Notebook
            "28:25 SETTING_CONFLICT\n"  // a cycle
            "28:89 SETTING_CONFLICT\n"  // a Notebook as a stage
  );
}

}  // namespace
}  // namespace slicewise::scenarios
