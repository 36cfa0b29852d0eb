#include "slicewise/sim/describe.hpp"

#include "slicewise/lookup.hpp"

namespace slicewise::sim {
namespace {

bool is_empty(const Field& field, const void* value) {
  switch (field.shape->kind) {
    case Shape::Kind::Truth:
      return !shapes::in<bool>(value);
    case Shape::Kind::Text:
      return field.shape->text(value).empty();
    case Shape::Kind::Counts:
      return shapes::in<std::map<std::string, std::int64_t>>(value).empty();
    case Shape::Kind::Labels:
      return shapes::in<std::map<std::string, std::string>>(value).empty();
    case Shape::Kind::List:
      return field.shape->size(value) == 0;
    case Shape::Kind::Number:
      return field.is_positive && !(shapes::in<double>(value) > 0);
    case Shape::Kind::Whole:
    case Shape::Kind::Time:
    case Shape::Kind::Money:
    case Shape::Kind::Size:
      return field.is_positive && field.shape->whole(value) <= 0;
    case Shape::Kind::Word:
    case Shape::Kind::Figure:
    case Shape::Kind::Object:
      break;
  }
  return false;
}

void visit_below(const Record& record, std::vector<const Field*>& way, const FieldVisitor& visit) {
  for (const Field& field : record.fields) {
    visit(way, field);
    if (field.shape == nullptr || field.shape->kind != Shape::Kind::Object) continue;
    way.push_back(&field);
    visit_below(field.inner(), way, visit);
    way.pop_back();
  }
}

constexpr Shape kGroup{Shape::Kind::Object};

}  // namespace

const Record& Field::inner() const {
  if (record != nullptr) return record();
  return shape->kind == Shape::Kind::List ? shape->item->record() : shape->record();
}

const void* Field::value(const void* of_record, std::any& made) const {
  if (base != nullptr) of_record = base(of_record);
  if (applies != nullptr && !applies(of_record)) return nullptr;
  return reach(of_record, made);
}

const void* Field::shown(const void* of_record, std::any& made) const {
  const void* const at = value(of_record, made);
  return at == nullptr || (is_optional && !nullable && is_empty(*this, at)) ? nullptr : at;
}

void* Field::room(void* in_record) const {
  if (base != nullptr) in_record = const_cast<void*>(base(in_record));
  return place == nullptr ? nullptr : place(in_record);
}

Field Field::csv(int position, std::string_view name, std::string_view part) && {
  csv_names.push_back({position, name, part});
  return std::move(*this);
}

Field Field::policy(std::string_view name, std::string_view part, std::string_view words) && {
  policy_names.push_back({name, part, words});
  return std::move(*this);
}

Field Field::column(std::string_view heading, int priority, std::string_view part,
                    std::string_view on_page) && {
  columns.push_back({heading, priority, part, on_page});
  return std::move(*this);
}

Field Field::diff(DiffFigure figure) && {
  diffs.push_back(figure);
  return std::move(*this);
}

const Field* Record::find(std::string_view key) const {
  return find_or_null(fields, key, &Field::key);
}

Field Record::like(std::string_view key) const {
  Field field = *find(key);
  field.csv_names.clear();
  return field;
}

Field group(std::string_view key, const Record& (*record)(), std::string_view meaning) {
  Field f;
  f.key = key;
  f.meaning = meaning;
  f.shape = &kGroup;
  f.reach = [](const void* record_around, std::any&) { return record_around; };
  f.place = [](void* record_around) { return record_around; };
  f.record = record;
  return f;
}

Field constant(std::string_view key, std::string_view text, std::string_view meaning) {
  Field f;
  f.key = key;
  f.meaning = meaning;
  f.constant = text;
  return f;
}

void visit_fields(const Record& record, const FieldVisitor& visit) {
  std::vector<const Field*> way;
  visit_below(record, way, visit);
}

const void* value_at(std::span<const Field* const> way, const Field& field, const void* record,
                     std::any& made) {
  for (const Field* step : way) {
    record = step->value(record, made);
    if (record == nullptr) return nullptr;
  }
  return field.value(record, made);
}

}  // namespace slicewise::sim
