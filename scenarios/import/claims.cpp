#include "claims.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"

#include "../text/kubernetes_names.hpp"
#include "scenario_draft.hpp"

namespace slicewise::scenarios {

std::optional<std::string> ClaimImport::name_of(const PodFile& pod) {
  const auto skip = [&](const std::string& what, const SourceLocation& where) {
    report_.skipped(fmt::format("{} ({})", what, pod.kind), where);
    return std::nullopt;
  };
  const KeyValue& named = pod.claims.front();
  if (pod.claims.size() > 1) return skip("pods with several resource claims", named.where);
  const ClaimFile* const file = find(pod, named);
  if (file == nullptr) return skip("pods whose resource claim is not here", named.where);
  if (const auto known = names_.find(file); known != names_.end()) return known->second;
  if (!file->refused.value.empty()) {
    return skip("resource claims: " + file->refused.value, file->refused.where);
  }
  if (!file->claim.is_template && file->claim.count > 1) {
    return skip("resource claims: several devices that pods share", file->claim.where);
  }
  ResourceClaim claim = file->claim;
  if (!take_class(file->device_class, claim)) return std::nullopt;
  claim.name.value = names_[file] = new_name(*file);
  claims_.push_back(std::move(claim));
  return claims_.back().name.value;
}

const ClaimFile* ClaimImport::find(const PodFile& pod, const KeyValue& named) const {
  const bool is_template = named.key == "resourceClaimTemplateName";
  return find_if_or_null(files_.claims, [&](const ClaimFile& file) {
    return file.kind != "DeviceClass" && file.claim.is_template == is_template &&
           file.claim.name.value == named.value &&
           namespace_of(file.space) == namespace_of(pod.space);
  });
}

bool ClaimImport::take_class(const Located<std::string>& name, ResourceClaim& claim) {
  const auto found = std::ranges::find_if(files_.claims, [&](const ClaimFile& file) {
    return file.kind == "DeviceClass" && file.claim.name.value == name.value;
  });
  if (found == files_.claims.end()) {
    const std::string_view known = selector_of_class(name.value);
    if (!known.empty()) {
      claim.selectors.insert(claim.selectors.begin(), {std::string(known), name.where});
      return true;
    }
    report_.skipped(fmt::format("resource claims of a DeviceClass that is not here: {}",
                                name.value.substr(0, 60)),
                    name.where);
    return false;
  }
  if (!found->refused.value.empty()) {
    report_.skipped("DeviceClasses: " + found->refused.value, found->refused.where);
    return false;
  }
  const auto& selectors = found->claim.selectors;
  claim.selectors.insert(claim.selectors.begin(), selectors.begin(), selectors.end());
  if (!claim.sharing) claim.sharing = found->claim.sharing;
  return true;
}

// Claims of two namespaces, or a claim and a template, may have one name.
std::string ClaimImport::new_name(const ClaimFile& file) const {
  const std::string plain = dns_name(file.claim.name.value, "claim");
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::any_of(
        claims_, [&](const ResourceClaim& claim) { return claim.name.value == name; });
  };
  std::string name = plain;
  for (int n = 2; is_taken(name); ++n) name = fmt::format("{}-{}", plain.substr(0, 50), n);
  return name;
}

}  // namespace slicewise::scenarios
