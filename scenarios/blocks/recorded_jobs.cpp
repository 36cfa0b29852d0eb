#include <fmt/format.h>

#include "slicewise/scenarios/job_trace.hpp"

#include "../fields/node_values.hpp"
#include "blocks.hpp"

// `trace` of `kind: TraceJobs`: which jobs of a log, and what they stand for.
namespace slicewise::scenarios {
namespace {

constexpr Word kSplits[] = {{"none", RecordedJobs::Split::None},
                            {"user", RecordedJobs::Split::User},
                            {"group", RecordedJobs::Split::Group},
                            {"project", RecordedJobs::Split::Project}};

void check_recorded(RecordedJobs& source, const Node& map, Reading& reading) {
  if (source.scale < kLeastScale) {
    reading.findings.add(Code::ValueRange, value_place(map, "scale"),
                         fmt::format("scale must be at least {:f}", kLeastScale));
  }
  if (source.most_gpus && *source.most_gpus < source.least_gpus) {
    reading.findings.add(Code::SettingConflict, value_place(map, "mostGpus"),
                         "mostGpus is below leastGpus", "no job asks for such a number");
  }
  for (const auto& rule : source.profile_rules) {
    if (const auto read = read_profile_rule(rule.value, rule.where); !read) {
      for (const Diagnostic& problem : read.error()) reading.findings.add(problem);
    }
  }
}

constexpr Field kRecordedFields[] = {
    field<&RecordedJobs::file>("file", "team.csv",
                               "Trace of jobs, CSV or binary, as `slicewise import` writes it; the "
                               "path is relative to the scenario file.")
        .needed()
        .positive(),
    field<&RecordedJobs::from>("from", "24h",
                               "Start of the window that is run, since the first job of the file. "
                               "The cluster is empty then."),
    field<&RecordedJobs::length>("length", "24h", "Length of that window, in the file's own time.")
        .positive()
        .otherwise("to the end of the file"),
    field<&RecordedJobs::scale>("scale", "2",
                                "At 2 the same jobs come in half of the time; each runs as long.")
        .up_to(1'000'000),
    field<&RecordedJobs::users>("users", "[ana, bo]", "Whose jobs; the others are left out.")
        .otherwise("everybody's"),
    field<&RecordedJobs::groups>("groups", "[vision]",
                                 "Virtual clusters, partitions or namespaces whose jobs are run.")
        .otherwise("all"),
    field<&RecordedJobs::least_gpus>("leastGpus", "2", "Jobs that ask for fewer are left out.")
        .between(1, 1'000'000),
    field<&RecordedJobs::most_gpus>("mostGpus", "1", "Jobs that ask for more are left out.")
        .between(1, 1'000'000)
        .otherwise("no limit"),
    field<&RecordedJobs::gpus_per_pod>("gpusPerPod", "8",
                                       "GPUs of a pod at most. A job with more is a gang of equal "
                                       "pods, placed together or not at all, which end together.")
        .between(1, 1'000'000)
        .otherwise("as many as the largest node without shared GPUs has; in options of plan and "
                   "compare where all nodes share, as many as the largest has, or 8"),
    field<&RecordedJobs::host_requests>("hostRequests", "false",
                                        "Whether pods ask for the CPU and memory that the trace "
                                        "has; else for those of podTemplate."),
    field<&RecordedJobs::split>("splitBy", "user",
                                "Workloads of their own for each user, group or project, in a "
                                "namespace of that name, for the bill.")
        .one_of(kSplits),
    field<&RecordedJobs::profile_rules>(
        "profileBy", "['name~=bert.*:bert-base-inference-seq-32/a100-40gb/b1']",
        "Profiles of the catalogue for what the trace does not say of the jobs' use; the first "
        "rule that fits counts. Also user, group, project and use=0.2..0.5; of PROFILE*3|OTHER one "
        "is drawn for each job.")
        .positive(),
    field<&RecordedJobs::profile_seed>("profileSeed", "7", "Seed of what profileBy draws."),
    field<&RecordedJobs::judge_by>(
        "judgeBy", "user",
        "slo holds for the jobs of each user, group or project by themselves: the worst of them "
        "decides. none: for all jobs together.")
        .one_of(kSplits),
};

}  // namespace

constinit const FieldList kRecordedJobs = block<RecordedJobs, &check_recorded>(kRecordedFields);

}  // namespace slicewise::scenarios
