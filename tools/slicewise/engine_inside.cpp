#include "engine_inside.hpp"

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "slicewise/version.hpp"

#include "files.hpp"
#include "host.hpp"
#include "terminal.hpp"

namespace slicewise::tools {
namespace {

constexpr const char* kName = "slicewise-engine.js";
constexpr std::size_t kLargestEngine = std::size_t{16} << 20U;
// A page is sent by mail; the engine is most of it.
constexpr std::size_t kMostFiles = std::size_t{1} << 20U;

std::string found_engine() {
  std::error_code ignored;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto& place : {folder / kName, folder / "../share/slicewise" / kName}) {
    if (std::filesystem::exists(place, ignored)) return place.lexically_normal().string();
  }
  return {};
}

Diagnostics no_engine(std::string what) {
  return {
      make_diagnostic(Code::FileUnreadable, {}, "--interactive: " + std::move(what),
                      fmt::format("it is a file of the release "
                                  "(https://slicewise.dev/releases/v{}/{}), or tools/web/build "
                                  "writes it: put it beside the program, or say where it is with "
                                  "--engine FILE",
                                  kVersion, kName))};
}

}  // namespace

tl::expected<std::string, ExitCode> engine_script(const ReportCommand& command,
                                                  const CommonFlags& flags) {
  const Host* const host = current_host();
  const bool given = host != nullptr && host->files.contains(kName);
  const std::string path = !command.engine.empty() ? command.engine
                           : given                 ? kName
                                                   : found_engine();
  if (path.empty()) {
    return tl::unexpected(
        fail(no_engine(fmt::format("there is no {} beside the program", kName)), {}, flags));
  }
  auto source = read_source(path, kLargestEngine);
  if (!source) return tl::unexpected(fail(source.error(), {}, flags));
  if (!source->text.starts_with(fmt::format("// slicewise {}\n", kVersion))) {
    return tl::unexpected(
        fail(no_engine(fmt::format("\"{}\" is not the engine of slicewise {}", path, kVersion)), {},
             flags));
  }
  return std::move(source->text);
}

ExitCode put_files_inside(const std::vector<SourceText>& files, const CommonFlags& flags,
                          reports::EngineInside& engine) {
  std::size_t size = 0;
  for (const SourceText& file : files) {
    const auto [place, is_new] = engine.files.try_emplace(file.name, file.text);
    if (is_new) size += file.text.size();
  }
  for (const reports::EngineInside::Variant& variant : engine.variants) size += variant.text.size();
  if (size <= kMostFiles) return ExitCode::Success;
  return fail({make_diagnostic(
                  Code::FileUnreadable, {},
                  fmt::format("--interactive: its files are {:.1f} MiB, a page holds 1 MiB of them",
                              static_cast<double>(size) / static_cast<double>(1U << 20U)),
                  "leave --interactive out, or take a part of the trace")},
              {}, flags);
}

}  // namespace slicewise::tools
