#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../text/scalars.hpp"
#include "manifest_reader.hpp"
#include "pod_sets.hpp"

// Kubeflow's TrainJobs, whose pods are those of a runtime under what the job says.
// Source: kubeflow/trainer, pkg/apis/trainer/v1alpha1, pkg/runtime/framework/plugins/jobset.
namespace slicewise::scenarios::manifests {
namespace {

constexpr std::string_view kTrainJob = "TrainJob";
constexpr std::string_view kStep = "trainer.kubeflow.org/trainjob-ancestor-step";
constexpr std::string_view kTrainer = "node";  // the container that the job's trainer is

constexpr PodSet kOfRuntime{.kind = kTrainJob, .purpose = PodPurpose::Ends};

// By the job's runtimeRef; nullptr when it is not here.
const Node* runtime_of(const Context& context, const Node& job) {
  const Node* wanted = node_below(&job, {"spec", "runtimeRef"});
  std::string kind = text_below(wanted, {"kind"});
  if (kind.empty()) kind = "ClusterTrainingRuntime";
  const auto found = std::ranges::find_if(context.runtimes, [&](const NodePtr& runtime) {
    const auto space_of = [](const Node& object) {
      return std::string(namespace_of(text_below(&object, {"metadata", "namespace"})));
    };
    return text_below(runtime.get(), {"kind"}) == kind &&
           text_below(runtime.get(), {"metadata", "name"}) == text_below(wanted, {"name"}) &&
           (kind == "ClusterTrainingRuntime" || space_of(*runtime) == space_of(job));
  });
  return found == context.runtimes.end() ? nullptr : found->get();
}

// Of its replicated jobs the one that trains.
const Node* template_of(const Node& runtime) {
  const Node* jobs = node_below(&runtime, {"spec", "template", "spec", "replicatedJobs"});
  for (const Node* job : items_of(jobs)) {
    const Node* one = node_below(job, {"template"});
    if (text_below(one, {"metadata", "labels", kStep}) == "trainer") {
      return node_below(one, {"spec", "template"});
    }
  }
  return nullptr;
}

// What the trainer of the job asks for, or does, takes the place of the runtime's.
void put_over(ContainerFile own, PodFile& pod) {
  auto trainer = std::ranges::find(pod.containers, kTrainer, &ContainerFile::name);
  if (trainer == pod.containers.end()) return;
  if (!own.amounts.empty()) {
    trainer->amounts = std::move(own.amounts);
    trainer->cpu_limit = own.cpu_limit;
  }
  if (!own.command.empty()) trainer->command = std::move(own.command);
  if (!own.image.empty()) trainer->image = std::move(own.image);
  trainer->env.insert(trainer->env.begin(), own.env.begin(), own.env.end());
}

void read_by_runtime(Context& context, const Node& job, const Node& runtime, const Node& pods) {
  std::optional<PodFile> own;
  const std::size_t known = context.files.pods.size();
  const bool has_trainer = is_map(node_below(&job, {"spec", "trainer"}));
  if (has_trainer) read_pods(context, job, kTrainJob);
  if (context.files.pods.size() > known) {
    own = std::move(context.files.pods.back());
    context.files.pods.pop_back();
  }
  const Located<std::string> name = located_below(&job, {"metadata", "name"});
  PodFile pod;
  pod.kind = kTrainJob;
  pod.object = pod.name = name.value;
  pod.where = name.where.line > 0 ? name.where : job.where;
  pod.object_where = job.where;
  pod.purpose = PodPurpose::Ends;
  pod.works_together = true;
  const auto nodes = whole_of(text_below(&job, {"spec", "trainer", "numNodes"}));
  const auto usual = whole_of(text_below(&runtime, {"spec", "mlPolicy", "numNodes"}));
  constexpr std::int64_t kMost = 1'000'000;
  pod.copies = pod.completions =
      std::clamp<std::int64_t>(nodes.value_or(usual.value_or(1)), 0, kMost);
  read_pod(context, job, kOfRuntime, pods, std::move(pod));
  if (context.files.pods.size() == known) return;
  if (own && !own->containers.empty()) {
    put_over(std::move(own->containers.front()), context.files.pods.back());
  }
  for (const std::string_view key : {"podTemplateOverrides", "runtimePatches"}) {
    const Node* given = node_below(&job, {"spec", key});
    if (given == nullptr) continue;
    context.files.not_simulated.push_back(
        {"what TrainJobs change of their runtime's pods (" + std::string(key) + ")", given->where});
  }
}

}  // namespace

bool keep_train_job(Context& context, const NodePtr& object, std::string_view kind) {
  if (!text_below(object.get(), {"apiVersion"}).starts_with("trainer.kubeflow.org/")) return false;
  if (kind == kTrainJob) {
    context.train_jobs.emplace_back(object, context.source, context.files.pods.size());
  } else if (kind == "ClusterTrainingRuntime" || kind == "TrainingRuntime") {
    context.runtimes.push_back(object);
  } else {
    return false;
  }
  return true;
}

void read_train_jobs(Context& context) {
  std::vector<PodFile>& all = context.files.pods;
  std::ptrdiff_t placed = 0;
  for (const auto& [job, source, position] : context.train_jobs) {
    context.source = source;
    const Node* runtime = runtime_of(context, *job);
    const Node* pods = runtime == nullptr ? nullptr : template_of(*runtime);
    const std::size_t known = all.size();
    pods == nullptr ? static_cast<void>(read_pods(context, *job, kTrainJob))
                    : read_by_runtime(context, *job, *runtime, *pods);
    if (all.size() == known) continue;
    all.back().lacks_template = pods == nullptr;
    const auto place = all.begin() + static_cast<std::ptrdiff_t>(position) + placed++;
    std::rotate(place, all.end() - 1, all.end());
  }
}

}  // namespace slicewise::scenarios::manifests
