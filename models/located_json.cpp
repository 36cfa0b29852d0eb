#include "located_json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <regex>
#include <utility>

#include <fmt/format.h>

namespace slicewise::models {

SourceLocation location_of(const SourceText& file, std::size_t byte) {
  const std::string_view before = std::string_view(file.text).substr(0, byte);
  const auto line_start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  const auto starts_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  };
  const std::string_view line = before.substr(line_start);
  return {file.name, static_cast<int>(std::ranges::count(before, '\n')) + 1,
          static_cast<int>(std::ranges::count_if(line, starts_character)) + 1, 1};
}

namespace {

bool is_quoted(const YAML::Node& scalar) { return scalar.Tag() == "!"; }

SourceLocation sized(SourceLocation place, const YAML::Node& node) {
  if (node.IsScalar()) {
    place.length = std::max(1, static_cast<int>(node.Scalar().size()) + (is_quoted(node) ? 2 : 0));
  }
  return place;
}

// A plain scalar as JSON has it.
nlohmann::json plain_value(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  if (text.empty() || text == "null" || text == "~") return nullptr;
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(text.data(), end, whole);
      read.ec == std::errc() && read.ptr == end) {
    return whole;
  }
  double number = 0;
  const bool begins_as_number = text.front() == '-' || (text.front() >= '0' && text.front() <= '9');
  if (const auto read = std::from_chars(text.data(), end, number);
      begins_as_number && read.ec == std::errc() && read.ptr == end && std::isfinite(number)) {
    return number;
  }
  return text;
}

class Converter {
 public:
  explicit Converter(const SourceText& file) : file_(file) {
    for (std::size_t at = 0; at != std::string::npos;) {
      line_starts_.push_back(at);
      at = file.text.find('\n', at);
      if (at != std::string::npos) ++at;
    }
  }

  Expected<LocatedJson> convert(const YAML::Node& document) {
    read(document, file_.name, 0, out_.root);
    if (!problems_.empty()) return tl::unexpected(std::move(problems_));
    out_.value = value_of(out_.root);
    return std::move(out_);
  }

 private:
  // yaml-cpp counts lines and bytes; columns of characters are counted within the line.
  SourceLocation where(const YAML::Node& node) {
    const YAML::Mark mark = node.Mark();
    if (mark.line < 0 || static_cast<std::size_t>(mark.line) >= line_starts_.size()) {
      return {file_.name, 1, 1, 1};
    }
    const std::size_t start = line_starts_[static_cast<std::size_t>(mark.line)];
    const std::size_t end =
        std::min(file_.text.size(), start + static_cast<std::size_t>(std::max(0, mark.column)));
    // On from the value before: a line may be the whole document.
    if (start != counted_from_ || end < counted_to_) {
      counted_from_ = counted_to_ = start;
      characters_ = 0;
    }
    characters_ += std::ranges::count_if(
        std::string_view(file_.text).substr(counted_to_, end - counted_to_),
        [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    counted_to_ = end;
    return sized({file_.name, mark.line + 1, static_cast<int>(characters_) + 1, 1}, node);
  }

  // NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
  void read(const YAML::Node& node, const std::string& path, int depth, nlohmann::json& out) {
    constexpr int kDeepest = 32;
    constexpr int kMostValues = 1'000'000;
    if (depth > kDeepest || ++values_ > kMostValues) {
      if (problems_.empty()) {
        add_diagnostic(problems_, Code::YamlSyntax, where(node),
                       depth > kDeepest ? "nested too deeply" : "more than 1,000,000 values");
      }
      return;
    }
    out_.values.emplace(path, where(node));
    if (node.IsMap()) {
      read_map(node, path, depth, out);
    } else if (node.IsSequence()) {
      out = nlohmann::json::array();
      for (std::size_t i = 0; i < node.size() && values_ <= kMostValues; ++i) {
        read(node[i], fmt::format("{}[{}]", path, i), depth + 1, out.emplace_back());
      }
    } else if (node.IsScalar()) {
      out = is_quoted(node) ? nlohmann::json(node.Scalar()) : plain_value(node.Scalar());
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
  void read_map(const YAML::Node& node, const std::string& path, int depth, nlohmann::json& out) {
    out = nlohmann::json::object();
    for (const auto& member : node) {
      if (!member.first.IsScalar()) {
        add_diagnostic(problems_, Code::FieldType, where(member.first), "a key must be a name");
        continue;
      }
      const std::string& key = member.first.Scalar();
      const std::string inner = fmt::format("{}.{}", path, key);
      if (out.contains(key)) {
        add_diagnostic(problems_, Code::FieldDuplicate, where(member.first),
                       fmt::format("`{}` is given twice", key));
        continue;
      }
      out_.keys.emplace(inner, where(member.first));
      read(member.second, inner, depth + 1, out[key]);
    }
  }

  const SourceText& file_;
  std::vector<std::size_t> line_starts_;
  std::size_t counted_from_ = 0;   // start of a line
  std::size_t counted_to_ = 0;     // a byte of it
  std::ptrdiff_t characters_ = 0;  // between both
  LocatedJson out_;
  Diagnostics problems_;
  int values_ = 0;
};

}  // namespace

SourceLocation location_of(const SourceText& file, const YAML::Node& node) {
  return sized(location_of(file, static_cast<std::size_t>(std::max(node.Mark().pos, 0))), node);
}

bool is_text(const YAML::Node& scalar) {
  return scalar.IsScalar() && (is_quoted(scalar) || plain_value(scalar.Scalar()).is_string());
}

Expected<YAML::Node> read_yaml(const SourceText& file) {
  const auto refuse = [&](SourceLocation where, std::string message, std::string help = {}) {
    return tl::unexpected(Diagnostics{
        make_diagnostic(Code::YamlSyntax, std::move(where), std::move(message), std::move(help))});
  };
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(file.text);
    if (documents.empty()) return refuse({file.name, 1, 1, 1}, "the file is empty");
    if (documents.size() > 1) {
      return refuse(location_of(file, documents[1]), "the file holds several documents",
                    "write one document a file");
    }
    return documents.front();
  } catch (const YAML::Exception& error) {
    const auto byte = static_cast<std::size_t>(std::max(error.mark.pos, 0));
    return refuse(location_of(file, byte), "cannot be read: " + error.msg);
  }
}

SourceLocation LocatedJson::place_of(std::string path) const {
  while (true) {
    if (const auto found = values.find(path); found != values.end()) return found->second;
    const std::size_t cut = path.find_last_of(".[");
    if (cut == std::string::npos) return {};
    path.resize(cut);
  }
}

Expected<LocatedJson> located_json(const SourceText& file, const YAML::Node& document) {
  return Converter(file).convert(document);
}

bool is_date(const std::string& text) {
  static const std::regex shape(R"(\d{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)");
  return std::regex_match(text, shape);
}

}  // namespace slicewise::models
