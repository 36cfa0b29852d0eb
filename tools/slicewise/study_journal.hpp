#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "slicewise/sim/task_journal.hpp"

#include "journal_file.hpp"

// What `slicewise compare --journal FILE` and its like have simulated: the tasks of one command, as
// bytes that this build alone can read. The command again takes them up; one that asks for
// something else is refused.
namespace slicewise::tools {

class StudyJournal {
 public:
  // `subject`: the command and all that it reads, in one line. As JournalFile::open().
  static Expected<std::unique_ptr<StudyJournal>> open(const std::string& path,
                                                      std::string_view subject);

  sim::TaskJournal& tasks() { return tasks_; }

  std::size_t found() const { return found_; }  // simulations that need not be repeated so far
  bool failed() const { return file_.failed(); }

 private:
  using Task = std::pair<std::size_t, std::size_t>;  // step, number
  StudyJournal(JournalFile&& file, std::map<Task, std::string> known);

  std::mutex lock_;  // tasks are done by many threads
  JournalFile file_;
  std::map<Task, std::string> known_;
  std::size_t found_ = 0;
  sim::TaskJournal tasks_;
};

}  // namespace slicewise::tools
