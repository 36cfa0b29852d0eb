#include "replay_figures.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/units.hpp"

#include "../document/record_json.hpp"
#include "result_figures.hpp"

namespace slicewise::reports::replayed {

std::string Figure::text(double value) const {
  switch (field->shape->kind) {
    case sim::Shape::Kind::Time:
      return seconds_words(value);
    case sim::Shape::Kind::Money:
      return dollars_words(value);
    case sim::Shape::Kind::Whole:
      return count_text(value);
    default:
      break;
  }
  switch (field->unit) {
    case sim::Unit::Ratio:
    case sim::Unit::Share:
      return percent_text(value);
    case sim::Unit::Times:
      return ratio_words(value);
    case sim::Unit::Count:
      return count_text(value);
    default:
      return short_text(value);
  }
}

std::vector<Figure> figures_of(const sim::Record& record) {
  std::vector<Figure> figures;
  sim::visit_fields(record, [&](std::span<const sim::Field* const> way, const sim::Field& field) {
    for (const sim::Field::ColumnName& column : field.columns) {
      Figure figure{pointer_of(way, field), &field, &column};
      if (!column.part.empty()) {
        figure.pointer += "/" + std::string(column.part);
        figure.field = field.inner().find(column.part);
      }
      figures.push_back(std::move(figure));
    }
  });
  return figures;
}

Figure figure_of(const sim::Record& record, std::string_view pointer) {
  const std::vector<Figure> figures = figures_of(record);
  const auto found = std::ranges::find(figures, pointer, &Figure::pointer);
  if (found == figures.end()) {
    throw std::logic_error(fmt::format("no figure of replays is {}", pointer));
  }
  return *found;
}

std::optional<double> value_at(const nlohmann::json& object, std::string_view pointer) {
  const nlohmann::json::json_pointer at{std::string(pointer)};
  return object.contains(at) ? std::optional(object[at].get<double>()) : std::nullopt;
}

std::string seconds_words(double value) { return duration_text(from_seconds(value)); }
std::string ratio_words(double value) { return fmt::format("{:.2f}", value); }
std::string dollars_words(double value) { return money_text(from_dollars(value)); }

}  // namespace slicewise::reports::replayed
