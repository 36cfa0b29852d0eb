#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/printable.hpp"
#include "slicewise/reports/export.hpp"

#include "../document/document_text.hpp"
#include "bundle_dra.hpp"
#include "guide.hpp"
#include "installer.hpp"
#include "pod_owner.hpp"

// A bundle as a folder of a Git repository that Argo CD or Flux keeps in place, with no script to
// run. Field by field against the CRDs of Argo CD 3.6 (manifests/crds), of Flux's source-controller
// and kustomize-controller 1.10 (config/crd/bases) and its HelmRelease v2.
namespace slicewise::reports {
namespace {

using nlohmann::json;

constexpr std::string_view kFolder = "slicewise";  // of the repository
constexpr std::string_view kPluginFolder = "device-plugin";
constexpr std::string_view kNodesFolder = "nodes";
constexpr std::string_view kFluxNamespace = "flux-system";

struct Rollout {
  Installer plugin;
  ExportFiles files;  // that the controller reads or a person does
  bool starts_nodes = false;
  std::string repository;
  bool names_cluster = false;
};

// What of a bundle no controller applies: scripts, their list, and who makes node groups.
bool stays_out(const ExportFile& file) {
  constexpr std::array<std::string_view, 4> kNames = {"apply.sh", "rollback.sh", "SHA256SUMS",
                                                      "eksctl.yaml"};
  return std::ranges::find(kNames, file.path) != kNames.end() || file.path.ends_with(".toml");
}

Expected<Rollout> rollout_of(const scenarios::Scenario& scenario,
                             const models::Catalogue& catalogue, const ExportOptions& options) {
  if (needs_dra(scenario)) {
    return failure(
        Code::ExportUnfit, scenario.where,
        "a bundle for NVIDIA's DRA driver has charts that are not written for a controller",
        "slicewise export --to bundle");
  }
  Expected<ExportFiles> bundle = render_bundle(scenario, catalogue, options);
  if (!bundle) return tl::unexpected(bundle.error());
  Rollout out;
  out.plugin = installer_of(scenario, catalogue, options);
  out.starts_nodes = scenario.provisioner.kind == scenarios::Provisioner::Kind::Karpenter;
  out.repository = options.repository.empty() ? "${REPOSITORY_URL}" : options.repository;
  out.names_cluster = !options.cluster.empty();
  for (ExportFile& file : *bundle) {
    if (stays_out(file)) continue;
    if (file.path == "karpenter.yaml") {
      if (!out.starts_nodes) continue;
      file.path = fmt::format("{}/{}", kNodesFolder, file.path);
    } else if (file.path == out.plugin.values) {
      file.path = fmt::format("{}/{}", kPluginFolder, file.path);
    }
    out.files.push_back(std::move(file));
  }
  if (out.plugin.is_there && !out.starts_nodes) {
    return failure(
        Code::ExportUnfit, scenario.where,
        "there is nothing to keep in place: the release of the GPU Operator is there, and node "
        "groups are made elsewhere",
        "slicewise export --to bundle --gpu-operator has the values to merge into that release");
  }
  if (out.plugin.values.empty() && !out.starts_nodes) {
    return failure(Code::ExportUnfit, scenario.where,
                   "there is nothing in the cluster to keep in place: the image of these node "
                   "groups brings the device plugin and its settings",
                   "use --to eksctl or terraform, which make the node groups, and --to "
                   "kustomize for the pods");
  }
  return out;
}

// The head of the one file that is applied by hand.
std::string gitops_title(std::string_view controller, std::string_view file,
                         const scenarios::Scenario& scenario, const Rollout& rollout) {
  std::string out =
      comment(fmt::format("{} keeps scenario variant {} in place ({}), written by slicewise.",
                          controller, yaml_scalar(scenario.name), file));
  out +=
      comment(fmt::format("Commit this directory as {}/ of your repository, then once:", kFolder));
  out += commented(fmt::format("  kubectl apply -f {}\n", file));
  std::string fill;
  if (rollout.repository.starts_with('$')) {
    fill += fmt::format(
        "  sed -i 's|${{REPOSITORY_URL}}|https://git.example.com/platform.git|' {}\n", file);
  }
  if (rollout.starts_nodes && !rollout.names_cluster) {
    fill += fmt::format("  sed -i 's|{}|my-cluster|' {}/karpenter.yaml\n", kClusterPlaceholder,
                        kNodesFolder);
  }
  if (!fill.empty()) {
    out += comment("Before the commit fill in what --repository and --cluster would have:");
    out += commented(fill);
  }
  if (!rollout.starts_nodes) {
    out += comment(
        "Node groups are not made by it: --to terraform or eksctl writes them, with the labels "
        "that choose the plugin's config.");
  }
  if (has_mig(scenario)) {
    out += comment(
        "MIG layouts of nodes that run: drain and label each as mig-config.yaml says; new nodes "
        "come with the label.");
  }
  if (rollout.plugin.is_there) {
    out += comment(
        fmt::format("The GPU Operator is there: merge {}/{} into the values of its release.",
                    kPluginFolder, rollout.plugin.values));
  }
  out += comment(fmt::format(
      "The pods: pods/ is a component for the kustomization of your own workloads, in whichever "
      "Application or Kustomization they are (components: [../{}/pods]). It patches them, and "
      "brings what they need beside (PriorityClasses, ScaledObjects).",
      kFolder));
  out +=
      comment("VERIFY.md says what to expect. Roll back: revert the commit; to take it all away:");
  return out + commented(fmt::format("  kubectl delete -f {}\n", file));
}

json application(std::string_view name, std::string_view space, json sources, bool prunes) {
  json automated = {{"selfHeal", true}};
  if (prunes) automated["prune"] = true;
  json spec = {{"project", "default"},
               {"destination",
                {{"server", "https://kubernetes.default.svc"}, {"namespace", std::string(space)}}},
               {"syncPolicy",
                {{"automated", std::move(automated)},
                 {"syncOptions", json::array({"CreateNamespace=true"})}}}};
  const char* key = sources.is_array() ? "sources" : "source";
  spec[key] = std::move(sources);
  return kubernetes_object(
      "argoproj.io/v1alpha1", "Application",
      {{"name", fmt::format("{}-{}", kFolder, name)},
       {"namespace", "argocd"},
       // What it made goes with it.
       {"finalizers", json::array({"resources-finalizer.argocd.argoproj.io"})}},
      std::move(spec));
}

json plugin_application(const Rollout& rollout) {
  const Installer& plugin = rollout.plugin;
  const std::string values = fmt::format("$values/{}/{}/{}", kFolder, kPluginFolder, plugin.values);
  const json chart = {
      {"repoURL", plugin.url},
      {"chart", plugin.chart},
      {"targetRevision", plugin.version},
      {"helm", {{"releaseName", plugin.release}, {"valueFiles", json::array({values})}}}};
  const json repository = {
      {"repoURL", rollout.repository}, {"targetRevision", "HEAD"}, {"ref", "values"}};
  return application(kPluginFolder, plugin.namespace_name, json::array({chart, repository}), true);
}

json nodes_application(const Rollout& rollout) {
  return application(kNodesFolder, "kube-system",
                     {{"repoURL", rollout.repository},
                      {"targetRevision", "HEAD"},
                      {"path", fmt::format("{}/{}", kFolder, kNodesFolder)}},
                     false);
}

// As the CRD of GitRepository has it.
Diagnostics refused_url(const std::string& url) {
  constexpr std::array<std::string_view, 3> kSchemes = {"https://", "http://", "ssh://"};
  if (url.empty() || std::ranges::any_of(kSchemes, [&](auto s) { return url.starts_with(s); })) {
    return {};
  }
  const std::size_t colon = url.find(':');
  std::string as_ssh = "ssh://" + url;
  if (colon != std::string::npos) as_ssh[colon + 6] = '/';
  return {make_diagnostic(Code::ExportUnfit, {},
                          fmt::format("Flux takes no repository of the form {}", printable(url)),
                          fmt::format("write {}", printable(as_ssh)))};
}

json flux_object(std::string_view api, std::string_view kind, std::string_view name, json spec) {
  return kubernetes_object(api, kind, {{"name", name}, {"namespace", kFluxNamespace}},
                           std::move(spec));
}

json flux_kustomization(std::string_view folder, bool prunes) {
  return flux_object("kustomize.toolkit.fluxcd.io/v1", "Kustomization",
                     fmt::format("{}-{}", kFolder, folder),
                     {{"interval", "10m"},
                      {"path", fmt::format("./{}/{}", kFolder, folder)},
                      {"prune", prunes},
                      {"sourceRef", {{"kind", "GitRepository"}, {"name", kFolder}}}});
}

// A HelmRelease takes values from a ConfigMap, which kustomize makes of the file.
void add_release(const Installer& plugin, ExportFiles& files) {
  const std::string folder = std::string(kPluginFolder) + "/";
  const std::string values = fmt::format("{}-{}-values", kFolder, kPluginFolder);
  const json repository = flux_object("source.toolkit.fluxcd.io/v1", "HelmRepository",
                                      plugin.repository, {{"interval", "1h"}, {"url", plugin.url}});
  const json release =
      flux_object("helm.toolkit.fluxcd.io/v2", "HelmRelease", plugin.release,
                  {{"interval", "1h"},
                   {"releaseName", plugin.release},
                   {"targetNamespace", plugin.namespace_name},
                   {"install", {{"createNamespace", true}}},
                   {"chart",
                    {{"spec",
                      {{"chart", plugin.chart},
                       {"version", plugin.version},
                       {"sourceRef", {{"kind", "HelmRepository"}, {"name", plugin.repository}}}}}}},
                   {"valuesFrom", json::array({{{"kind", "ConfigMap"}, {"name", values}}})}});
  files.push_back({folder + "release.yaml", yaml_text(repository) + "---\n" + yaml_text(release)});
  const json generator = {
      {"name", values},
      {"files", json::array({"values.yaml=" + plugin.values})},
      {"options",
       {{"disableNameSuffixHash", true}, {"labels", {{"reconcile.fluxcd.io/watch", "Enabled"}}}}}};
  files.push_back(
      {folder + "kustomization.yaml",
       comment("The values keep their name, and a release is upgraded when they change: Flux 2.7 "
               "and newer watch ConfigMaps of this label, older ones look once an hour.") +
           yaml_text({{"apiVersion", "kustomize.config.k8s.io/v1beta1"},
                      {"kind", "Kustomization"},
                      {"namespace", kFluxNamespace},
                      {"resources", json::array({"release.yaml"})},
                      {"configMapGenerator", json::array({generator})}})});
}

}  // namespace

Expected<ExportFiles> render_argocd(const scenarios::Scenario& scenario,
                                    const models::Catalogue& catalogue,
                                    const ExportOptions& options) {
  Expected<Rollout> rollout = rollout_of(scenario, catalogue, options);
  if (!rollout) return tl::unexpected(rollout.error());
  std::string text = gitops_title("Argo CD", "argocd.yaml", scenario, *rollout);
  if (keeps_release(rollout->plugin)) text += "---\n" + yaml_text(plugin_application(*rollout));
  if (rollout->starts_nodes) {
    text +=
        "---\n" +
        comment("Not pruned: a NodePool that leaves the repository would take its nodes along.") +
        yaml_text(nodes_application(*rollout));
  }
  ExportFiles files = {{"argocd.yaml", std::move(text)}};
  std::ranges::move(rollout->files, std::back_inserter(files));
  return files;
}

Expected<ExportFiles> render_flux(const scenarios::Scenario& scenario,
                                  const models::Catalogue& catalogue,
                                  const ExportOptions& options) {
  if (Diagnostics found = refused_url(options.repository); !found.empty()) {
    return tl::unexpected(std::move(found));
  }
  Expected<Rollout> rollout = rollout_of(scenario, catalogue, options);
  if (!rollout) return tl::unexpected(rollout.error());
  std::string text = gitops_title("Flux", "flux.yaml", scenario, *rollout);
  text += comment("A private repository needs a Secret too (spec.secretRef of the GitRepository).");
  text += "---\n" +
          yaml_text(flux_object(
              "source.toolkit.fluxcd.io/v1", "GitRepository", kFolder,
              {{"interval", "5m"}, {"url", rollout->repository}, {"ref", {{"branch", "main"}}}}));
  ExportFiles files = {{"flux.yaml", {}}};
  if (keeps_release(rollout->plugin)) {
    text += "---\n" + yaml_text(flux_kustomization(kPluginFolder, true));
    add_release(rollout->plugin, files);
  }
  if (rollout->starts_nodes) {
    text +=
        "---\n" +
        comment("Not pruned: a NodePool that leaves the repository would take its nodes along.") +
        yaml_text(flux_kustomization(kNodesFolder, false));
  }
  files.front().text = std::move(text);
  std::ranges::move(rollout->files, std::back_inserter(files));
  return files;
}

}  // namespace slicewise::reports
