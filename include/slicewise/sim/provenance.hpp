#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slicewise::sim {

// An input that nobody measured, and what it belongs to.
class AssumedInput {
 public:
  AssumedInput() = default;
  AssumedInput(std::string_view owner, std::string_view name)
      : text_(std::string(owner).append(kBetween).append(name)) {}
  AssumedInput& operator=(std::string text) {
    text_ = std::move(text);
    return *this;
  }
  operator std::string_view() const { return text_; }  // "cifar10: unitTime"
  std::string_view name() const {
    const std::size_t end = text_.find(kBetween);
    return std::string_view(text_).substr(end == std::string::npos ? 0 : end + kBetween.size());
  }
  bool operator==(const AssumedInput&) const = default;

 private:
  static constexpr std::string_view kBetween = ": ";
  std::string text_;
};

struct ProvenanceCounts {
  int measured = 0;
  int catalog = 0;
  int assumed = 0;
  std::vector<AssumedInput> assumed_inputs;  // in order
};

}  // namespace slicewise::sim
