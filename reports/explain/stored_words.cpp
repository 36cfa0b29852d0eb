#include "stored_words.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "../screens/result_figures.hpp"

namespace slicewise::reports {

std::string said(const TextStyle& style, const std::string& sentence, int indent) {
  if (sentence.empty()) return "";
  return wrapped_text(sentence, style.width, std::string(static_cast<std::size_t>(indent), ' '),
                      indent + 2);
}

std::vector<std::string> items(StoredDocument& document, const std::string& list) {
  std::vector<std::string> pointers;
  const auto* values = document.list(list);
  for (std::size_t i = 0; values != nullptr && i < values->size(); ++i) {
    pointers.push_back(fmt::format("{}/{}", list, i));
  }
  return pointers;
}

double figure(StoredDocument& document, const std::string& pointer, double absent) {
  return document.number(pointer).value_or(absent);
}

std::string text_of(StoredDocument& document, const std::string& pointer) {
  return document.text(pointer).value_or("");
}

std::string time(StoredDocument& document, const std::string& pointer) {
  return duration_text(from_seconds(figure(document, pointer)));
}

std::string findings(StoredDocument& document, const TextStyle& style, const std::string& variant,
                     const std::string& workload) {
  std::string out;
  for (const std::string& at : items(document, variant + "/findings")) {
    const std::string message = text_of(document, at + "/message");
    const bool meant = workload.empty() ? text_of(document, at + "/severity") != "note"
                                        : message.find('"' + workload + '"') != std::string::npos;
    if (!meant) continue;
    const std::string help = text_of(document, at + "/help");
    out += said(style,
                fmt::format("{} {}: {}{}", signs(style).warn, text_of(document, at + "/code"),
                            message, help.empty() ? "" : "; " + help),
                workload.empty() ? 2 : 4);
  }
  return out;
}

bool knows_places(StoredDocument& document, const std::string& at) {
  return std::ranges::any_of(items(document, at + "/gpus"), [&](const std::string& gpu) {
    return !items(document, gpu + "/pods").empty();
  });
}

}  // namespace slicewise::reports
