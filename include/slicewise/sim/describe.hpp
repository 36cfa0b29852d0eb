#pragma once

#include <any>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "slicewise/choice.hpp"
#include "slicewise/codes.hpp"
#include "slicewise/member_step.hpp"
#include "slicewise/scenarios/serving.hpp"
#include "slicewise/units.hpp"

// How the members of a result are declared: each once, with its key, its meaning and what the
// formats call it. Documents, schemas, readers, CSV, `diff`, policies and the lines between
// processes are written by walking these declarations:
//
//   Record declared(Of<PodCounts>) {
//     return {"what became of the pods",
//             {field<&PodCounts::oom_kills>("oomKilled", "containers that ran out of GPU memory")
//                  .csv(29, "podsOomKilled").policy("pods.oomKills"), ...}};
//   }
namespace slicewise::sim {

struct Record;

// Names the type that a declaration is of.
template <class T>
struct Of {};

// The declaration of a type, as `Record declared(Of<T>)` beside the others of its document says it.
template <class T>
const Record& record_of();

// One of no type: a part of another's, or other words for it.
template <Record (*kDeclared)()>
const Record& once();

// The words of an enumeration: `all` its values, `of` the word of one. `listed`: a schema names
// them all.
template <class E>
struct Spelling;

template <const auto& kChoices>
struct SpellingOf {
  static constexpr bool kListed = true;
  static constexpr auto kAll = [] {
    std::array<decltype(kChoices.front().value), kChoices.size()> values{};
    for (std::size_t v = 0; v < values.size(); ++v) values[v] = kChoices[v].value;
    return values;
  }();
  static constexpr std::string_view of(decltype(kChoices.front().value) value) {
    return word_of(kChoices, value);
  }
};

template <>
struct Spelling<Severity> {
  static constexpr bool kListed = true;
  static constexpr Severity kAll[] = {Severity::Error, Severity::Warning, Severity::Note};
  static constexpr std::string_view of(Severity severity) {
    return severity == Severity::Error     ? "error"
           : severity == Severity::Warning ? "warning"
                                           : "note";
  }
};

template <>
struct Spelling<Code> {
  static constexpr bool kListed = false;
  static constexpr auto kAll = [] {
    std::array<Code, kCodes.size()> codes{};
    for (std::size_t c = 0; c < codes.size(); ++c) codes[c] = kCodes[c].code;
    return codes;
  }();
  static constexpr std::string_view of(Code code) { return info(code).name; }
};

// What a value is, whatever its C++ type, and how to get at it through its address.
struct Shape {
  enum class Kind : std::uint8_t {
    Truth,   // bool
    Whole,   // an integer
    Number,  // double
    Time,    // Duration, TimePoint: seconds
    Money,   // Usd: dollars
    Size,    // Bytes
    Text,
    Word,    // an enumeration
    Figure,  // FigureValue: a number in the unit that "unit" beside it names
    Counts,  // std::map<std::string, std::int64_t>
    Labels,  // std::map<std::string, std::string>
    List,
    Object,
  };
  Kind kind = Kind::Object;
  bool is_unsigned = false;                             // Whole: of all 64 bits
  std::int64_t (*whole)(const void*) = nullptr;         // Whole, Time, Money, Size
  bool (*set_whole)(void*, std::int64_t) = nullptr;     // false: out of range
  std::string_view (*text)(const void*) = nullptr;      // Text, Word
  bool (*set_text)(void*, std::string_view) = nullptr;  // false: no such word
  bool (*is_word)(std::string_view) = nullptr;
  std::vector<std::string> (*words)() = nullptr;               // Word that a schema lists
  const Shape* item = nullptr;                                 // List
  std::size_t (*size)(const void*) = nullptr;                  // List
  const void* (*item_at)(const void*, std::size_t) = nullptr;  // List
  void* (*append)(void*) = nullptr;                            // List
  const Record& (*record)() = nullptr;                         // Object
};

namespace shapes {

template <class T>
const T& in(const void* at) {
  return *static_cast<const T*>(at);
}

template <class T>
constexpr Shape shape();

template <class T>
inline constexpr Shape kShape = shape<T>();

// `Inner`: the std::int64_t of a unit.
template <class T, auto Inner>
constexpr Shape unit_shape(Shape::Kind kind) {
  Shape s{kind};
  s.whole = [](const void* at) { return in<T>(at).*Inner; };
  s.set_whole = [](void* at, std::int64_t n) {
    static_cast<T*>(at)->*Inner = n;
    return true;
  };
  return s;
}

template <class T>
constexpr Shape whole_shape() {
  Shape s{Shape::Kind::Whole, std::is_unsigned_v<T>};
  s.whole = [](const void* at) { return static_cast<std::int64_t>(in<T>(at)); };
  s.set_whole = [](void* at, std::int64_t n) {
    const T value = static_cast<T>(n);
    if (static_cast<std::int64_t>(value) != n) return false;
    *static_cast<T*>(at) = value;
    return true;
  };
  return s;
}

template <class T>
constexpr Shape text_shape() {
  Shape s{Shape::Kind::Text};
  s.text = [](const void* at) { return std::string_view(in<T>(at)); };
  if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string_view>) {
    s.set_text = [](void* at, std::string_view text) {
      *static_cast<T*>(at) = std::string(text);
      return true;
    };
  }
  return s;
}

template <class T>
constexpr Shape word_shape() {
  Shape s{Shape::Kind::Word};
  s.text = [](const void* at) { return Spelling<T>::of(in<T>(at)); };
  s.set_text = [](void* at, std::string_view text) {
    for (const T value : Spelling<T>::kAll) {
      if (Spelling<T>::of(value) != text) continue;
      *static_cast<T*>(at) = value;
      return true;
    }
    return false;
  };
  s.is_word = [](std::string_view text) {
    for (const T value : Spelling<T>::kAll) {
      if (Spelling<T>::of(value) == text) return true;
    }
    return false;
  };
  if constexpr (Spelling<T>::kListed) {
    s.words = [] {
      std::vector<std::string> words;
      words.reserve(std::size(Spelling<T>::kAll));
      for (const T value : Spelling<T>::kAll) words.emplace_back(Spelling<T>::of(value));
      return words;
    };
  }
  return s;
}

template <class T>
constexpr Shape list_shape() {
  using Item = typename T::value_type;
  Shape s{Shape::Kind::List};
  s.item = &kShape<Item>;
  s.size = [](const void* at) { return in<T>(at).size(); };
  s.item_at = [](const void* at, std::size_t i) -> const void* { return &in<T>(at)[i]; };
  s.append = [](void* at) -> void* { return &static_cast<T*>(at)->emplace_back(); };
  return s;
}

template <class T>
constexpr Shape shape() {
  if constexpr (std::is_same_v<T, bool>)
    return {Shape::Kind::Truth};
  else if constexpr (std::is_integral_v<T>)
    return whole_shape<T>();
  else if constexpr (std::is_same_v<T, double>)
    return {Shape::Kind::Number};
  else if constexpr (std::is_same_v<T, Duration> || std::is_same_v<T, TimePoint>)
    return unit_shape<T, &T::ns>(Shape::Kind::Time);
  else if constexpr (std::is_same_v<T, Usd>)
    return unit_shape<T, &T::nano>(Shape::Kind::Money);
  else if constexpr (std::is_same_v<T, Bytes>)
    return unit_shape<T, &T::count>(Shape::Kind::Size);
  else if constexpr (std::is_convertible_v<T, std::string_view>)
    return text_shape<T>();
  else if constexpr (std::is_enum_v<T>)
    return word_shape<T>();
  else if constexpr (std::is_same_v<T, scenarios::FigureValue>)
    return {Shape::Kind::Figure};
  else if constexpr (std::is_same_v<T, std::map<std::string, std::int64_t>>)
    return {Shape::Kind::Counts};
  else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>)
    return {Shape::Kind::Labels};
  else if constexpr (kIsList<T>)
    return list_shape<T>();
  else {
    Shape s{Shape::Kind::Object};
    s.record = &record_of<T>;
    return s;
  }
}

template <class T>
struct Bare {
  using Type = std::remove_cvref_t<T>;
};
template <class T>
struct Bare<std::optional<T>> {
  using Type = T;
};

template <auto First, auto... Rest>
struct Path {
  using Type = typename Path<Rest...>::Type;
  static constexpr bool kOptional =
      kIsOptional<typename MemberStep<decltype(First)>::Value> || Path<Rest...>::kOptional;
  static constexpr bool kStored =
      std::is_member_object_pointer_v<decltype(First)> && Path<Rest...>::kStored;
};
template <auto Last>
struct Path<Last> {
  using Type = typename Bare<typename MemberStep<decltype(Last)>::Value>::Type;
  static constexpr bool kOptional = kIsOptional<typename MemberStep<decltype(Last)>::Value>;
  static constexpr bool kStored = std::is_member_object_pointer_v<decltype(Last)>;
};

// A summary of nothing is as good as none.
template <class T>
const void* present(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (requires {
                  value->p99;
                  value->count;
                }) {
    if (value->count == 0) return nullptr;
  }
  return &*value;
}

template <auto First, auto... Rest, class R>
const void* reach(const R& record, std::any& made) {
  using Value = typename MemberStep<decltype(First)>::Value;
  if constexpr (std::is_member_object_pointer_v<decltype(First)>) {
    if constexpr (kIsOptional<Value>) {
      const void* const at = present(record.*First);
      if constexpr (sizeof...(Rest) == 0)
        return at;
      else
        return at == nullptr ? nullptr : reach<Rest...>(*(record.*First), made);
    } else if constexpr (sizeof...(Rest) == 0) {
      return &(record.*First);
    } else {
      return reach<Rest...>(record.*First, made);
    }
  } else {
    if constexpr (kIsOptional<Value>) {
      auto value = std::invoke(First, record);
      if (!value) return nullptr;
      return &made.emplace<typename Bare<Value>::Type>(std::move(*value));
    } else {
      return &made.emplace<typename Bare<Value>::Type>(std::invoke(First, record));
    }
  }
}

template <auto First, auto... Rest, class R>
void* place(R& record) {
  auto& member = record.*First;
  if constexpr (kIsOptional<std::remove_reference_t<decltype(member)>>) {
    if (!member) member.emplace();
    if constexpr (sizeof...(Rest) == 0)
      return &*member;
    else
      return place<Rest...>(*member);
  } else if constexpr (sizeof...(Rest) == 0) {
    return &member;
  } else {
    return place<Rest...>(member);
  }
}

}  // namespace shapes

// Of a number: how large it may be and how people read it.
enum class Unit : std::uint8_t {
  Number,
  Ratio,  // of 1
  Share,  // of 1, and may be above it
  Times,  // as long, or as much
  Count,
  PerSecond,
  Seconds,
  Signed
};

// What `diff` makes of a figure.
struct DiffFigure {
  enum class Role : std::uint8_t { Cost, Objective, Latency, Pods, Load };
  Role role = Role::Cost;
  int rank = 0;                     // where it stands among the figures of its item
  std::string_view title = {};      // for people; "": the name
  std::string_view name = {};       // "": the key
  std::string_view part = {};       // of a summary: "p99"
  std::string_view condition = {};  // of --fail-on
  bool is_main = false;             // shown even when it stays the same
};

struct Field {
  // A spelling of its own, of the field or, of a summary, of one part.
  struct CsvName {
    int position;  // columns are published in this order
    std::string_view name;
    std::string_view part;
  };
  struct PolicyName {
    std::string_view name;
    std::string_view part;
    std::string_view words;  // that it may be compared with, blanks between them
  };
  struct ColumnName {
    std::string_view heading;
    int priority;  // the highest goes first where the table is too wide
    std::string_view part;
    std::string_view on_page;  // heading there; "": it is not shown there
  };

  std::string_view key;  // "": in no document
  std::string_view meaning;
  const Shape* shape = nullptr;
  const void* (*base)(const void* record) = nullptr;  // what `reach` starts from; nullptr: itself
  const void* (*reach)(const void* record, std::any& made) = nullptr;
  void* (*place)(void* record) = nullptr;  // nullptr: it is computed
  const Record& (*record)() = nullptr;     // in place of the shape's own
  bool nullable = false;                   // a std::optional on the way
  bool is_optional = false;                // "", false, an empty list: absent
  bool is_positive = false;                // 0: absent
  bool (*applies)(const void* record) = nullptr;
  Unit unit = Unit::Number;
  bool is_open = false;       // a word of which there may be others
  std::string_view constant;  // the only value
  std::string_view items;     // what the items of a list are
  std::string_view choices;   // the words of a text, blanks between them
  std::vector<CsvName> csv_names;
  std::vector<PolicyName> policy_names;
  std::vector<ColumnName> columns;  // of the tables for people
  std::vector<DiffFigure> diffs;
  int setting_rank = 0;  // where `diff` lists it as a setting; 0: not

  const Record& inner() const;  // REQUIRES: an object, or a list of them
  // Where a value goes; makes the optionals on the way. nullptr: it is computed.
  void* room(void* in_record) const;
  // The address of the value, or nullptr where there is none. `made` keeps what is computed.
  const void* value(const void* record, std::any& made) const;
  // Likewise, and nullptr for what documents leave out as empty.
  const void* shown(const void* record, std::any& made) const;

  template <class Value>
  Field with(Value Field::*member, std::type_identity_t<Value> to) && {
    this->*member = to;
    return std::move(*this);
  }
  Field optional() && { return std::move(*this).with(&Field::is_optional, true); }
  Field positive() && {  // optional, and absent when it is 0
    return std::move(*this).optional().with(&Field::is_positive, true);
  }
  Field required() && {  // though it would be optional
    return std::move(*this).with(&Field::is_optional, false).with(&Field::nullable, false);
  }
  Field of(Unit its_unit) && { return std::move(*this).with(&Field::unit, its_unit); }
  Field saying(std::string_view text) && { return std::move(*this).with(&Field::meaning, text); }
  Field as(const Record& (*its)()) && { return std::move(*this).with(&Field::record, its); }
  Field each(std::string_view what) && { return std::move(*this).with(&Field::items, what); }
  Field one_of(std::string_view words) && { return std::move(*this).with(&Field::choices, words); }
  // Where `diff` lists it as a setting.
  Field setting(int rank) && { return std::move(*this).with(&Field::setting_rank, rank); }
  Field csv(int position, std::string_view name, std::string_view part = {}) &&;
  Field policy(std::string_view name, std::string_view part = {}, std::string_view words = {}) &&;
  Field column(std::string_view heading, int priority = 0, std::string_view part = {},
               std::string_view on_page = {}) &&;
  Field diff(DiffFigure figure) &&;
  // The field of a member of the record, as if it were the record's own.
  template <auto Member>
  Field from() && {
    using Owner = typename MemberStep<decltype(Member)>::Owner;
    base = [](const void* at) -> const void* { return &(shapes::in<Owner>(at).*Member); };
    return std::move(*this);
  }
  template <auto Applies>
  Field when() && {
    using Owner = typename MemberStep<decltype(Applies)>::Owner;
    applies = [](const void* at) {
      return static_cast<bool>(std::invoke(Applies, shapes::in<Owner>(at)));
    };
    is_optional = true;
    return std::move(*this);
  }
};

inline bool may_be_absent(const Field& field) { return field.nullable || field.is_optional; }

struct Record {
  std::string_view meaning;
  std::vector<Field> fields;

  const Field* find(std::string_view key) const;
  // The field as another document has it, where it stands elsewhere in a CSV. REQUIRES: find(key).
  Field like(std::string_view key) const;
};

template <class T>
const Record& record_of() {
  static const Record record = declared(Of<T>{});
  return record;
}

template <Record (*kDeclared)()>
const Record& once() {
  static const Record record = kDeclared();
  return record;
}

// A member, a member of a member and so on, or a function of the record.
template <auto First, auto... Rest>
Field field(std::string_view key, std::string_view meaning = {}) {
  using Owner = typename MemberStep<decltype(First)>::Owner;
  using Way = shapes::Path<First, Rest...>;
  Field f;
  f.key = key;
  f.meaning = meaning;
  f.shape = &shapes::kShape<typename Way::Type>;
  f.reach = [](const void* record, std::any& made) {
    return shapes::reach<First, Rest...>(shapes::in<Owner>(record), made);
  };
  if constexpr (Way::kStored) {
    f.place = [](void* record) -> void* {
      return shapes::place<First, Rest...>(*static_cast<Owner*>(record));
    };
  }
  f.nullable = Way::kOptional;
  return f;
}

// A figure that `record` declares as `key`, kept by this member of another one, where it may be
// `called` otherwise: it means the same, has the same unit, and is the same to tables and `diff`.
// REQUIRES: record.find(key).
template <auto First, auto... Rest>
Field same_figure(const Record& record, std::string_view key, std::string_view called = {}) {
  const Field& declared = *record.find(key);
  Field f = field<First, Rest...>(called.empty() ? key : called, declared.meaning);
  f.unit = declared.unit;
  f.columns = declared.columns;
  f.diffs = declared.diffs;
  for (DiffFigure& diff : f.diffs) {
    if (diff.name.empty()) diff.name = key;
  }
  return f;
}

// An object of its own whose fields are of the record around it.
Field group(std::string_view key, const Record& (*record)(), std::string_view meaning = {});

// The same text in every document.
Field constant(std::string_view key, std::string_view text, std::string_view meaning = {});

// Every field of a record and of the objects in it, not of those in its lists, with the fields that
// lead to it.
using FieldVisitor = std::function<void(std::span<const Field* const> way, const Field& field)>;
void visit_fields(const Record& record, const FieldVisitor& visit);

// The field and its value, through objects; nullptr where one of them is absent.
const void* value_at(std::span<const Field* const> way, const Field& field, const void* record,
                     std::any& made);

}  // namespace slicewise::sim
