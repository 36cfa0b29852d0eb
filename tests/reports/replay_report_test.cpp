#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "slicewise/reports/studies.hpp"

#include "golden_file.hpp"

// tests/tools/replay_test.py holds what the program prints to the schema.
namespace slicewise::reports {
namespace {

sim::ReplayStudy study() {
  scenarios::JobTrace trace;
  trace.names = {"", "a,b", "c"};
  trace.arrival.owned = {{}, seconds(1)};
  trace.run.owned = {seconds(10), milliseconds(2500)};
  trace.gpus.owned = {1, 1};
  trace.id.owned = {1, 2};
  sim::ReplaySettings settings;
  settings.cluster.pool_gpus = 1;
  settings.keep_jobs = true;
  const sim::Scheduling fifo;
  sim::ReplayOrigin origin;
  origin.stamp.scenario_file = "t.csv";
  origin.cluster = "1 GPU";
  auto replayed = sim::replay_each(trace, settings, {&fifo, 1}, origin, {});
  EXPECT_EQ(job_times_csv(trace, *replayed),
            "id,gpus,arrival_s,start_s,end_s\n\"a,b\",1,0,0,10\nc,1,1,10,12.5\n");
  return *replayed;
}

TEST(ReplayReport, TheTableSaysWhatWasReplayedAndWhatIsNotModelled) {
  const std::string text = Report(study()).table({false, true, 0}, false);
  EXPECT_NE(text.find("t.csv: 2 jobs on 1 GPU"), std::string::npos) << text;
  EXPECT_NE(text.find("4.50 s"), std::string::npos) << text;  // (0 + 9) / 2
  EXPECT_NE(text.find("not modelled"), std::string::npos) << text;
}

TEST(ReplayReport, TheCommittedSchemaIsWhatTheProgramPrints) {
  const auto file =
      std::filesystem::path(SLICEWISE_SOURCE_DIR) / "reports" / "schema" / "replay.v1alpha1.json";
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << Report<sim::ReplayStudy>::schema();
  }
  EXPECT_EQ(file_text(file), Report<sim::ReplayStudy>::schema());
}

}  // namespace
}  // namespace slicewise::reports
