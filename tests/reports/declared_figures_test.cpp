#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/csv_lines.hpp"
#include "slicewise/reports/difference.hpp"
#include "slicewise/reports/reference.hpp"
#include "slicewise/reports/result_report.hpp"
#include "slicewise/sim/plan_record.hpp"
#include "slicewise/sim/policies.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../../reports/document/record_json.hpp"
#include "../../reports/document/result_model.hpp"
#include "../../reports/document/stored_fields.hpp"
#include "golden_file.hpp"

// A figure of a result is declared once and shows wherever results do: nothing but its declaration
// has to know it.
namespace slicewise::reports {
namespace {

using nlohmann::json;

using sim::Field;
using sim::Record;
using sim::Shape;

// Every member of a record with a value of its own, lists with one entry.
class Filler {
 public:
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the declarations
  void fill(const Record& record, void* object) {
    for (const Field& field : record.fields) {
      if (field.shape == nullptr) continue;
      void* const room = field.room(object);
      if (room != nullptr) fill_value(field, *field.shape, room);
    }
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the declarations
  void fill_value(const Field& field, const Shape& shape, void* at) {
    ++values_;
    switch (shape.kind) {
      case Shape::Kind::Truth:
        *static_cast<bool*>(at) = true;
        return;
      case Shape::Kind::Number:
        *static_cast<double*>(at) = field.unit == sim::Unit::Ratio ? values_ / 1024.0 : values_;
        return;
      case Shape::Kind::Whole:
      case Shape::Kind::Size:
        shape.set_whole(at, values_);
        return;
      case Shape::Kind::Time:
      case Shape::Kind::Money:
        shape.set_whole(at, values_ * 1'000'000'000LL);
        return;
      case Shape::Kind::Text:
        shape.set_text(at, "text" + std::to_string(values_));
        return;
      case Shape::Kind::Word:
        return;
      case Shape::Kind::Figure:
        *static_cast<scenarios::FigureValue*>(at) = seconds(values_);
        return;
      case Shape::Kind::Counts:
        (*static_cast<std::map<std::string, std::int64_t>*>(at))["name"] = values_;
        return;
      case Shape::Kind::Labels:
        (*static_cast<std::map<std::string, std::string>*>(at))["name"] = "text";
        return;
      case Shape::Kind::List:
        fill_value(field, *shape.item, shape.append(at));
        return;
      case Shape::Kind::Object:
        fill(field.inner(), at);
        return;
    }
  }

  int values_ = 0;
};

sim::Result full_result() {
  sim::Result result;
  Filler().fill(sim::record_of<sim::Result>(), &result);
  return result;
}

// "variants[].pods.oomKilled" as a JSON pointer to the first of each list.
json::json_pointer pointer_to(std::string path) {
  for (std::size_t at = 0; (at = path.find("[]", at)) != std::string::npos;) {
    path.replace(at, 2, "/0");
  }
  std::ranges::replace(path, '.', '/');
  return json::json_pointer("/" + path);
}

TEST(DeclaredFigures, AreAllInTheDocument) {
  const json document = described_json(full_result());
  for (const DeclaredValue& value : values_of_results()) {
    EXPECT_TRUE(document.contains(pointer_to(value.path))) << value.path;
  }
}

TEST(DeclaredFigures, AreReadBackAsTheyWereWritten) {
  const json document = described_json(full_result());
  StoredFields fields;
  const auto read = fields.read<sim::Result>(document);
  EXPECT_TRUE(fields.odd().empty()) << fields.odd().front().message;
  EXPECT_EQ(described_json(read), document);
}

// The journal of a plan and other processes get every bit of what is declared.
TEST(DeclaredFigures, TravelBetweenProcesses) {
  sim::PlanAnswer answer;
  Filler().fill(sim::record_of<sim::OptionFigures>(), &answer.figures.emplace());
  answer.code = Code::GpuOom;
  answer.refused = {"a {} full\nline \xC3\xA4", {"100 %"}};
  answer.figures->worst_ratio = 0.1 + 0.2;
  answer.figures->per_job.reset();
  const auto told = sim::read_answer(sim::answer_line(answer));
  ASSERT_TRUE(told && told->figures);
  EXPECT_EQ(described_json(*told->figures), described_json(*answer.figures));
  EXPECT_EQ(told->figures->worst_ratio, answer.figures->worst_ratio);
  EXPECT_EQ(told->figures->verdict, answer.figures->verdict);
  EXPECT_EQ(told->code, answer.code);
  EXPECT_EQ(told->refused, answer.refused);
}

TEST(DeclaredFigures, HaveASchemaWithTheirMeaning) {
  const json schema = json::parse(Report<sim::Result>::schema());
  for (const DeclaredValue& value : values_of_results()) {
    std::string path = value.path;
    for (std::size_t at = 0; (at = path.find("[].", at)) != std::string::npos;) {
      path.replace(at, 3, "/items/properties/");
    }
    for (std::size_t at = 0; (at = path.find('.', at)) != std::string::npos;) {
      path.replace(at, 1, "/properties/");
    }
    const json::json_pointer at("/properties/" + path);
    ASSERT_TRUE(schema.contains(at)) << value.path;
    EXPECT_EQ(schema[at].value("description", ""), value.meaning) << value.path;
  }
}

TEST(DeclaredFigures, AreExplained) {
  for (const DeclaredValue& value : values_of_results()) {
    const auto text = explain("result." + value.path, {});
    ASSERT_TRUE(text) << value.path;
    EXPECT_TRUE(text->starts_with(value.path.substr(0, 20))) << *text;
  }
  EXPECT_FALSE(explain("variants[].pods.eaten", {}));
}

std::vector<std::string> cells_of(const CsvLines& line) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < line.size(); ++i) cells.emplace_back(line.value(i));
  return cells;
}

TEST(DeclaredFigures, HaveTheirColumnsInCsv) {
  sim::Result result = full_result();
  // Rows are of workloads where the bill is not grouped.
  for (sim::VariantResult& variant : result.variants) variant.cost.split.groups.clear();
  const SourceText csv{"result.csv", Report(result).csv()};
  CsvLines lines(csv);
  ASSERT_TRUE(lines.next());
  const std::vector<std::string> header = cells_of(lines);
  ASSERT_TRUE(lines.next());
  const std::vector<std::string> row = cells_of(lines);
  ASSERT_EQ(header.size(), row.size());
  std::set<std::string> columns;  // items of two kinds may share one
  for (const DeclaredValue& value : values_of_results()) {
    for (const std::string& name : value.csv) {
      const auto at = std::ranges::find(header, name);
      ASSERT_NE(at, header.end()) << name;
      EXPECT_NE(row[static_cast<std::size_t>(at - header.begin())], "") << name;
      columns.insert(name);
    }
  }
  EXPECT_EQ(columns.size(), header.size());
}

// Columns are published in their order: a new one goes last.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the declarations
void add_positions(const Record& record, std::set<std::pair<int, std::string_view>>& positions) {
  sim::visit_fields(record, [&](std::span<const Field* const>, const Field& field) {
    for (const Field::CsvName& csv : field.csv_names) positions.insert({csv.position, csv.name});
    const bool is_list = field.shape != nullptr && field.shape->kind == Shape::Kind::List;
    if (is_list && field.shape->item->kind == Shape::Kind::Object) {
      add_positions(field.inner(), positions);
    }
  });
}

TEST(DeclaredFigures, TakeEachPlaceInCsvOnce) {
  std::set<std::pair<int, std::string_view>> positions;
  add_positions(sim::record_of<sim::Result>(), positions);
  int next = 0;
  for (const auto& [position, name] : positions) EXPECT_EQ(position, ++next) << name;
}

TEST(DeclaredFigures, AreKnownToPolicies) {
  const sim::Result result = full_result();
  const sim::VariantResult& variant = result.variants.front();
  for (const DeclaredValue& value : values_of_results()) {
    for (std::string name : value.policies) {
      ASSERT_TRUE(scenarios::policy_figure(name)) << name;
      if (name.starts_with("workloads.NAME.")) {
        name.replace(10, 4, variant.workloads.front().name);
      }
      scenarios::Policy policy;
      using Op = scenarios::PolicyNode::Op;
      policy.nodes = {{.op = Op::Figure, .text = name},
                      {.op = Op::Number, .text = {}},
                      {.op = Op::Greater, .left = 0, .right = 1, .text = {}}};
      const auto judged = sim::judge_policies({policy}, variant);
      EXPECT_EQ(judged.at(0).verdict, sim::PolicyResult::Verdict::Pass) << name;
    }
  }
}

TEST(DeclaredFigures, AreComparedByDiff) {
  sim::Result result = full_result();
  // Where there are objectives they stand for the latencies.
  result.variants.front().workloads.front().objectives.clear();
  const SourceText source{"result.json", Report(result).json()};
  const auto difference = compare_documents(source, source);
  ASSERT_TRUE(difference) << difference.error().front().message;
  std::set<std::string> names;
  for (const FigureDifference& figure : difference->items.at(0).figures) {
    names.insert(figure.shown().name);
  }
  std::size_t declared = 0;
  for (const DeclaredValue& value : values_of_results()) {
    for (const std::string& name : value.diff) {
      EXPECT_TRUE(names.contains(name.substr(0, name.find(' ')))) << name;
      ++declared;
    }
  }
  EXPECT_EQ(declared, names.size());
}

// The tables of RESULT.md.
std::string result_model_markdown() {
  std::vector<std::pair<std::string, std::string>> sections;  // an object and its rows
  for (const DeclaredValue& value : values_of_results()) {
    const std::size_t dot = value.path.rfind('.');
    const std::string object = dot == std::string::npos ? "" : value.path.substr(0, dot);
    auto section = std::ranges::find(sections, object, &std::pair<std::string, std::string>::first);
    if (section == sections.end()) section = sections.insert(section, {object, ""});
    section->second += fmt::format(
        "| `{}` | {}{} | {} | {} | {} | {} |\n", value.path.substr(dot + 1), value.type,
        value.may_be_absent ? ", may be absent" : "", value.meaning, fmt::join(value.csv, ", "),
        fmt::join(value.policies, ", "), fmt::join(value.diff, ", "));
  }
  std::string out;
  for (const auto& [object, rows] : sections) {
    if (!object.empty()) out += fmt::format("\n### `{}`\n", object);
    out +=
        "\n| Key | Type | Meaning | CSV | Policies | `diff` |\n|---|---|---|---|---|---|\n" + rows;
  }
  return out;
}

// SLICEWISE_UPDATE_GOLDEN=1 rewrites what follows the mark.
TEST(DeclaredFigures, AreTheTablesOfTheDataModel) {
  const std::string file = SLICEWISE_SOURCE_DIR "/reports/RESULT.md";
  const std::string mark = "<!-- from the declarations -->\n";
  const std::string text = file_text(file);
  const std::size_t at = text.find(mark);
  ASSERT_NE(at, std::string::npos);
  const std::string head = text.substr(0, at + mark.size());
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << head << result_model_markdown();
  }
  EXPECT_EQ(file_text(file), head + result_model_markdown());
}

}  // namespace
}  // namespace slicewise::reports
