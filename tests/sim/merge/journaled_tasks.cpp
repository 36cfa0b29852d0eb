// What a journal keeps of the tasks of a study.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "slicewise/sim/replay/replay.hpp"

#include "run/byte_archives.hpp"
#include "run/record_bytes.hpp"
#include "run/shared_tasks.hpp"

namespace slicewise::sim {
namespace {

using Key = std::pair<std::size_t, std::size_t>;

struct Kept {
  std::map<Key, std::string> lines;
  TaskJournal journal{[this](std::size_t step, std::size_t task) -> std::optional<std::string> {
                        const auto line = lines.find({step, task});
                        return line == lines.end() ? std::nullopt : std::optional(line->second);
                      },
                      [this](std::size_t step, std::size_t task, const std::string& found) {
                        lines[{step, task}] = found;
                      }};
};

TEST(JournaledTasks, AReplayThatWasInterruptedIsMadeAgain) {
  Kept kept;
  bool interrupted = true;
  const auto replay = [&](std::size_t task) -> std::optional<ReplayResult> {
    ReplayResult result;
    result.finished = interrupted ? 1 : 100;
    result.interrupted = interrupted && task == 1;
    return result;
  };
  const auto finished = [&] {
    kept.journal.steps = 0;
    const auto work = journaled<ReplayResult>(&kept.journal, replay);
    return std::pair(work(0)->finished, work(1)->finished);
  };
  EXPECT_EQ(finished(), std::pair(1L, 1L));
  EXPECT_EQ(kept.lines.size(), 1U) << "the one that came to its end";
  interrupted = false;
  EXPECT_EQ(finished(), std::pair(1L, 100L));
  EXPECT_EQ(kept.lines.size(), 2U);
}

template <class Record>
std::string bytes_of(Record record) {
  ByteWriter writer;
  writer(record);
  return writer.take();
}

template <class Record>
Record read_back(const std::string& bytes) {
  Record record;
  ByteReader reader(bytes);
  reader(record);
  return record;
}

// Padding has whatever was there before, and a compiler may copy it or not.
TEST(JournaledTasks, ARecordIsItsMembersAndNothingBetweenThem) {
  std::array<std::string, 2> bytes;
  for (std::size_t n = 0; n < 2; ++n) {
    alignas(SharingFigures::Refusal) std::array<unsigned char, sizeof(SharingFigures::Refusal)>
        room;
    room.fill(n == 0 ? 0 : 0xff);
    auto* const refusal = new (room.data()) SharingFigures::Refusal;
    refusal->jobs = 3;
    ByteWriter writer;
    writer(*refusal);
    bytes[n] = writer.take();
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST(JournaledTasks, NumbersComeBackAsTheyWere) {
  ReplayResult result;
  result.jobs = std::numeric_limits<std::int64_t>::min();
  result.finished = std::numeric_limits<std::int64_t>::max();
  result.preemptions = -1;
  result.first_never_fit = std::numeric_limits<std::size_t>::max();
  result.gpu_hours = -0.1;
  result.perfect_estimates = true;
  result.series.waiting = {0, 1.5};
  result.job_times = {{}, {TimePoint{-7}, TimePoint{300}}};
  result.groups.resize(2);
  result.groups[0].name = "a\n";
  result.groups[0].wait_ns = -(Int128{1} << 90U);
  result.groups[1].wait_ns = (Int128{1} << 90U) + 5;
  for (const Duration wait : {Duration{0}, seconds(1), hours(2'000'000)}) result.wait.add(wait);
  result.sharing.emplace().refusals = {{TurnedAway::OtherSlice, 2, {7, 8}}};
  const auto again = read_back<ReplayResult>(bytes_of(result));
  EXPECT_EQ(bytes_of(again), bytes_of(result));
  EXPECT_EQ(again.jobs, result.jobs);
  EXPECT_EQ(again.finished, result.finished);
  EXPECT_EQ(again.preemptions, -1);
  EXPECT_EQ(again.first_never_fit, result.first_never_fit);
  EXPECT_EQ(again.gpu_hours, -0.1);
  EXPECT_TRUE(again.perfect_estimates);
  EXPECT_EQ(again.series.waiting, result.series.waiting);
  EXPECT_EQ(again.job_times[0].end, kNever);
  EXPECT_EQ(again.job_times[1].start, TimePoint{-7});
  EXPECT_TRUE(again.groups[0].wait_ns == result.groups[0].wait_ns);
  EXPECT_TRUE(again.groups[1].wait_ns == result.groups[1].wait_ns);
  EXPECT_EQ(again.groups[0].name, "a\n");
  EXPECT_EQ(again.wait.count(), 3);
  EXPECT_EQ(again.wait.quantile(1), result.wait.quantile(1));
  EXPECT_EQ(again.sharing->refusals.at(0).reason, TurnedAway::OtherSlice);
  EXPECT_EQ(again.sharing->refusals.at(0).first.line, 8);
}

// A histogram has room for 292 years: 57 KiB.
TEST(JournaledTasks, EmptyBucketsTakeNoRoom) {
  Histogram histogram;
  for (int n = 0; n < 100; ++n) histogram.add(seconds(1) * (1 + n * n));
  EXPECT_LT(bytes_of(histogram).size(), 500U);
}

TEST(JournaledTasks, CutOffBytesAreNoRecord) {
  ReplayResult result;
  result.wait.add(seconds(1));
  result.groups.resize(1);
  const std::string bytes = bytes_of(result);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(read_back<ReplayResult>(bytes.substr(0, size)), std::runtime_error) << size;
  }
}

}  // namespace
}  // namespace slicewise::sim
