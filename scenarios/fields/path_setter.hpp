#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../text/document.hpp"
#include "../text/findings.hpp"
#include "fields.hpp"

namespace slicewise::scenarios {

// Changes one value of spec at a dotted path, as `helm --set` does: entries of lists go by name or
// position ("nodePools.v100.devicePlugin.sharing.timeSlicing.resources[0].replicas").
class PathSetter {
 public:
  enum class Outcome : std::uint8_t {
    Done,
    Absent,   // the path is right, but this spec has nothing there
    Unknown,  // no spec can have it; reported
  };
  enum class Parents : std::uint8_t { Create, MustExist };

  // `where` is the place of the path, for reports in `findings`.
  PathSetter(std::string path, SourceLocation where, Findings& findings);

  // Puts `value` into `spec`, which shares all other nodes with what it was. Null removes.
  Outcome set(NodePtr& spec, const NodePtr& value, Parents parents);

  // The last name of the path, "replicas"; empty before the first Done or Absent.
  const std::string& last_name() const { return last_name_; }

  // Field names and list positions up to where the spec had no list to go through; what was left
  // of the path is one more step. The same place by name and by position has the same steps.
  const std::vector<std::string>& steps() const { return steps_; }

  // True after a Done at a place that holds text, where `true` and `3` need quotes in a file.
  bool reached_text() const { return reached_text_; }

 private:
  NodePtr set_in(const Node* node, const Field& field, std::string_view rest,
                 std::string_view done);
  NodePtr set_in_map(const Node* node, const Field& field, std::string_view rest,
                     std::string_view done);
  NodePtr set_in_list(const Node* node, const Field& field, std::string_view rest,
                      std::string_view done);
  NodePtr with_entry(const Node* node, std::string_view key, const Field& field,
                     std::string_view rest, std::string_view done);
  NodePtr unknown(std::string_view done, std::string_view rest,
                  const std::vector<std::string>& known);
  NodePtr absent();

  std::string path_;
  SourceLocation where_;
  Findings& findings_;
  NodePtr value_;
  Parents parents_ = Parents::MustExist;
  Outcome outcome_ = Outcome::Done;
  std::string last_name_;
  std::vector<std::string> steps_;
  bool reached_text_ = false;
};

}  // namespace slicewise::scenarios
