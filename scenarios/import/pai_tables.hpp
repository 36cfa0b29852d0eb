#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "import_report.hpp"
#include "job_rows.hpp"

namespace slicewise::scenarios {

// What the tables of Alibaba's PAI beside the one of tasks say of them: its sensors (GPU use and
// memory of each instance, on which GPU), its jobs (users) and the tags of their groups.
class PaiTables {
 public:
  explicit PaiTables(ImportReport& report) : report_(report) {}

  // Reads the file if it is one of those tables, with or without its header; false when it is not.
  bool read(const SourceText& file);

  // Fills in what is known of a task of `row.gang`, called `row.work`.
  void complete(JobRow& row, const SourceLocation& where);

 private:
  struct Use {
    std::int64_t percent_milli = 0;  // thousandths of a percent of a GPU, of all samples
    std::int64_t samples = 0;
    std::int64_t most_memory = -1;  // bytes
    std::string gpu;                // "machine/gpu0"
    bool on_several = false;

    void seen_on(std::string name) {
      on_several = on_several || (!gpu.empty() && gpu != name);
      gpu = std::move(name);
    }
  };

  bool read_sensors(const SourceText& file, bool has_header);
  bool read_users(const SourceText& file, bool has_header);
  bool read_tags(const SourceText& file, bool has_header);

  struct Job {
    std::string user;
    std::string instance;  // by which the tags are found
  };
  struct Tags {
    std::string group;
    std::string workload;  // "bert": of some
  };

  ImportReport& report_;
  std::unordered_map<std::string, Use> uses_;   // by "job/task"
  std::unordered_map<std::string, Job> jobs_;   // by name
  std::unordered_map<std::string, Tags> tags_;  // by instance
};

}  // namespace slicewise::scenarios
