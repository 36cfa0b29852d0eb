#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/codes.hpp"
#include "slicewise/sim/describe.hpp"

#include "stored_document.hpp"

namespace slicewise::reports {

// Reads stored documents into what their declarations fill and remembers what is absent or not what
// it should be. What is computed is left out.
class StoredFields {
 public:
  struct Odd {
    Code code;
    std::string pointer;
    std::string message;
    bool is_absent = false;
  };

  // REQUIRES: `into` is what the record declares.
  void read(const sim::Record& record, const nlohmann::json& stored, void* into);
  template <class T>
  T read(const nlohmann::json& stored) {
    T value;
    read(sim::record_of<T>(), stored, &value);
    return value;
  }

  void add_odd(std::string_view key);  // absent or not what it should be
  const std::vector<Odd>& odd() const { return odd_; }

 private:
  void read_field(const sim::Field& field, const nlohmann::json& stored, void* into);
  // Whether it is what it should be; `beside`: the object that it is in.
  bool read_value(const sim::Field& field, const sim::Shape& shape, const nlohmann::json& stored,
                  const nlohmann::json& beside, void* into);
  void add_odd_value(const sim::Field& field, const nlohmann::json& stored);

  std::string at_;  // pointer of the object that is read
  std::vector<Odd> odd_;
};

// Of what is absent: a mistake, or written by an older slicewise that did not know it yet.
enum class Absent : std::uint8_t { Wrong, Older };

// What stands at a JSON pointer of a document, into what the record declares. What is absent or not
// what it should be is reported in the document; a word that is not known here is left out.
void read_stored(const sim::Record& record, StoredDocument& document, const std::string& pointer,
                 void* into, Absent absent = Absent::Wrong);
template <class T>
T stored_value(StoredDocument& document, const std::string& pointer,
               Absent absent = Absent::Wrong) {
  T value;
  read_stored(sim::record_of<T>(), document, pointer, &value, absent);
  return value;
}

}  // namespace slicewise::reports
