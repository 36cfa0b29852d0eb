#include "slicewise/reports/formats.hpp"

#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/plan_record.hpp"

#include "../screens/screens.hpp"
#include "csv_documents.hpp"
#include "document_text.hpp"
#include "documents.hpp"
#include "record_json.hpp"
#include "replay_origin_fields.hpp"

namespace slicewise::sim {

// Each beside what writes its document.
template <>
const Record& record_of<NeighbourMatrix>();
template <>
const Record& record_of<SensitivityStudy>();
template <>
const Record& record_of<ValidationResult>();

}  // namespace slicewise::sim

namespace slicewise::reports {

template <class Found>
std::string Report<Found>::table(const TextStyle& style, bool wide) const {
  return screen_text(screen_of(found_, style, wide ? Detail::Wide : Detail::Brief), style, wide);
}

template <class Found>
std::string Report<Found>::markdown() const {
  return screen_markdown(screen_of(found_, kPlain, Detail::Comment));
}

template <class Found>
std::string Report<Found>::json() const {
  return json_text(document_of(found_));
}

template <class Found>
std::string Report<Found>::yaml() const {
  return yaml_text(document_of(found_));
}

template <class Found>
std::string Report<Found>::csv() const {
  return csv_of(found_);
}

// "slicewise max-load" of slicewise.dev/max-load.v1alpha1.
template <class Found>
std::string Report<Found>::schema() {
  const sim::Record& record = sim::record_of<Found>();
  const std::string_view api = record.find("apiVersion")->constant;
  const std::string_view name = api.substr(api.find('/') + 1);
  return json_text(
      document_schema(record, "slicewise " + std::string(name.substr(0, name.find('.')))));
}

template class Report<sim::Result>;
template class Report<sim::StrategyComparison>;
template class Report<sim::MaxLoad>;
template class Report<sim::NeighbourMatrix>;
template class Report<sim::SensitivityStudy>;
template class Report<sim::ReplayStudy>;
template class Report<sim::InflationStudy>;
template class Report<sim::ValidationResult>;
template class Report<sim::Plan>;

}  // namespace slicewise::reports
