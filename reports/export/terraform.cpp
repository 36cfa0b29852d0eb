#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/node_requirements.hpp"

#include "../document/document_text.hpp"
#include "guide.hpp"
#include "installer.hpp"
#include "karpenter.hpp"
#include "node_settings.hpp"

// Argument by argument against the resources aws_eks_node_group, aws_launch_template and
// aws_autoscaling_group_tag of hashicorp/aws 6 (website/docs/r), helm_release of hashicorp/helm 3
// and kubectl_manifest of alekc/kubectl 2.
namespace slicewise::reports {
namespace {

using scenarios::CapacityType;
using scenarios::NodePool;
using scenarios::Provisioner;

constexpr std::string_view kVariable = "${var.cluster_name}";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// What opens a template in HCL stands for itself, but for the cluster's name.
std::string template_text(std::string text) {
  text = replaced(replaced(std::move(text), "${", "$${"), "%{", "%%{");
  return replaced(std::move(text), "$" + std::string(kClusterPlaceholder), kVariable);
}

std::string hcl_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return template_text(out) + '"';
}

std::string heredoc(std::string_view word, const std::string& text) {
  return fmt::format("<<-{0}\n{1}  {0}", word, indented(template_text(text), 4));
}

// Arguments of a block in the layout of `terraform fmt`: their signs of equality are in one column.
class Arguments {
 public:
  void add(std::string name, std::string value) {
    lines_.emplace_back(std::move(name), std::move(value));
  }

  std::string text(int indent) const {
    std::size_t widest = 0;
    for (const auto& [name, value] : lines_) widest = std::max(widest, name.size());
    std::string out;
    for (const auto& [name, value] : lines_) {
      out += fmt::format("{:{}}{:<{}} = {}\n", "", indent, name, widest, value);
    }
    return out;
  }

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

using Values = std::vector<std::pair<std::string, std::string>>;

std::string block(std::string_view head, const Values& values, int indent = 2) {
  Arguments arguments;
  for (const auto& [name, value] : values) arguments.add(name, value);
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  return fmt::format("\n{0}{1} {{\n{2}{0}}}\n", margin, head, arguments.text(indent + 2));
}

// Of a label of Terraform, which has no dots.
std::string label_of(std::string_view kind, std::string name) {
  std::ranges::replace(name, '.', '_');
  return fmt::format("{}_{}", kind, name);
}

std::string effect_word(std::string_view effect) {
  if (effect == "NoExecute") return "NO_EXECUTE";
  return effect == "PreferNoSchedule" ? "PREFER_NO_SCHEDULE" : "NO_SCHEDULE";
}

class NodeGroups {
 public:
  NodeGroups(const scenarios::Scenario& scenario, const ExportOptions& options)
      : scenario_(scenario), options_(options) {}

  std::string text(const std::vector<PoolNodes>& nodes) const {
    std::string out;
    for (const PoolNodes& one : nodes) out += launch_template(one) + group(one) + tags(one);
    return out;
  }

 private:
  bool is_bottlerocket() const { return options_.image == NodeImage::Bottlerocket; }

  bool is_scaled(const NodePool& pool) const {
    return scenario_.provisioner.kind == Provisioner::Kind::ClusterAutoscaler && pool.most_nodes;
  }

  // A node group has no argument of its own for user data and reservations.
  bool has_template(const NodePool& pool) const {
    return is_bottlerocket() || is_reserved(pool.capacity_type);
  }

  std::string launch_template(const PoolNodes& nodes) const {
    const NodePool& pool = *nodes.target.pool;
    if (!has_template(pool)) return {};
    std::string out = fmt::format("\nresource \"aws_launch_template\" \"{}\" {{\n",
                                  label_of("pool", pool.name.value));
    out += fmt::format("  name_prefix = {}\n", hcl_string(pool.name.value + "-"));
    if (is_bottlerocket()) {
      out += fmt::format("\n  user_data = base64encode({})\n",
                         heredoc("TOML", bottlerocket_settings(nodes.target)) + "\n  ");
    }
    const std::string size = std::to_string(kImageVolumeGib);
    out += fmt::format(
        "\n  block_device_mappings {{\n    device_name = {}\n{}  }}\n",
        hcl_string(is_bottlerocket() ? "/dev/xvdb" : "/dev/xvda"),
        block("ebs",
              {{"volume_size", size}, {"volume_type", hcl_string("gp3")}, {"encrypted", "true"}},
              4));
    if (pool.capacity_type == CapacityType::CapacityBlock) {
      out += fmt::format("\n  instance_type = {}\n", hcl_string(nodes.target.instance->name));
      out += block("instance_market_options", {{"market_type", hcl_string("capacity-block")}});
      out += "\n  capacity_reservation_specification {\n" +
             block("capacity_reservation_target",
                   {{"capacity_reservation_id", "var." + label_of("block", pool.name.value)}}, 4)
                 .substr(1) +
             "  }\n";
    } else if (pool.capacity_type == CapacityType::Reserved) {
      out += block("capacity_reservation_specification",
                   {{"capacity_reservation_preference", hcl_string("open")}});
    }
    return out + "}\n";
  }

  std::string group(const PoolNodes& nodes) const {
    const NodePool& pool = *nodes.target.pool;
    const std::string label = label_of("pool", pool.name.value);
    Arguments arguments;
    arguments.add("cluster_name", "var.cluster_name");
    arguments.add("node_group_name", hcl_string(pool.name.value));
    arguments.add("node_role_arn", "var.node_role_arn");
    arguments.add("subnet_ids", "var.subnet_ids");
    arguments.add("ami_type",
                  hcl_string(fmt::format(
                      "{}_{}_NVIDIA", is_bottlerocket() ? "BOTTLEROCKET" : "AL2023",
                      nodes.target.instance->architecture == "arm64" ? "ARM_64" : "x86_64")));
    const bool of_block = pool.capacity_type == CapacityType::CapacityBlock;
    arguments.add("capacity_type",
                  hcl_string(of_block                                   ? "CAPACITY_BLOCK"
                             : pool.capacity_type == CapacityType::Spot ? "SPOT"
                                                                        : "ON_DEMAND"));
    if (!of_block)
      arguments.add("instance_types", fmt::format("[{}]", hcl_string(nodes.target.instance->name)));
    if (!has_template(pool)) arguments.add("disk_size", std::to_string(kImageVolumeGib));
    std::string out =
        fmt::format("\n{}resource \"aws_eks_node_group\" \"{}\" {{\n", remarks(pool), label) +
        arguments.text(2);
    Values labels;
    for (const auto& [key, value] : node_labels(nodes))
      labels.emplace_back(hcl_string(key), hcl_string(value));
    if (is_scaled(pool)) {
      labels.emplace_back(hcl_string(std::string(scenarios::kAcceleratorLabel)),
                          hcl_string(accelerator_of(nodes.target)));
      std::ranges::sort(labels);
    }
    if (!labels.empty()) out += block("labels =", labels);
    const int most = std::max(1, pool.most_nodes.value_or(pool.nodes));
    out += block("scaling_config", {{"desired_size", std::to_string(pool.nodes)},
                                    {"min_size", std::to_string(pool.nodes)},
                                    {"max_size", std::to_string(most)}});
    for (const scenarios::Taint& taint : pool.taints) {
      Values values = {{"key", hcl_string(taint.key)}};
      if (!taint.value.empty()) values.emplace_back("value", hcl_string(taint.value));
      values.emplace_back("effect", hcl_string(effect_word(taint.effect)));
      out += block("taint", values);
    }
    if (has_template(pool)) {
      out += block("launch_template",
                   {{"id", fmt::format("aws_launch_template.{}.id", label)},
                    {"version", fmt::format("aws_launch_template.{}.latest_version", label)}});
    }
    if (is_scaled(pool)) {
      out += block("lifecycle", {{"ignore_changes", "[scaling_config[0].desired_size]"}});
    }
    return out + "}\n";
  }

  // EKS does not put tags of a group on its Auto Scaling group.
  std::string tags(const PoolNodes& nodes) const {
    const NodePool& pool = *nodes.target.pool;
    if (!is_scaled(pool)) return {};
    Values values;
    const nlohmann::json all = autoscaler_tags(nodes, std::string(kClusterPlaceholder),
                                               scenario_.provisioner.resource_tags);
    for (const auto& [key, value] : all.items()) {
      values.emplace_back(hcl_string(key), hcl_string(value.get<std::string>()));
    }
    const std::string label = label_of("pool", pool.name.value);
    return fmt::format("\nresource \"aws_autoscaling_group_tag\" \"{}\" {{\n", label) +
           block("for_each =", values).substr(1) +
           fmt::format(
               "\n  autoscaling_group_name = "
               "aws_eks_node_group.{}.resources[0].autoscaling_groups[0].name\n",
               label) +
           block("tag",
                 {{"key", "each.key"}, {"value", "each.value"}, {"propagate_at_launch", "true"}}) +
           "}\n";
  }

  static std::string remarks(const NodePool& pool) {
    std::string out;
    if (pool.spot && pool.spot->falls_back_to_on_demand) {
      out += comment(
          "A managed node group is either spot or on-demand: the fall-back of the scenario needs "
          "Karpenter.");
    }
    if (const std::string* zone = zone_of(pool)) {
      out += comment(
          fmt::format("{}: in {} by subnet_ids of that zone alone.", pool.name.value, *zone));
    }
    return out + reserved_labels(pool, "Kubernetes or AWS", scenarios::kZoneLabel);
  }

  const scenarios::Scenario& scenario_;
  const ExportOptions& options_;
};

std::string manifest(const KarpenterObject& object) {
  return fmt::format("\nresource \"kubectl_manifest\" \"{}\" {{\n  yaml_body = {}\n}}\n",
                     label_of(object.kind == "EC2NodeClass" ? "class"
                              : object.kind == "NodePool"   ? "pool"
                                                            : "overlay",
                              object.name),
                     heredoc("YAML", object.text));
}

std::string release(const Installer& plugin) {
  Arguments arguments;
  arguments.add("name", hcl_string(plugin.release));
  arguments.add("repository", hcl_string(plugin.url));
  arguments.add("chart", hcl_string(plugin.chart));
  arguments.add("version", hcl_string(plugin.version));
  arguments.add("namespace", hcl_string(plugin.namespace_name));
  arguments.add("create_namespace", "true");
  std::string values = fmt::format("file(\"${{path.module}}/{}\")", plugin.values);
  if (plugin.keeps_values) {
    values += ", yamlencode({ config = { name = \"\" } })";
    arguments.add("reuse_values", "true");
  }
  arguments.add("values", fmt::format("[{}]", values));
  return "\nresource \"helm_release\" \"device_plugin\" {\n" + arguments.text(2) + "}\n";
}

std::string variable(std::string_view name, std::string_view type, std::string_view what,
                     const std::string& otherwise = {}) {
  Arguments arguments;
  arguments.add("description", hcl_string(what));
  arguments.add("type", std::string(type));
  if (!otherwise.empty()) arguments.add("default", hcl_string(otherwise));
  return fmt::format("\nvariable \"{}\" {{\n{}}}\n", name, arguments.text(2));
}

std::string provider(std::string_view name, std::string_view source, std::string_view version) {
  return fmt::format("\n    {} = {{\n      source  = \"{}\"\n      version = \"{}\"\n    }}", name,
                     source, version);
}

std::string head(const scenarios::Scenario& scenario, const ExportOptions& options,
                 const Installer& plugin, bool by_karpenter) {
  std::string out =
      comment(fmt::format("The nodes of scenario variant {} (gpu_nodes.tf), written by slicewise",
                          yaml_scalar(scenario.name)));
  out += comment(
      "A module, or a folder of its own, for a cluster that is there. Configure the providers "
      "where you call it: Terraform 1.5 or OpenTofu.");
  out += commented(
      "  terraform init && terraform plan -out gpu.tfplan && terraform apply gpu.tfplan\n");
  if (by_karpenter) {
    out += comment(
        "Karpenter is there already. Its NodeOverlays are alpha: they need its feature gate "
        "(settings.featureGates.nodeOverlay=true).");
  }
  if (plugin.is_there) {
    out += comment(fmt::format(
        "The GPU Operator is there: merge {} into the values of its release.", plugin.values));
  }
  if (plugin.keeps_values) {
    out += comment(
        "Helm has the release of the device plugin already. It keeps its values; first, and before "
        "terraform destroy:");
    out +=
        commented(fmt::format("  terraform import helm_release.device_plugin {}/{}\n"
                              "  terraform state rm helm_release.device_plugin\n",
                              plugin.namespace_name, plugin.release));
  }
  out += comment("Roll back: terraform destroy, which takes these nodes away.");
  out += "terraform {\n  required_version = \">= 1.5\"\n\n  required_providers {";
  std::string providers;
  if (!by_karpenter) providers += provider("aws", "hashicorp/aws", ">= 5.79");
  if (keeps_release(plugin)) providers += provider("helm", "hashicorp/helm", ">= 2.9");
  if (by_karpenter) providers += provider("kubectl", "alekc/kubectl", ">= 2.1");
  out += providers + "\n  }\n}\n";
  out += variable("cluster_name", "string", "Name of the EKS cluster", options.cluster);
  if (by_karpenter) return out;
  out += variable("node_role_arn", "string", "ARN of the IAM role of the nodes");
  out += variable("subnet_ids", "list(string)", "Subnets that the nodes may start in");
  for (const NodePool& pool : scenario.node_pools) {
    if (pool.capacity_type != CapacityType::CapacityBlock) continue;
    out += variable(label_of("block", pool.name.value), "string",
                    "ID of the Capacity Block of " + pool.name.value +
                        ": its zone is that of the only subnet of subnet_ids");
  }
  return out;
}

}  // namespace

Expected<ExportFiles> render_terraform(const scenarios::Scenario& scenario,
                                       const models::Catalogue& catalogue,
                                       const ExportOptions& options) {
  if (Diagnostics found = check_ec2(scenario); !found.empty()) return tl::unexpected(found);
  if (options.image == NodeImage::AutoMode) return no_groups_of_auto_mode(scenario);
  ExportOptions placeholder = options;
  placeholder.cluster = {};  // the variable stands there
  const bool by_karpenter = scenario.provisioner.kind == Provisioner::Kind::Karpenter;
  const Installer plugin = installer_of(scenario, catalogue, options);
  std::string text = head(scenario, options, plugin, by_karpenter);
  if (by_karpenter) {
    const auto objects = karpenter_objects(scenario, catalogue, placeholder);
    if (!objects) return tl::unexpected(objects.error());
    for (const KarpenterObject& object : *objects) text += manifest(object);
  } else {
    const auto nodes = image_nodes(scenario, catalogue, placeholder);
    if (!nodes) return tl::unexpected(nodes.error());
    text += NodeGroups(scenario, options).text(*nodes);
  }
  ExportFiles files;
  if (!plugin.values.empty()) {
    RenderExport* render =
        needs_operator(scenario, options) ? render_gpu_operator : render_helm_values;
    Expected<ExportFiles> values = render(scenario, catalogue, options);
    if (!values) return tl::unexpected(values.error());
    if (keeps_release(plugin)) text += release(plugin);
    std::ranges::move(*values, std::back_inserter(files));
  }
  files.insert(files.begin(), {"gpu_nodes.tf", std::move(text)});
  return files;
}

}  // namespace slicewise::reports
