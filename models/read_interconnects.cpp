#include <nlohmann/json.hpp>

#include "catalog_fields.hpp"
#include "catalog_readers.hpp"

namespace slicewise::models {
namespace {

void check_symmetric(const CatalogFields& fields, const std::vector<std::vector<int>>& nvlinks) {
  for (std::size_t a = 0; a < nvlinks.size(); ++a) {
    if (nvlinks[a].size() != nvlinks.size()) fields.fail("nvlinks", "is not square");
    if (nvlinks[a][a] != 0) fields.fail("nvlinks", "links a GPU to itself");
  }
  for (std::size_t a = 0; a < nvlinks.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (nvlinks[a][b] != nvlinks[b][a] || nvlinks[a][b] < 0) {
        fields.fail("nvlinks", "is not a symmetric table of link counts");
      }
    }
  }
}

Interconnect read_interconnect(CatalogFields fields, const SourceTable& sources) {
  Interconnect link;
  link.name = fields.text("name");
  link.source = sources.find(fields.text("source"));
  link.switched = fields.has("switched") && fields.flag("switched");
  if (fields.has("nvlinks")) link.nvlinks = fields.integer_rows("nvlinks");
  check_symmetric(fields, link.nvlinks);
  link.pcie_gbytes_per_second = fields.maybe_number("pcieGBps").value_or(0);
  link.pcie_assumed = fields.has("pcieAssumed") && fields.flag("pcieAssumed");
  fields.done();
  return link;
}

}  // namespace

std::vector<Interconnect> read_interconnects(std::string_view json) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, "interconnects.json");
  const SourceTable sources(file);
  std::vector<Interconnect> links;
  for (CatalogFields& fields : file.objects("interconnects")) {
    links.push_back(read_interconnect(fields, sources));
  }
  file.done();
  return links;
}

}  // namespace slicewise::models
