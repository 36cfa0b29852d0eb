#include <array>
#include <optional>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/jobs_apart.hpp"
#include "slicewise/scenarios/kai_part.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "lint_rules.hpp"

// What pods say of themselves to slicewise and to KAI, in annotations that Kubernetes does not
// read.
namespace slicewise::sim::lint {
namespace {

using scenarios::KeyValue;
using scenarios::QuantityError;

constexpr std::string_view kOurs = "slicewise.dev/";

template <auto parse, bool may_be_zero>
std::optional<QuantityError> mistake_in(std::string_view text) {
  const auto value = parse(text);
  if (!value) return value.error();
  if (may_be_zero || *value > std::decay_t<decltype(*value)>{}) return std::nullopt;
  return QuantityError{Code::ValueRange, fmt::format("\"{}\" is not more than zero", text), ""};
}

struct Figure {
  std::string_view key;
  std::optional<QuantityError> (*mistake)(std::string_view);
};
constexpr std::array kFigures = {
    Figure{scenarios::kMemoryAnnotation, mistake_in<scenarios::parse_bytes, true>},
    Figure{scenarios::kGpuTimeAnnotation, mistake_in<scenarios::parse_duration, false>},
    Figure{scenarios::kTrafficAnnotation, mistake_in<scenarios::parse_rate, false>},
    Figure{scenarios::kUtilAnnotation, mistake_in<scenarios::parse_percent, true>},
};
// Written by `slicewise export`.
constexpr std::string_view kKindAnnotation = "slicewise.dev/kind";

void judge_figure(const LintInput& input, const Figure& figure, const KeyValue& given) {
  const auto mistake = figure.mistake(given.value);
  if (mistake) input.tell(mistake->code, given.where, mistake->message, mistake->help);
}

void judge_annotation(const LintInput& input, const KeyValue& given) {
  for (const Figure& figure : kFigures) {
    if (given.key == figure.key) return judge_figure(input, figure, given);
  }
  if (given.key == scenarios::kProfileAnnotation) {
    if (input.catalogue.find_profile(given.value) != nullptr) return;
    return input.tell(Code::ProfileUnknown, given.where,
                      fmt::format("no profile \"{}\" in the catalogue", given.value.substr(0, 80)),
                      "slicewise get profiles");
  }
  if (given.key == kKindAnnotation || given.key == scenarios::kJobsAnnotation) return;
  std::vector<std::string_view> known{scenarios::kProfileAnnotation.substr(kOurs.size()),
                                      kKindAnnotation.substr(kOurs.size())};
  for (const Figure& figure : kFigures) known.push_back(figure.key.substr(kOurs.size()));
  const std::string wrong = given.key.substr(kOurs.size(), 80);
  const auto near = nearest_name(wrong, known);
  input.tell_as(Severity::Warning, Code::FieldUnknown, given.where,
                fmt::format("\"{}{}\" is no annotation that slicewise reads{}", kOurs, wrong,
                            near ? fmt::format("; did you mean \"{}{}\"?", kOurs, *near) : ""),
                near ? "" : fmt::format("known are {}", fmt::join(known, ", ")));
}

// Parts of a GPU as KAI's users ask for them. Its admission says the rest; under another scheduler
// nobody does.
void judge_kai(const LintInput& input, const scenarios::PodFile& pod) {
  const auto refuse = [&](const SourceLocation& where, const QuantityError& why) {
    input.tell(why.code, where, why.message, why.help);
  };
  const KeyValue* asked = nullptr;
  for (const KeyValue& given : pod.annotations) {
    const auto part = scenarios::kai_part(given.key, given.value);
    if (!part) continue;
    if (asked != nullptr) refuse(given.where, scenarios::kai_refuses_both());
    asked = &given;
    if (part->mistake) refuse(given.where, *part->mistake);
  }
  if (asked == nullptr) return;
  for (const scenarios::ContainerFile& container : pod.containers) {
    for (const scenarios::ResourceAmount& amount : container.amounts) {
      if (amount.resource != scenarios::kGpuResource) continue;
      refuse(amount.where, scenarios::kai_refuses_gpus());
    }
  }
  if (scenarios::is_placed_by_kai(pod)) return;
  input.tell(
      Code::GpuNotRequested, asked->where,
      fmt::format("{} is read by kai-scheduler: under {} the pod asks for no GPU", asked->key,
                  pod.scheduler.empty() ? "the default scheduler" : pod.scheduler.substr(0, 60)),
      "schedulerName: kai-scheduler, and the label kai.scheduler/queue");
}

// What Karpenter read before v1beta1 (karpenter.sh/v0.32/upgrading/v1beta1-migration).
void judge_renamed(const LintInput& input, const std::vector<KeyValue>& all,
                   const KeyValue& given) {
  const bool was_read =
      given.key == "karpenter.sh/do-not-evict" || given.key == "karpenter.sh/do-not-consolidate";
  if (!was_read || given.value != "true") return;
  if (std::ranges::find(all, "karpenter.sh/do-not-disrupt", &KeyValue::key) != all.end()) return;
  input.tell_as(
      Severity::Warning, Code::FieldUnknown, given.key_where,
      fmt::format("Karpenter ignores {} since v0.33: it takes these pods' nodes away", given.key),
      "karpenter.sh/do-not-disrupt: \"true\"");
}

}  // namespace

void lint_annotations(const LintInput& input) {
  for (const scenarios::PodFile& pod : input.files.pods) {
    judge_kai(input, pod);
    for (const auto* annotations : {&pod.annotations, &pod.object_annotations}) {
      for (const KeyValue& given : *annotations) {
        if (given.key.starts_with(kOurs)) judge_annotation(input, given);
        judge_renamed(input, *annotations, given);
      }
    }
  }
}

}  // namespace slicewise::sim::lint
