#include "slicewise/nearest_name.hpp"

#include <array>

#include <gtest/gtest.h>

namespace slicewise {
namespace {

constexpr std::array<std::string_view, 5> kKnown = {"replicas", "replace", "name", "nodes",
                                                    "gpuMemory"};

TEST(EditDistance, CountsInsertionsDeletionsSubstitutionsAndSwapsOnce) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("nmae", "name"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("GPUMemory", "gpuMemory"), 0U);
}

TEST(NearestName, FindsTheMisspeltOne) {
  EXPECT_EQ(nearest_name("replica", kKnown), "replicas");
  EXPECT_EQ(nearest_name("nmae", kKnown), "name");
  EXPECT_EQ(nearest_name("gpumemory", kKnown), "gpuMemory");
  EXPECT_EQ(nearest_name("gpu", kKnown), "gpuMemory") << "the beginning of a name will do";
}

TEST(NearestName, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("throughput", kKnown), std::nullopt);
  EXPECT_EQ(nearest_name("", kKnown), std::nullopt);
  EXPECT_EQ(nearest_name("x", kKnown), std::nullopt);
}

TEST(NearestName, NamesOfAMegabyteAreNearNothing) {
  EXPECT_EQ(nearest_name(std::string(1'000'000, 'x'), kKnown), std::nullopt);
  EXPECT_EQ(nearest_name("name" + std::string(kLongestMisspelling, 'x'), kKnown), std::nullopt);
}

TEST(NearestName, KnowsTheSameWordsInAnotherOrderAndNamesOfOthers) {
  using Names = std::array<std::string_view, 3>;
  EXPECT_EQ(nearest_name("p95Latency", Names{"latencyP50", "latencyP95", "ttftP95"}), "latencyP95");
  EXPECT_EQ(nearest_name("p95_latency", Names{"latencyP50", "latencyP95", "x"}), "latencyP95");
  EXPECT_EQ(nearest_name("SJF", Names{"fifo", "easy", "srtf"}), "srtf");
  EXPECT_EQ(nearest_name("fcfs", Names{"easy", "fifo", "srtf"}), "fifo");
  EXPECT_EQ(nearest_name("fcfs", Names{"easy", "mps", "srtf"}), std::nullopt);
}

TEST(IsSpellingOf, LooksAtLettersAlone) {
  for (const char* text : {"time-slicing", "timeSlicing", "time_slicing", "Time Slicing"}) {
    EXPECT_TRUE(is_spelling_of(text, "time-slicing")) << text;
    EXPECT_TRUE(is_spelling_of(text, "timeSlicing")) << text;
  }
  EXPECT_TRUE(is_spelling_of("MIG+TimeSlicing", "mig+timeSlicing"));
  EXPECT_FALSE(is_spelling_of("timeslice", "time-slicing"));
  EXPECT_FALSE(is_spelling_of("mig timeSlicing", "mig+timeSlicing"));
}

TEST(NearestName, TiesGoToTheEarlierName) {
  EXPECT_EQ(nearest_name("g7", std::array<std::string_view, 2>{"g5", "g6"}), "g5");
}

}  // namespace
}  // namespace slicewise
