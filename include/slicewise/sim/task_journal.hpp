#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace slicewise::sim {

// What the tasks of a study found in an earlier run of it: one that was killed goes on where it
// stopped, to the same bytes. A study asks for the same tasks in the same order whatever the
// threads, so a task is known by two numbers. What it found is bytes that this build alone can
// read. They are called from any thread, several at a time.
struct TaskJournal {
  // nullopt: not found before.
  std::function<std::optional<std::string>(std::size_t step, std::size_t task)> find;
  std::function<void(std::size_t step, std::size_t task, const std::string& found)> keep;

  std::size_t steps = 0;  // begun so far: lists of tasks that are done in parallel
};

}  // namespace slicewise::sim
