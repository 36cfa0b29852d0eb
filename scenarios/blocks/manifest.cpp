#include <fmt/format.h>

#include "../fields/node_values.hpp"
#include "../text/kubernetes_names.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

constexpr Field kManifestFields[] = {
    field<&Manifest::kind>("kind", "PyTorchJob",
                           "Kind of the object that makes the pods; with its group where "
                           "Kubernetes has one of that name: Job.batch.volcano.sh.")
        .positive()
        .otherwise("Deployment, Job or StatefulSet, by the workload's kind"),
    field<&Manifest::name>("name", "finetune", "Name of that object.")
        .positive()
        .otherwise("the workload's"),
    field<&Manifest::containers>(
        "containers", "[main, proxy]",
        "Its containers, the one that asks for the GPU first: patches find it by its name. Of "
        "several they leave CPU and memory to the manifest, since podTemplate has the sum.")
        .as(FieldType::Names)
        .otherwise("one, named like the workload"),
    field<&Manifest::old_selectors>("oldSelectors", "[eks.amazonaws.com/nodegroup]",
                                    "Labels that its nodeSelector names and the pods need no more, "
                                    "as `plan` writes them: patches take them out."),
    field<&Manifest::old_resources>(
        "oldResources", "[nvidia.com/gpu]",
        "Resources that its requests or limits name and the pods ask for no more, likewise."),
    field<&Manifest::old_annotations>("oldAnnotations", "[gpu-fraction]",
                                      "Annotations of its pods that they need no more, likewise: "
                                      "KAI's, with its scheduler and queue."),
    field<&Manifest::old_claim>("oldClaim", "true",
                                "Its pods name a claim of DRA and need none any more, likewise."),
    field<&Manifest::scaled_by>(
        "scaledBy", "HorizontalPodAutoscaler/asr",
        "What scales it in the cluster: `export --to keda` takes its place.")
        .positive(),
};

// They stand in scripts and patches: nothing but what Kubernetes takes.
void check_manifest(Manifest& manifest, const Node& map, Reading& reading) {
  const auto refuse = [&](std::string_view key, std::string_view value, std::string_view what) {
    reading.findings.add(Code::NameInvalid, value_place(map, key),
                         fmt::format("\"{}\" is not a {} that Kubernetes accepts", value, what));
  };
  if (!manifest.kind.empty() && !is_kind(manifest.kind)) refuse("kind", manifest.kind, "kind");
  if (!manifest.name.empty() && !is_subdomain(manifest.name)) refuse("name", manifest.name, "name");
  const std::string_view by = manifest.scaled_by;
  const std::size_t slash = by.find('/');
  const std::string_view scaler = by.substr(0, slash);
  const bool is_known = scaler == "HorizontalPodAutoscaler" || scaler == "ScaledObject";
  if (!by.empty() && (slash == by.npos || !is_known || !is_subdomain(by.substr(slash + 1)))) {
    refuse("scaledBy", by, "HorizontalPodAutoscaler/NAME or ScaledObject/NAME");
  }
  for (const std::string& key : manifest.old_selectors) {
    if (!is_label_key(key)) refuse("oldSelectors", key, "label");
  }
  for (const std::string& key : manifest.old_resources) {
    if (!is_label_key(key)) refuse("oldResources", key, "resource");
  }
  for (const std::string& key : manifest.old_annotations) {
    if (!is_label_key(key)) refuse("oldAnnotations", key, "annotation");
  }
}

}  // namespace

constinit const FieldList kManifest = block<Manifest, &check_manifest>(kManifestFields);

}  // namespace slicewise::scenarios
