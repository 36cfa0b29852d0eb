#include "import_report.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace slicewise::scenarios {
namespace {

constexpr std::size_t kMostReasons = 20;  // that are told apart

}  // namespace

ImportRemark* ImportReport::find(ImportRemark::Kind kind, std::string_view what) {
  for (ImportRemark& remark : log_.remarks) {
    if (remark.kind == kind && remark.what == what) return &remark;
  }
  return nullptr;
}

void ImportReport::count_reason(std::string reason, const SourceLocation& where) {
  if (!skip_bad_) return;
  auto known = std::ranges::find(reasons_, reason, &ImportRemark::what);
  if (known == reasons_.end() && reasons_.size() == kMostReasons) {
    reason = "other reasons";
    known = std::ranges::find(reasons_, reason, &ImportRemark::what);
  }
  if (known == reasons_.end()) {
    reasons_.push_back({ImportRemark::Kind::Note, 0, std::move(reason), where});
    known = reasons_.end() - 1;
  }
  ++known->count;
}

void ImportReport::bad_row(SourceLocation where, std::string message, std::string help,
                           std::string reason) {
  count_reason(reason.empty() ? message : std::move(reason), where);
  if (!bad_rows_.shows(where)) return;
  log_.bad.push_back(
      make_diagnostic(Code::TraceRow, std::move(where), std::move(message), std::move(help)));
}

Diagnostics ImportReport::errors() const {
  Diagnostics found = log_.bad;
  if (bad_rows_.hidden() > 0) {
    found.push_back(make_diagnostic(
        Code::TraceRow, bad_rows_.first_hidden(),
        fmt::format("{} more rows cannot be read, this is the first", bad_rows_.hidden()),
        "repair them, or leave all bad rows out with --skip-bad"));
  }
  return found;
}

ImportLog ImportReport::take_log(std::int64_t imported) {
  log_.imported = imported;
  if (bad_rows_.count() > 0) {
    SourceLocation first = log_.bad.front().where;
    skipped("rows that cannot be read", first, bad_rows_.count());
    for (ImportRemark& reason : reasons_) {
      reason.what = "of them: " + reason.what;
      log_.remarks.push_back(std::move(reason));
    }
  }
  return std::exchange(log_, {});
}

std::string what_was_skipped(const ImportLog& log) {
  std::string what;
  for (const ImportRemark& remark : log.remarks) {
    if (remark.kind != ImportRemark::Kind::Skipped) continue;
    what += fmt::format("{}{} {}", what.empty() ? "skipped: " : ", ", remark.count, remark.what);
  }
  return what;
}

}  // namespace slicewise::scenarios
