#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "trace_files.hpp"

namespace slicewise::scenarios {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "SWREQ001";
constexpr std::int64_t kWithTokens = 1;
constexpr std::int64_t kWithBlocks = 3;
constexpr std::int64_t kNoOrigin = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t kHead = 32;
constexpr std::int64_t kLatestInBinary = 9'200'000'001'000'000'000;  // as in text

template <class T>
void append(std::string& bytes, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

template <class T>
T at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

tl::unexpected<Diagnostics> damaged(const SourceText& source, std::string message) {
  return failure(Code::TraceFormat, {.file = source.name, .line = 0}, std::move(message),
                 "write the trace anew with `slicewise import`");
}

}  // namespace

std::string request_binary(const RequestLog& log) {
  std::string bytes(kMagic);
  append(bytes, static_cast<std::int64_t>(log.rows.size()));
  append(bytes, log.blocks ? kWithBlocks : log.has_tokens ? kWithTokens : 0);
  append(bytes, log.origin_unix_s.value_or(kNoOrigin));
  for (const auto& row : log.rows) append(bytes, row.at.ns);
  if (!log.has_tokens) return bytes;
  for (const auto& row : log.rows) append(bytes, row.input_tokens);
  for (const auto& row : log.rows) append(bytes, row.output_tokens);
  if (!log.blocks) return bytes;
  for (const auto& row : log.rows) append(bytes, row.prompt);
  append(bytes, std::int64_t{log.blocks->tokens});
  append(bytes, static_cast<std::int64_t>(log.blocks->before.size()));
  for (const PromptBlocks::Block block : log.blocks->before) append(bytes, block);
  return bytes;
}

bool is_binary_requests(std::string_view bytes) { return bytes.starts_with(kMagic); }

namespace {

// What follows the columns; nullptr where it is damaged.
std::shared_ptr<const PromptBlocks> read_blocks(std::string_view bytes) {
  constexpr std::size_t kBlocksHead = 16;
  if (bytes.size() < kBlocksHead) return nullptr;
  const auto tokens = at<std::int64_t>(bytes, 0);
  const auto count = at<std::int64_t>(bytes, 8);
  bytes.remove_prefix(kBlocksHead);
  if (tokens < 1 || tokens > kMostTokens || count < 1 || bytes.size() % 4 != 0 ||
      static_cast<std::uint64_t>(count) != bytes.size() / 4) {
    return nullptr;
  }
  PromptBlocks blocks;
  blocks.tokens = static_cast<std::int32_t>(tokens);
  blocks.before.resize(static_cast<std::size_t>(count));
  for (std::size_t block = 1; block < blocks.before.size(); ++block) {
    blocks.before[block] = at<PromptBlocks::Block>(bytes, 4 * block);
    if (blocks.before[block] >= block) return nullptr;
  }
  return std::make_shared<const PromptBlocks>(std::move(blocks));
}

// Whether the prompt has all tokens of its blocks.
bool has_blocks(const RequestTrace::Row& row, const PromptBlocks& blocks) {
  if (row.prompt >= blocks.before.size()) return false;
  std::int64_t tokens = 0;
  for (auto block = row.prompt; block != 0 && tokens <= row.input_tokens;
       block = blocks.before[block]) {
    tokens += blocks.tokens;
  }
  return tokens <= row.input_tokens;
}

}  // namespace

Expected<RequestLog> read_request_binary(const SourceText& source) {
  const std::string_view bytes = source.text;
  if (bytes.size() < kHead) return damaged(source, "the binary trace is cut short");
  const auto rows = at<std::int64_t>(bytes, 8);
  const auto flags = at<std::int64_t>(bytes, 16);
  const bool has_blocks_of_prompts = flags == kWithBlocks;
  const std::size_t width = has_blocks_of_prompts ? 20 : flags == kWithTokens ? 16 : 8;
  const std::size_t room = (bytes.size() - kHead) / width;
  const bool is_known = flags == 0 || flags == kWithTokens || has_blocks_of_prompts;
  if (!is_known || rows < 0 || static_cast<std::uint64_t>(rows) > room ||
      (!has_blocks_of_prompts && bytes.size() - kHead != static_cast<std::size_t>(rows) * width)) {
    return damaged(source, "the binary trace is not as long as its head says");
  }
  RequestLog log;
  log.has_tokens = flags != 0;
  if (has_blocks_of_prompts) {
    log.blocks = read_blocks(bytes.substr(kHead + static_cast<std::size_t>(rows) * width));
    if (!log.blocks) return damaged(source, "the blocks of the binary trace cannot be");
  }
  const auto origin = at<std::int64_t>(bytes, 24);
  if (origin != kNoOrigin) log.origin_unix_s = origin;
  const auto count = static_cast<std::size_t>(rows);
  log.rows.resize(count);
  std::int64_t before = 0;
  for (std::size_t row = 0; row < count; ++row) {
    RequestTrace::Row& here = log.rows[row];
    here.at = Duration{at<std::int64_t>(bytes, kHead + 8 * row)};
    if (log.has_tokens) {
      here.input_tokens = at<std::int32_t>(bytes, kHead + 8 * count + 4 * row);
      here.output_tokens = at<std::int32_t>(bytes, kHead + 12 * count + 4 * row);
    }
    if (log.blocks) {
      here.prompt = at<PromptBlocks::Block>(bytes, kHead + 16 * count + 4 * row);
      if (!has_blocks(here, *log.blocks)) {
        return damaged(source, "the blocks of the binary trace cannot be");
      }
    }
    if (here.at.ns < before || here.at.ns > kLatestInBinary || here.input_tokens < 0 ||
        here.input_tokens > kMostTokens || here.output_tokens < 0 ||
        here.output_tokens > kMostTokens) {
      return damaged(source, "the binary trace has times out of order, or numbers that cannot be");
    }
    before = here.at.ns;
  }
  return log;
}

}  // namespace slicewise::scenarios
