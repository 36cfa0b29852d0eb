#include <nlohmann/json.hpp>

#include "catalog_fields.hpp"
#include "catalog_readers.hpp"

namespace slicewise::models {
namespace {

LlmModel read_model(CatalogFields fields) {
  constexpr double kSecondsPerMillisecond = 1e-3;
  LlmModel model;
  model.name = fields.text("name");
  model.title = fields.text("title");
  model.gpu_model = fields.text("gpu");
  model.precision = fields.text("precision");
  model.step = {fields.number("weightsMs") * kSecondsPerMillisecond,
                fields.number("tokenMs") * kSecondsPerMillisecond,
                fields.number("kvReadMs") * kSecondsPerMillisecond,
                fields.number("overheadMs") * kSecondsPerMillisecond};
  model.weights = mebibytes(fields.integer("weightsMib"));
  model.kv_bytes_per_token = Bytes{fields.integer("kvBytesPerToken")};
  model.source = fields.text("source");
  model.provenance = fields.named_texts("provenance");
  model.note = fields.text_or_empty("note");
  fields.done();
  return model;
}

}  // namespace

std::vector<LlmModel> read_llm_models(std::string_view json) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, "llm_models.json");
  const std::string date = file.text("date");
  std::vector<LlmModel> models;
  for (CatalogFields& fields : file.objects("models")) {
    models.push_back(read_model(fields));
    models.back().date = date;
  }
  file.done();
  return models;
}

}  // namespace slicewise::models
