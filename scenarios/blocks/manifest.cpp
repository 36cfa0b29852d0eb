#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

constexpr Field kManifestFields[] = {
    field<&Manifest::kind>("kind", "PyTorchJob", "Kind of the object that makes the pods.")
        .positive()
        .otherwise("Deployment, Job or StatefulSet, by the workload's kind"),
    field<&Manifest::name>("name", "finetune", "Name of that object.")
        .positive()
        .otherwise("the workload's"),
    field<&Manifest::containers>(
        "containers", "[main, proxy]",
        "Its containers, the one that asks for the GPU first: patches find it by its name. Of "
        "several they leave CPU and memory to the manifest, since podTemplate has the sum.")
        .otherwise("one, named like the workload"),
    field<&Manifest::old_selectors>(
        "oldSelectors", "[eks.amazonaws.com/nodegroup]",
        "Labels that its nodeSelector names and the pods need no more, as `plan` writes them: "
        "patches take them out."),
    field<&Manifest::old_resources>(
        "oldResources", "[nvidia.com/gpu]",
        "Resources that its requests or limits name and the pods ask for no more, likewise."),
};

}  // namespace

constinit const FieldList kManifest = block<Manifest>(kManifestFields);

}  // namespace slicewise::scenarios
