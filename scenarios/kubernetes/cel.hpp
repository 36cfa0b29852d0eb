#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "../text/document.hpp"

// Rules of objects in the Common Expression Language: the part of it that the CRDs of Karpenter,
// tools/kubernetes_rules.yaml and selectors of devices use. Source: github.com/google/cel-spec
// doc/langdef.md, and kubernetes.io/docs/reference/using-api/cel/ for find, split, isSorted,
// quantity, semver; indexes(x), of how many a Job's list of them is, is our own.
namespace slicewise::scenarios::manifests {

struct CelExpression;

class CelRule {
 public:
  // nullopt: it uses what is not known here.
  static std::optional<CelRule> parse(std::string_view text);
  CelRule(CelRule&&) noexcept;
  CelRule& operator=(CelRule&&) noexcept;
  ~CelRule();

  // Whether it is true of the object that it calls `name`. One that fails, as it does on a key that
  // is not there, is not.
  bool holds(const Node& object, std::string_view name = "self") const;
  // nullptr: it holds of `self`. Otherwise what breaks it: the innermost element of which an `all`
  // is not true, or the object.
  const Node* broken_by(const Node& object) const;

 private:
  explicit CelRule(std::unique_ptr<const CelExpression> expression);

  std::unique_ptr<const CelExpression> expression_;
};

}  // namespace slicewise::scenarios::manifests
