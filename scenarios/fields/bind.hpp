#pragma once

#include <cassert>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "slicewise/member_step.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "../text/document.hpp"
#include "../text/findings.hpp"
#include "../text/flow_text.hpp"
#include "../traces/trace_files.hpp"
#include "fields.hpp"

// Fields bound to members:
//   field<&Serving::concurrency>("concurrency", "4", "Requests that a pod works on at a time.")
//       .between(1, 1'000'000)
// The member's type says how the value is written and read, the member of a default-constructed
// struct what holds without it.
namespace slicewise::scenarios {

struct Reading {
  Findings& findings;
  TraceFiles* traces = nullptr;  // of scenarios only
};

// What can be done with a member of one type.
struct MemberType {
  // False, and the member as it was, when the value is not of its form: that is reported already.
  bool (*read)(const Field& field, const Entry& entry, void* member, Reading& reading);
  std::string (*shown)(const Field& field, const void* member);  // as in a file; "" = absent
  std::optional<double> (*amount)(const void* member);
  void (*set_amount)(void* member, double amount);
  void* (*inside)(void* member);  // the struct of a block; nullptr when there is none
};

struct Binding {
  const void* owner;                // tag of the struct
  void* (*member)(void* owner);     // nullptr where this owner has none
  const void* (*default_member)();  // of a default-constructed struct
  const MemberType* type;
};

// A value in the form that the field has; false when it is in none.
bool read_value(const Field& field, const Node& node, bool& value);
bool read_value(const Field& field, const Node& node, int& value);
bool read_value(const Field& field, const Node& node, std::int64_t& value);
bool read_value(const Field& field, const Node& node, std::uint64_t& value);
bool read_value(const Field& field, const Node& node, double& value);
bool read_value(const Field& field, const Node& node, Duration& value);
bool read_value(const Field& field, const Node& node, Bytes& value);
bool read_value(const Field& field, const Node& node, Millicores& value);
bool read_value(const Field& field, const Node& node, Rate& value);  // a Number is per hour
bool read_value(const Field& field, const Node& node, Usd& value);
bool read_value(const Field& field, const Node& node, std::string& value);
bool read_value(const Field& field, const Node& node, Located<std::string>& value);
bool read_value(const Field& field, const Node& node, std::map<std::string, std::string>& value);
bool read_value(const Field& field, const Node& node,
                std::vector<std::pair<Located<std::string>, int>>& value);

// The same as a file would say it.
std::string shown_value(const Field& field, bool value);
std::string shown_value(const Field& field, int value);
std::string shown_value(const Field& field, std::int64_t value);
std::string shown_value(const Field& field, std::uint64_t value);
std::string shown_value(const Field& field, double value);
std::string shown_value(const Field& field, Duration value);
std::string shown_value(const Field& field, Bytes value);
std::string shown_value(const Field& field, Millicores value);
std::string shown_value(const Field& field, Rate value);
std::string shown_value(const Field& field, Usd value);
std::string shown_value(const Field& field, const std::string& value);
std::string shown_value(const Field& field, const Located<std::string>& value);
std::string shown_value(const Field& field, const std::map<std::string, std::string>& value);
std::string shown_value(const Field& field,
                        const std::vector<std::pair<Located<std::string>, int>>& value);

// A time, an amount of memory ... as a number in seconds, bytes, vCPUs, shares of one, per second.
template <class T>
double amount_of(const T& value) {
  if constexpr (std::is_same_v<T, Duration>) return to_seconds(value);
  if constexpr (std::is_same_v<T, Bytes>) return static_cast<double>(value.count);
  if constexpr (std::is_same_v<T, Millicores>) return static_cast<double>(value.count) / 1000;
  if constexpr (std::is_same_v<T, Rate>) return value.per_second;
  if constexpr (std::is_same_v<T, double>) return value;
}
template <class T>
void set_amount_of(T& value, double amount) {
  if constexpr (std::is_same_v<T, Duration>) value = from_seconds(amount);
  if constexpr (std::is_same_v<T, Bytes>) value = {std::llround(amount)};
  if constexpr (std::is_same_v<T, Millicores>) value = {std::llround(amount * 1000)};
  if constexpr (std::is_same_v<T, Rate>) value = {amount};
  if constexpr (std::is_same_v<T, double>) value = amount;
}
template <class T>
inline constexpr bool kIsAmount =
    std::is_same_v<T, Duration> || std::is_same_v<T, Bytes> || std::is_same_v<T, Millicores> ||
    std::is_same_v<T, Rate> || std::is_same_v<T, double>;

// Reads the fields of a mapping into the struct that they are bound to.
void read_fields(const FieldList& fields, const Node& map, void* owner, Reading& reading);
// Each field that is bound and says something, with its value as in a file.
std::vector<std::pair<std::string_view, std::string>> shown_entries(const FieldList& fields,
                                                                    const void* owner);
// ... in flow style: "{count: 20, work: {units: 100}}".
std::string shown_fields(const FieldList& fields, const void* owner);
// After reporting texts that stand twice in a list where each may stand once.
std::vector<NodePtr> values_of(const Field& field, const Node& node, Reading& reading);
// What `word` stands for.
std::optional<std::int64_t> word_value(const Field& field, const Node& node);
std::string word_of(const Field& field, std::int64_t value);
// A time or an amount that varies at random; false when neither a mean nor percentiles are there.
template <class Random>
bool read_random(const Field& field, const Node& node, Random& value, Reading& reading) {
  const FieldList& forms = *field.block;
  const Field& mean = *forms.find("mean");
  if (node.kind != Node::Kind::Map) return read_value(mean, node, value.mean);
  read_fields(forms, node, &value, reading);
  const Node* written = node.find("mean");
  return value.sigma > 0 || (written != nullptr && read_value(mean, *written, value.mean));
}

template <class T>
inline constexpr char kTag = 0;

// Of values that are read one by one; numbers by name are one value.
template <class T>
inline constexpr bool kHasItems =
    kIsList<T> && !std::is_same_v<T, std::vector<std::pair<Located<std::string>, int>>>;
template <class T>
inline constexpr bool kIsListByName = false;
template <class T>
inline constexpr bool kIsListByName<std::map<std::string, std::vector<T>>> = true;
template <class T>
inline constexpr bool kIsRandom = std::is_same_v<T, ServiceTime> || std::is_same_v<T, RandomAmount>;

template <class T>
constexpr bool is_scalar_member() {
  return requires(const Field& field, const Node& node, T& value) {
    read_value(field, node, value);
  };
}

// Reads the mapping of a block into its struct, with the place `where` of what it stands at.
template <class Struct>
void read_block(const FieldList& fields, const Node& map, const SourceLocation& where,
                Struct& value, Reading& reading) {
  assert(fields.owner == &kTag<Struct>);
  if constexpr (requires { value.where; }) value.where = where;
  read_fields(fields, map, &value, reading);
}

template <class T>
bool read_member(const Field& field, const Entry& entry, T& member, Reading& reading);

template <class T>
bool read_items(const Field& field, const Node& list, std::vector<T>& items, Reading& reading) {
  for (const NodePtr& node : values_of(field, list, reading)) {
    T item{};
    if (read_member<T>(field, {"", node->where, node}, item, reading)) {
      items.push_back(std::move(item));
    }
  }
  return true;
}

template <class T>
bool read_member(const Field& field, const Entry& entry, T& member, Reading& reading) {
  const Node& node = *entry.value;
  if constexpr (kIsOptional<T>) {
    typename T::value_type value{};
    if (!read_member(field, entry, value, reading)) return false;
    member = std::move(value);
    return true;
  } else if constexpr (kHasItems<T>) {
    if (field.type != FieldType::Block) return read_items(field, node, member, reading);
    if (node.kind == Node::Kind::Map) read_block(*field.block, node, {}, member, reading);
    return true;
  } else if constexpr (kIsListByName<T>) {
    for (const Entry& named : node.entries) {
      read_items(field, *named.value, member[named.key], reading);
    }
    return true;
  } else if constexpr (std::is_enum_v<T>) {
    const auto value = word_value(field, node);
    if (value) member = static_cast<T>(*value);
    return value.has_value();
  } else if constexpr (kIsRandom<T>) {
    return read_random(field, node, member, reading);
  } else if constexpr (is_scalar_member<T>()) {
    return read_value(field, node, member);
  } else {
    if (node.kind != Node::Kind::Map) return false;
    read_block(*field.block, node, entry.key_where, member, reading);
    return true;
  }
}

template <class T>
std::string shown_member(const Field& field, const T& member) {
  if constexpr (kIsOptional<T>) {
    return member ? shown_member(field, *member) : "";
  } else if constexpr (kHasItems<T>) {
    std::string text;
    for (const auto& item : member) {
      text += (text.empty() ? "" : ", ") + shown_member(field, item);
    }
    return text.empty() ? "" : "[" + text + "]";
  } else if constexpr (kIsListByName<T>) {
    std::string text;
    for (const auto& [name, items] : member) {
      text += (text.empty() ? "" : ", ") + scalar_text(name) + ": " + shown_member(field, items);
    }
    return text.empty() ? "" : "{" + text + "}";
  } else if constexpr (std::is_enum_v<T>) {
    return word_of(field, static_cast<std::int64_t>(member));
  } else if constexpr (is_scalar_member<T>()) {
    return shown_value(field, member);
  } else {
    return shown_fields(*field.block, &member);
  }
}

// The number within a member that is one, or varies around one.
template <class T>
constexpr auto amount_within(T* member) {
  if constexpr (kIsOptional<std::remove_const_t<T>>) {
    return amount_within(*member ? &**member : nullptr);
  } else if constexpr (kIsRandom<std::remove_const_t<T>>) {
    return member == nullptr ? nullptr : &member->mean;
  } else {
    return member;
  }
}

template <class T>
inline constexpr MemberType kMemberType = {
    [](const Field& field, const Entry& entry, void* member, Reading& reading) {
      return read_member(field, entry, *static_cast<T*>(member), reading);
    },
    [](const Field& field, const void* member) {
      return shown_member(field, *static_cast<const T*>(member));
    },
    [](const void* member) -> std::optional<double> {
      const auto* value = amount_within(static_cast<const T*>(member));
      using Value = std::remove_cvref_t<decltype(*value)>;
      if constexpr (kIsAmount<Value>) {
        if (value != nullptr) return amount_of(*value);
      }
      return std::nullopt;
    },
    [](void* member, double amount) {
      T& target = *static_cast<T*>(member);
      if constexpr (kIsOptional<T>) {
        if constexpr (kIsAmount<typename T::value_type>) target.emplace();
      }
      auto* value = amount_within(&target);
      using Value = std::remove_cvref_t<decltype(*value)>;
      if constexpr (kIsAmount<Value>) {
        if (value != nullptr) set_amount_of(*value, amount);
      }
    },
    [](void* member) -> void* {
      if constexpr (kIsOptional<T>) {
        auto& value = *static_cast<T*>(member);
        return value ? &*value : nullptr;
      } else {
        return member;
      }
    },
};

// The form of a member's type, where a declaration says no other.
template <class T>
constexpr FieldType form_of() {
  using F = FieldType;
  if constexpr (kIsOptional<T>) {
    return form_of<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return F::Boolean;
  } else if constexpr (std::is_integral_v<T>) {
    return F::Integer;
  } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, Usd>) {
    return F::Number;
  } else if constexpr (std::is_same_v<T, Duration>) {
    return F::Duration;
  } else if constexpr (std::is_same_v<T, Bytes>) {
    return F::Bytes;
  } else if constexpr (std::is_same_v<T, Millicores>) {
    return F::Cpu;
  } else if constexpr (std::is_same_v<T, Rate>) {
    return F::Rate;
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, Located<std::string>>) {
    return F::Text;
  } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
    return F::Labels;
  } else if constexpr (kIsRandom<T>) {
    return F::Random;
  } else if constexpr (std::is_enum_v<T>) {
    return F::Word;
  } else if constexpr (kIsListByName<T>) {
    return F::BlocksByName;
  } else if constexpr (kHasItems<T>) {
    using Item = typename T::value_type;
    if constexpr (std::is_enum_v<Item>) return F::Words;
    if constexpr (std::is_same_v<Item, int>) return F::Integers;
    if constexpr (std::is_same_v<Item, Duration>) return F::Durations;
    return is_scalar_member<Item>() ? F::Texts : F::Blocks;
  } else {
    return F::Block;
  }
}

// A step is a pointer to member, or a function that answers with nullptr where this owner has none.
template <auto Step>
using OwnerOf = typename MemberStep<decltype(Step)>::Owner;
template <auto Step>
using MemberOf = std::remove_pointer_t<typename MemberStep<decltype(Step)>::Value>;

template <auto First, auto... Rest>
auto* reach(OwnerOf<First>* owner) {
  MemberOf<First>* member = nullptr;
  if constexpr (std::is_member_object_pointer_v<decltype(First)>) {
    member = &(owner->*First);
  } else {
    member = First(*owner);
  }
  if constexpr (sizeof...(Rest) == 0) {
    return member;
  } else {
    using Last = decltype(reach<Rest...>(member));
    return member == nullptr ? Last{} : reach<Rest...>(member);
  }
}

// That of the struct that holds it, whatever is around the struct.
template <auto First, auto... Rest>
const void* default_member() {
  if constexpr (sizeof...(Rest) > 0) {
    return default_member<Rest...>();
  } else {
    static OwnerOf<First> fresh{};
    return reach<First>(&fresh);
  }
}

template <auto First, auto... Rest>
inline constexpr Binding kBinding = {
    &kTag<OwnerOf<First>>,
    [](void* owner) -> void* { return reach<First, Rest...>(static_cast<OwnerOf<First>*>(owner)); },
    [] { return default_member<First, Rest...>(); },
    &kMemberType<std::remove_pointer_t<decltype(reach<First, Rest...>(nullptr))>>};

// A field of the member, or of the member of a member, that the steps lead to.
template <auto... Steps>
constexpr Field field(std::string_view name, std::string_view example,
                      std::string_view description) {
  using Member = std::remove_pointer_t<decltype(reach<Steps...>(nullptr))>;
  Field made{name, form_of<Member>(), example, description};
  made.binding = &kBinding<Steps...>;
  return made;
}

// A field that fills no member by itself: read by hand, or carried as it is.
constexpr Field plain(FieldType type, std::string_view name, std::string_view example,
                      std::string_view description) {
  return {name, type, example, description};
}

// A block whose fields are members of the struct around it.
constexpr Field inner(std::string_view name, std::string_view example,
                      std::string_view description) {
  return {name, FieldType::Block, example, description};
}

// A field that a function void(Owner&, const Field&, const Entry&, Reading&) reads.
template <class Owner, void (*Set)(Owner&, const Field&, const Entry&, Reading&)>
constexpr Field read_by(FieldType type, std::string_view name, std::string_view example,
                        std::string_view description) {
  Field made{name, type, example, description};
  made.set = [](void* owner, const Field& field, const Entry& entry, Reading& reading) {
    Set(*static_cast<Owner*>(owner), field, entry, reading);
  };
  return made;
}

// The fields of `Owner`; those that are bound to another struct do not compile. `Finish` is called
// once they are read.
template <class Owner, void (*Finish)(Owner&, const Node&, Reading&) = nullptr, std::size_t N>
constexpr FieldList block(const Field (&fields)[N]) {
  for (const Field& field : fields) {
    if (field.binding != nullptr && field.binding->owner != &kTag<Owner>) {
      throw "a field of another struct";
    }
  }
  FieldList list{fields, N, &kTag<Owner>};
  if constexpr (Finish != nullptr) {
    list.finish = [](void* owner, const Node& map, Reading& reading) {
      Finish(*static_cast<Owner*>(owner), map, reading);
    };
  }
  return list;
}

// Fields that nobody reads by themselves.
template <std::size_t N>
constexpr FieldList list(const Field (&fields)[N]) {
  return {fields, N};
}

}  // namespace slicewise::scenarios
