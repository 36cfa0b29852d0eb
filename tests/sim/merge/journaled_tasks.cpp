// What a journal keeps of the tasks of a study.
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace slicewise::sim
