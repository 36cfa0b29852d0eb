#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include "slicewise/diagnostics.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/task_journal.hpp"

// A file of simulations that are over: a line that says of what, then one line each, on disk before
// the next one begins. A last line without its end, of a run that was killed while it wrote, is
// dropped.
namespace slicewise::tools {

class JournalFile {
 public:
  // `first`: all that the lines depend on but what they say themselves. `take` gets the others;
  // false: not a line of such a journal. FILE_UNREADABLE; PLAN_STALE for a journal with another
  // first line, a damaged one, or one that another run has open.
  static Expected<JournalFile> open(const std::string& path, const std::string& first,
                                    const std::function<bool(std::string_view line)>& take);

  JournalFile(JournalFile&& other) noexcept;
  JournalFile& operator=(JournalFile&&) = delete;
  ~JournalFile();

  void write(const std::string& line);     // no further ones once one could not be written
  bool failed() const { return failed_; }  // something could not be written

 private:
  explicit JournalFile(int file) : file_(file) {}

  int file_ = -1;
  bool failed_ = false;
};

// What `slicewise compare --journal FILE` and its like have simulated: the tasks of one command, as
// bytes that this build alone can read. The command again takes them up; one that asks for
// something else is refused.
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

// What `slicewise plan --journal FILE` has simulated. A probe says of what it is: other flags, and
// any number of ranks, find it again.
class PlanJournal {
 public:
  // `subject`: all that an answer depends on but the probe itself, in one line. As
  // JournalFile::open().
  static Expected<PlanJournal> open(const std::string& path, std::string_view subject);

  // As a plan uses it. REQUIRES: the journal outlives what this returns.
  sim::ProbeJournal hooks();

  std::size_t found() const { return found_; }  // simulations that need not be repeated so far
  bool failed() const { return file_.failed(); }

 private:
  PlanJournal(JournalFile&& file, std::map<std::string, sim::PlanAnswer> known)
      : file_(std::move(file)), known_(std::move(known)) {}

  JournalFile file_;
  std::map<std::string, sim::PlanAnswer> known_;
  std::size_t found_ = 0;
};

}  // namespace slicewise::tools
