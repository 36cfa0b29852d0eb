#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/models/validation.hpp"
#include "slicewise/nearest_name.hpp"

#include "csv_table.hpp"

namespace slicewise::models {
namespace {

constexpr std::array<std::string_view, 6> kNeeded = {"model1", "model2",        "ratio1",
                                                     "ratio2", "iso_gpu_util1", "iso_gpu_util2"};
constexpr std::array<std::string_view, 13> kOptional = {
    "dataset1",       "batch1",         "amp1",        "dataset2",     "batch2",
    "amp2",           "sum_ratio",      "co_gpu_util", "co_gmem_util", "co_gmem_mb",
    "iso_gmem_util1", "iso_gmem_util2", "flag"};

// Reads one file of pairs, collecting every mistake on the way.
class PairFileReader {
 public:
  explicit PairFileReader(const SourceText& file)
      : name_(file.name), table_(parse_csv(file.text)) {}

  Expected<MeasurementSource> read(std::string_view gpu) {
    if (table_.open_quote) {
      report(Code::FieldType, *table_.open_quote, "a quoted field never ends");
      return tl::unexpected(problems_);
    }
    read_header();
    if (!problems_.empty()) return tl::unexpected(problems_);
    MeasurementSource source;
    source.id = kUserPairs;
    source.title = name_.substr(name_.rfind('/') + 1);
    source.url = name_;
    source.read = "the file given";
    source.gpu = gpu;
    for (const CsvRow& row : table_.rows) {
      if (const auto pair = read_row(row)) source.pairs.push_back(*pair);
    }
    if (table_.rows.empty()) {
      problems_.push_back(make_diagnostic(Code::FieldMissing, {name_, 1, 1, 1},
                                          fmt::format("{} has no pairs", name_)));
    }
    if (!problems_.empty()) return tl::unexpected(problems_);
    return source;
  }

 private:
  void report(Code code, const CsvField& field, std::string message, std::string help = {}) {
    problems_.push_back(make_diagnostic(code, {name_, field.line, field.column, field.length},
                                        std::move(message), std::move(help)));
  }

  void read_header() {
    std::vector<std::string_view> known(kNeeded.begin(), kNeeded.end());
    known.insert(known.end(), kOptional.begin(), kOptional.end());
    for (std::size_t column = 0; column < table_.header.size(); ++column) {
      const CsvField& field = table_.header[column];
      if (std::find(known.begin(), known.end(), field.text) == known.end()) {
        const auto nearest = nearest_name(field.text, known);
        report(Code::FieldUnknown, field, fmt::format("unknown column `{}`", field.text),
               nearest ? fmt::format("did you mean `{}`?", *nearest)
                       : fmt::format("known columns: {}", fmt::join(known, ", ")));
      } else if (!columns_.emplace(field.text, column).second) {
        report(Code::FieldDuplicate, field, fmt::format("column `{}` is there twice", field.text));
      }
    }
    for (const std::string_view column : kNeeded) {
      if (columns_.contains(column)) continue;
      problems_.push_back(make_diagnostic(Code::FieldMissing, {name_, 1, 1, 1},
                                          fmt::format("there is no column `{}`", column),
                                          fmt::format("needed are {}", fmt::join(kNeeded, ", "))));
    }
  }

  const CsvField& field_of(const CsvRow& row, std::string_view column) const {
    return row[columns_.find(column)->second];
  }

  std::optional<double> read_number(const CsvRow& row, std::string_view column, double least,
                                    double most) {
    const CsvField& field = field_of(row, column);
    const auto value = number_in(field.text);
    if (!value) {
      report(Code::FieldType, field, fmt::format("`{}` must be a number", column),
             "leave out pairs that did not run");
    } else if (*value < least || *value > most) {
      report(Code::ValueRange, field,
             fmt::format("`{}` is {}; it must be from {} to {}", column, field.text, least, most));
      return std::nullopt;
    }
    return value;
  }

  // "ResNet18/CIFAR-10 b32 amp0": as much of the name as the file has.
  std::string name_of(const CsvRow& row, char side) const {
    std::string name = field_of(row, std::string("model") + side).text;
    constexpr std::array<std::array<std::string_view, 2>, 3> kParts = {
        {{"dataset", "/"}, {"batch", " b"}, {"amp", " amp"}}};
    for (const auto& [column, prefix] : kParts) {
      const auto found = columns_.find(std::string(column) + side);
      if (found == columns_.end()) continue;
      name += prefix;
      name += row[found->second].text;
    }
    return name;
  }

  std::optional<MeasuredPair> read_row(const CsvRow& row) {
    // A job that runs a hundred times slower or faster is a mistake in the file.
    constexpr double kLeastSpeed = 0.01;
    constexpr double kMostSpeed = 100;
    constexpr double kPercent = 0.01;
    if (row.size() != table_.header.size()) {
      report(Code::FieldMissing, row.front(),
             fmt::format("{} fields, but the header names {} columns", row.size(),
                         table_.header.size()));
      return std::nullopt;
    }
    const auto first_speed = read_number(row, "ratio1", kLeastSpeed, kMostSpeed);
    const auto second_speed = read_number(row, "ratio2", kLeastSpeed, kMostSpeed);
    const auto first_utilisation = read_number(row, "iso_gpu_util1", 0, 100);
    const auto second_utilisation = read_number(row, "iso_gpu_util2", 0, 100);
    if (!first_speed || !second_speed || !first_utilisation || !second_utilisation) {
      return std::nullopt;
    }
    return MeasuredPair{name_of(row, '1'),
                        name_of(row, '2'),
                        *first_speed,
                        *second_speed,
                        *first_utilisation * kPercent,
                        *second_utilisation * kPercent};
  }

  std::string name_;
  CsvTable table_;
  std::map<std::string, std::size_t, std::less<>> columns_;
  Diagnostics problems_;
};

}  // namespace

Expected<MeasurementSource> read_pairs(const SourceText& file, std::string_view gpu) {
  return PairFileReader(file).read(gpu);
}

}  // namespace slicewise::models
