#include "import_report.hpp"

#include <fmt/format.h>

namespace slicewise::scenarios {
namespace {

constexpr std::int64_t kMostBadRows = 5;  // that are shown; the rest is counted

}  // namespace

ImportRemark* ImportReport::find(ImportRemark::Kind kind, std::string_view what) {
  for (ImportRemark& remark : log_.remarks) {
    if (remark.kind == kind && remark.what == what) return &remark;
  }
  return nullptr;
}

void ImportReport::bad_row(SourceLocation where, std::string message, std::string help) {
  ++bad_rows_;
  if (bad_rows_ <= kMostBadRows) {
    log_.bad.push_back(
        make_diagnostic(Code::TraceRow, std::move(where), std::move(message), std::move(help)));
  } else if (bad_rows_ == kMostBadRows + 1) {
    first_hidden_ = std::move(where);
  }
}

Diagnostics ImportReport::errors() const {
  Diagnostics found = log_.bad;
  if (bad_rows_ > kMostBadRows) {
    found.push_back(make_diagnostic(
        Code::TraceRow, first_hidden_,
        fmt::format("{} more rows cannot be read, this is the first", bad_rows_ - kMostBadRows),
        "repair them, or leave all bad rows out with --skip-bad"));
  }
  return found;
}

ImportLog ImportReport::take_log(std::int64_t imported) {
  log_.imported = imported;
  if (bad_rows_ > 0) {
    SourceLocation first = log_.bad.front().where;
    skipped(
        "rows that cannot be read", [&] { return std::move(first); }, bad_rows_);
  }
  return std::exchange(log_, {});
}

}  // namespace slicewise::scenarios
