#pragma once

#include <string>
#include <string_view>

// Names that Kubernetes accepts. Source: apimachinery pkg/util/validation (IsDNS1123Label,
// IsDNS1123Subdomain, IsQualifiedName, IsValidLabelValue).
namespace slicewise::scenarios {

// A DNS-1123 label, the form of most names.
bool is_dns_label(std::string_view text);
// Such labels with dots between them.
bool is_subdomain(std::string_view text);
// NAMESPACE/NAME of such.
bool is_name_in_space(std::string_view text);
// Of a label or a taint, behind its domain; their values are like it, or empty.
bool is_label_name(std::string_view text);
// Of a label, a taint or a resource, with a domain and '/' before it or without.
bool is_label_key(std::string_view text);
// Of a resource that is no GPU and no other accelerator: "vpc.amazonaws.com/efa".
bool is_of_another_plugin(std::string_view resource);
// "StatefulSet"
bool is_kind(std::string_view text);

// A DNS-1123 label made of a text: `other` when nothing of it is left.
std::string dns_name(const std::string& text, const std::string& other);

}  // namespace slicewise::scenarios
