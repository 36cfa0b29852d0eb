#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/resource_claim.hpp"

#include "../text/flow_text.hpp"
#include "cel.hpp"
#include "cel_expression.hpp"

// Selectors of devices in CEL. Source of what the driver publishes: dra-driver-nvidia-gpu v0.4.1,
// cmd/gpu-kubelet-plugin/deviceinfo.go and mig.go; of the classes: its Helm chart; of the
// variables: k8s.io/api/resource/v1, CELDeviceSelector.
namespace slicewise::scenarios::manifests {
namespace {

using Kind = CelExpression::Kind;

// Of kinds of devices, not of one device or of one driver version.
constexpr std::array<std::string_view, 5> kKnownAttributes = {"type", "productName", "architecture",
                                                              "cudaComputeCapability", "profile"};
constexpr std::array<std::string_view, 8> kOtherAttributes = {
    "uuid",     "brand",      "driverVersion",  "cudaDriverVersion",
    "pciBusID", "parentUUID", "addressingMode", "pcieRoot"};
constexpr std::array<std::string_view, 1> kKnownCapacities = {"memory"};
constexpr std::array<std::string_view, 6> kOtherCapacities = {
    "multiprocessors", "copyEngines", "decoders", "encoders", "jpegEngines", "ofaEngines"};

bool is_name(const CelExpression& e, std::string_view name) {
  return e.kind == Kind::Name && e.text == name;
}

// What is asked of the device: "attributes" or "capacity"; "" something else.
std::string_view group_of(const CelExpression& e) {
  if (e.kind != Kind::Member || !is_name(e.operands[0], "device")) return {};
  return e.text == "attributes" || e.text == "capacity" ? std::string_view(e.text)
                                                        : std::string_view();
}

template <class Names>
bool is_of(std::string_view name, const Names& names) {
  return std::ranges::find(names, name) != names.end();
}

std::optional<SelectorProblem> judge_name(std::string_view group, const std::string& name) {
  const bool is_attribute = group == "attributes";
  if (is_attribute ? is_of(name, kKnownAttributes) : is_of(name, kKnownCapacities)) {
    return std::nullopt;
  }
  const bool is_published =
      (is_attribute ? is_of(name, kOtherAttributes) : is_of(name, kOtherCapacities)) ||
      name.starts_with("memorySlice");
  const std::string known =
      is_attribute ? fmt::format("{}", fmt::join(kKnownAttributes, ", ")) : "memory";
  if (is_published) {
    return SelectorProblem{
        fmt::format("nobody knows here which devices have what {} \"{}\" selects", group, name),
        fmt::format("select by {}", known)};
  }
  const auto near =
      is_attribute ? nearest_name(name, kKnownAttributes) : nearest_name(name, kKnownCapacities);
  return SelectorProblem{
      fmt::format("the driver publishes no {} \"{}\": the selector fails on every device", group,
                  name.substr(0, 60)),
      near ? fmt::format("did you mean {}?", *near) : fmt::format("it publishes {}", known), true};
}

// What no parser of CEL takes, whatever functions it knows; "" where nothing is found.
std::string_view syntax_error(std::string_view text) {
  std::string open;  // brackets
  char quote = 0;
  char last = 0;
  bool is_raw = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\' && !is_raw) ++i;
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {  // a comment
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '\'' || c == '"') {
      quote = c;
      is_raw = last == 'r' || last == 'R';
    }
    if (c == '(' || c == '[' || c == '{') open.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) return "a bracket that was not opened";
      open.pop_back();
    }
    const bool compares =
        std::string_view("=!<>").find(last) != std::string_view::npos && last != 0;
    const bool is_pair = i + 1 < text.size() && text[i + 1] == '=';
    if (c == '=' && !compares && !is_pair) return "a single =; write ==";
    if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) last = c;
  }
  if (quote != 0) return "a quote that is not closed";
  if (!open.empty()) return "a bracket that is not closed";
  const bool goes_on =
      last != 0 && std::string_view("=<>&|+-*/.,!?:").find(last) != std::string_view::npos;
  return goes_on ? "it ends where something must follow" : "";
}

// `bound`: variables of the macros around it.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the expression is
std::optional<SelectorProblem> judge(const CelExpression& e, std::vector<std::string>& bound) {
  if (e.kind == Kind::Name && e.text != "device" && !is_of(e.text, bound)) {
    return SelectorProblem{fmt::format("undeclared reference to '{}'", e.text.substr(0, 60)),
                           "a selector knows `device` alone", true};
  }
  const bool is_named = e.kind == Kind::Member || e.kind == Kind::Has;
  if (is_named && e.operands[0].kind == Kind::Index &&
      !group_of(e.operands[0].operands[0]).empty()) {
    const CelExpression& domain = e.operands[0].operands[1];
    const auto* text = std::get_if<std::string>(&domain.value.is);
    if (domain.kind == Kind::Literal && text != nullptr && *text == kDraDriver) {
      return judge_name(group_of(e.operands[0].operands[0]), e.text);
    }
    return SelectorProblem{
        fmt::format("attributes of another domain than {} are not known here", kDraDriver),
        fmt::format("device.attributes['{}'].productName", kDraDriver)};
  }
  if (is_macro(e.kind)) bound.push_back(e.text);
  std::optional<SelectorProblem> problem;
  for (const CelExpression& operand : e.operands) {
    if (!problem) problem = judge(operand, bound);
  }
  if (is_macro(e.kind)) bound.pop_back();
  return problem;
}

// "8.6" as the driver has it: 8.6.0.
std::string semver_of(const std::string& version) {
  const auto dots = std::ranges::count(version, '.');
  return version + (dots == 0 ? ".0.0" : dots == 1 ? ".0" : "");
}

std::optional<SelectorProblem> judged(std::string_view expression) {
  if (const std::string_view broken = syntax_error(expression); !broken.empty()) {
    return SelectorProblem{fmt::format("this is no expression in CEL: {}", broken),
                           "the API server refuses the object", true};
  }
  const auto parsed = parse_cel(expression);
  if (!parsed) {
    return SelectorProblem{
        "this uses what is not understood here",
        "device.attributes['gpu.nvidia.com'].productName == 'NVIDIA A10G', ==, !=, in, &&, ||, "
        "matches(), compareTo(quantity('20Gi')) and compareTo(semver('8.0.0')) are"};
  }
  std::vector<std::string> bound;
  return judge(*parsed, bound);
}

bool are_true(std::string_view expression, const DraDevice& device) {
  const auto rule = CelRule::parse(expression);
  if (!rule) return false;
  const bool is_mig = !device.profile.empty();
  const std::string text = fmt::format(
      "{{driver: {0}, attributes: {{{0}: {{type: {1}, productName: {2}, architecture: {3}, "
      "cudaComputeCapability: {4}{5}}}}}, capacity: {{{0}: {{memory: {6}}}}}}}",
      kDraDriver, is_mig ? "mig" : "gpu", in_quotes(device.product), in_quotes(device.architecture),
      in_quotes(semver_of(device.compute_capability)),
      is_mig ? ", profile: " + in_quotes(device.profile) : "", device.memory.count);
  Diagnostics found;
  const NodePtr document = read_document({"device", text}, found);
  return document != nullptr && rule->holds(*document, "device");
}

}  // namespace
}  // namespace slicewise::scenarios::manifests

namespace slicewise::scenarios {

bool is_same_sharing(const ClaimSharing& a, const ClaimSharing& b) {
  return a.strategy == b.strategy && a.interval == b.interval &&
         a.active_threads == b.active_threads && a.memory_limit == b.memory_limit;
}

std::string_view selector_of_class(std::string_view device_class) {
  if (device_class == "gpu.nvidia.com") {
    return "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'";
  }
  if (device_class == "mig.nvidia.com") {
    return "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'mig'";
  }
  return {};
}

std::optional<SelectorProblem> selector_problem(std::string_view expression) {
  return manifests::judged(expression);
}

bool selects(std::string_view expression, const DraDevice& device) {
  return manifests::are_true(expression, device);
}

}  // namespace slicewise::scenarios
