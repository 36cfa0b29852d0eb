#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "slicewise/diagnostics.hpp"

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

}  // namespace slicewise::tools
