#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "slicewise/exit_code.hpp"

#include "commands.hpp"
#include "report_input.hpp"

// The program as WebAssembly, for a page that simulates by itself.
namespace slicewise::tools {

// What tools/web/build writes: --engine, else beside the program, else in its share/slicewise. What
// is wrong is printed: no such file, or that of another version.
tl::expected<std::string, ExitCode> engine_script(const ReportCommand& command,
                                                  const CommonFlags& flags);

// Gives the engine the files that it reads in a page. Refused, and printed, where they are too
// large for one.
ExitCode put_files_inside(const std::vector<SourceText>& files, const CommonFlags& flags,
                          reports::EngineInside& engine);

}  // namespace slicewise::tools
