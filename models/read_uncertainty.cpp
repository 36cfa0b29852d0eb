#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"

#include "catalog_fields.hpp"

namespace slicewise::models {

std::vector<FigureUncertainty> read_uncertainty(CatalogFields& object,
                                                std::span<const std::string_view> figures) {
  std::vector<FigureUncertainty> out;
  const auto is_listed = [&](const std::string& figure) {
    return contains(out, figure, &FigureUncertainty::figure);
  };
  for (CatalogFields& fields : object.objects("uncertainty")) {
    FigureUncertainty one;
    one.figure = fields.text("figure");
    one.half_width_95 = fields.number("halfWidth95");
    const auto least = maybe_number(fields, "least");
    const auto most = maybe_number(fields, "most");
    if (least.has_value() != most.has_value()) {
      fields.fail(least ? "least" : "most", "is one of two bounds: give both, or neither");
    } else if (least && *least > *most) {
      fields.fail("least", "is above most");
    } else if (least) {
      one.between = Between{*least, *most};
    }
    if (fields.has("correlations")) one.correlations = fields.named_numbers("correlations", -1, 1);
    fields.done();
    if (!contains(figures, one.figure)) {
      fields.fail("figure", "is no figure that measurements leave uncertain", Code::EnumUnknown,
                  fmt::format("one of {}", fmt::join(figures, ", ")));
    } else if (is_listed(one.figure)) {
      fields.fail("figure", "is in the list twice");
    }
    for (const auto& [other, correlation] : one.correlations) {
      if (!is_listed(other)) {
        fields.fail("correlations", fmt::format("{} is not in the list before", other));
      }
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace slicewise::models
