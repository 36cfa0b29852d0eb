#include "k8s.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "manifest_workload.hpp"
#include "node_groups.hpp"
#include "plugin_configs.hpp"

namespace slicewise::scenarios {
namespace {

class ManifestImporter {
 public:
  explicit ManifestImporter(const ImportOptions& options)
      : options_(options), report_(options.skip_bad) {}

  Expected<Imported> import(std::span<const SourceText> files) {
    for (const SourceText& file : files) {
      for (const NodePtr& document : read_documents(file, problems_)) add(document);
    }
    if (!problems_.empty()) return tl::unexpected(std::move(problems_));
    if (draft_.workloads.empty()) return no_workload(files.front());
    draft_.name =
        dns_name(options_.name.empty() ? draft_.workloads.front().name : options_.name, "imported");
    draft_.made_by = "import k8s";
    draft_.region = groups_.region();
    draft_.pools = groups_.pools(plugin_, report_);
    draft_.provisioner = groups_.provisioner();
    share_assumed_pool();
    complete(draft_, options_.replicas);
    keep_selectors_that_match();
    WrittenDraft text = written(draft_);
    const auto workloads = static_cast<std::int64_t>(draft_.workloads.size());
    if (!text.missing.empty()) report_.note(text.missing, {});
    return Imported{ScenarioText{std::move(text.yaml)}, report_.take_log(workloads)};
  }

 private:
  void add(const NodePtr& document) {
    const std::string kind = text_below(document.get(), {"kind"});
    const Node* items = document->find("items");
    if (items != nullptr && items->kind == Node::Kind::List &&
        (kind.empty() || kind.ends_with("List"))) {
      for (const NodePtr& item : items->items) add_object(item);
      return;
    }
    if (document->kind == Node::Kind::List) {
      for (const NodePtr& item : document->items) add_object(item);
      return;
    }
    add_object(document);
  }

  void add_object(const NodePtr& object) {
    report_.read();
    const std::string kind = text_below(object.get(), {"kind"});
    if (has_pods(kind)) {
      if (auto workload = manifest_workload(*object, report_)) {
        draft_.workloads.push_back(std::move(*workload));
      }
      return;
    }
    if (groups_.add(object, report_) || plugin_.add(object, problems_)) return;
    report_.skipped(kind.empty()
                        ? "documents that are no object of Kubernetes and no plugin settings"
                        : fmt::format("objects of kind {}", kind.substr(0, 60)),
                    [&] { return object->where; });
  }

  // Without workloads there is nothing to simulate: says what was found instead.
  Expected<Imported> no_workload(const SourceText& file) {
    const ImportLog log = report_.take_log(0);
    std::string found;
    for (const ImportRemark& remark : log.remarks) {
      found += fmt::format("{}{} {}", found.empty() ? ": " : ", ", remark.count, remark.what);
    }
    return not_the_format(
        {file.name, 1, 1}, "no workload that asks for a GPU" + found,
        "add Deployments, StatefulSets, Jobs or Pods, in the same file or with another "
        "-f: kubectl get deploy,sts,jobs -A -o yaml");
  }

  // Plugin settings without node pools: the nodes are assumed, their sharing is not.
  void share_assumed_pool() {
    if (!draft_.pools.empty()) return;
    const std::string sharing = plugin_.sharing_for("", "");
    if (sharing.empty()) return;
    const DraftWorkload& first = draft_.workloads.front();
    DraftPool pool = assumed_pool("nvidia.com/gpu", first.gpus, {});
    pool.sharing = sharing;
    pool.sharing_is_assumed = false;
    draft_.pools.push_back(std::move(pool));
  }

  void keep_selectors_that_match() {
    for (DraftWorkload& workload : draft_.workloads) {
      std::erase_if(workload.node_selector, [&](const auto& label) {
        const bool is_known = std::ranges::any_of(draft_.pools, [&](const DraftPool& pool) {
          return std::ranges::find(pool.labels, label) != pool.labels.end();
        });
        if (!is_known) {
          report_.guessed(fmt::format("node selectors that no node pool here has, left out: {}",
                                      label.first.substr(0, 60)),
                          [] { return SourceLocation{}; });
        }
        return !is_known;
      });
    }
  }

  const ImportOptions& options_;
  ImportReport report_;
  Diagnostics problems_;
  ScenarioDraft draft_;
  NodeGroups groups_;
  PluginConfigs plugin_;
};

}  // namespace

Expected<Imported> import_k8s(std::span<const SourceText> files, const ImportOptions& options) {
  return ManifestImporter(options).import(files);
}

}  // namespace slicewise::scenarios
