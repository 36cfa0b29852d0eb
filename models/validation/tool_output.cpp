#include "tool_output.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace slicewise::models {
namespace {

struct Output {
  std::string_view header;  // how its header begins
  std::string_view what;
  std::string_view instead;
};

constexpr std::array kOutputs = {
    Output{"Metric,avg,", "genai-perf's CSV does not say how many requests were served at a time",
           "give profile_export_genai_perf.json, which it writes beside it"},
    Output{"Request Rate,",
           "perf_analyzer ran at a request rate: how many requests were served at a time is not "
           "known",
           "measure with --concurrency-range 1:4 instead of --request-rate-range"},
    Output{"Time (%)  Total Time (ns)", "this is what nsys stats prints for people",
           "write it with nsys stats --report nvtx_sum --format csv"},
};

// Lines of the tool may stand before.
constexpr std::size_t kFarthest = 10'000;

}  // namespace

std::optional<Diagnostic> unusable_output(const SourceText& file) {
  const std::string_view text = std::string_view(file.text).substr(0, kFarthest);
  int line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    ++line;
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t first = std::min(text.find_first_not_of(" \t\r", begin), end);
    const std::string_view content = text.substr(first, end - first);
    for (const Output& output : kOutputs) {
      if (!content.starts_with(output.header)) continue;
      const SourceLocation where{file.name, line, static_cast<int>(first - begin) + 1,
                                 static_cast<int>(output.header.size())};
      return make_diagnostic(Code::TraceFormat, where, std::string(output.what),
                             std::string(output.instead));
    }
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace slicewise::models
