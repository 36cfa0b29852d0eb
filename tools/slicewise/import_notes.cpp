#include "import_notes.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace slicewise::tools {
namespace {

using scenarios::ImportRemark;

std::string_view result_name(const scenarios::Imported& imported) {
  if (std::holds_alternative<scenarios::JobTrace>(imported.content)) return "jobs";
  if (std::holds_alternative<scenarios::RequestLog>(imported.content)) return "requests";
  if (std::holds_alternative<scenarios::ClientRates>(imported.content)) return "windows of clients";
  return "workloads";
}

std::string_view verb_of(ImportRemark::Kind kind) {
  switch (kind) {
    case ImportRemark::Kind::Skipped:
      return "skipped";
    case ImportRemark::Kind::Guessed:
      return "guessed";
    case ImportRemark::Kind::Repaired:
      return "repaired";
    case ImportRemark::Kind::Note:
      break;
  }
  return "";
}

std::string place_of(const SourceLocation& where) {
  if (where.line == 0) return "";
  return fmt::format(" (first at {}:{})", where.file, where.line);
}

// Of one thing, which is no plural.
std::string only_place_of(const SourceLocation& where) {
  return where.line == 0 ? "" : fmt::format(", at {}:{}", where.file, where.line);
}

}  // namespace

std::string grouped(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::vector<std::string> import_notes(const scenarios::Imported& imported) {
  return import_notes(imported.log, result_name(imported));
}

std::vector<std::string> import_notes(const scenarios::ImportLog& log, std::string_view result) {
  std::vector<std::string> notes = {
      fmt::format("{} rows read, {} {}", grouped(log.read), grouped(log.imported), result)};
  for (const ImportRemark& remark : log.remarks) {
    if (remark.kind == ImportRemark::Kind::Note && remark.count == 0) {
      notes.push_back(remark.what);
    } else if (remark.kind == ImportRemark::Kind::Note) {
      notes.push_back(
          remark.count == 1
              ? fmt::format("{} (one{})", remark.what, only_place_of(remark.first))
              : fmt::format("{} {}{}", grouped(remark.count), remark.what, place_of(remark.first)));
    } else {
      notes.push_back(fmt::format("{} {}: {}{}", verb_of(remark.kind), grouped(remark.count),
                                  remark.what, place_of(remark.first)));
    }
  }
  return notes;
}

}  // namespace slicewise::tools
