#include "measured_files.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/decompress.hpp"
#include "slicewise/scenarios/recorded_window.hpp"

#include "choices.hpp"
#include "files.hpp"
#include "import_notes.hpp"
#include "options.hpp"

namespace slicewise::tools {
namespace {

using models::Measurement;

constexpr const char* kNothingMeasured =
    "nothing of it is a measurement: at a --request-rate it is chance how many requests are served "
    "at a time, and the time of a token holds the prompts of others (measure with "
    "--max-concurrency, or say with --batch how many there were); gpu_probe has to find MPS or MIG";

void read_window(const std::vector<SourceText>& answers, const models::Catalogue& catalogue,
                 const models::MeasuredContext& context, MeasuredFiles& out,
                 Diagnostics& problems) {
  const auto recorded = scenarios::read_sharing_levels(answers, context.workload);
  if (!recorded) {
    std::ranges::copy(recorded.error(), std::back_inserter(problems));
    return;
  }
  std::ranges::move(import_notes(recorded->log, "levels of sharing"),
                    std::back_inserter(out.notes));
  auto points = sim::window_points(recorded->levels, context, catalogue);
  if (!points) {
    std::ranges::move(points.error(), std::back_inserter(problems));
    return;
  }
  out.window = std::move(*points);
  for (const sim::WindowPoint& point : out.window) {
    if (point.counts()) out.measurements.push_back(point.setting);
  }
}

// Lengths of kernels belong to the rows alone on the whole GPU of the workload that the flags name,
// or of the only one.
void give_kernels(const std::vector<SourceText>& summaries, const models::MeasuredContext& context,
                  std::vector<Measurement>& measurements, Diagnostics& problems) {
  for (const SourceText& summary : summaries) {
    const auto kernels = models::read_kernel_summary(summary);
    if (!kernels) {
      std::ranges::copy(kernels.error(), std::back_inserter(problems));
      continue;
    }
    std::vector<Measurement*> alone;
    for (Measurement& m : measurements) {
      if (m.sharing != models::MeasuredSharing::Alone || m.slice != "full" || m.active_threads < 1)
        continue;
      const bool meant = (context.workload.empty() || m.workload == context.workload) &&
                         (!context.batch || m.batch == *context.batch);
      if (meant) alone.push_back(&m);
    }
    const bool of_one = !alone.empty() && std::ranges::all_of(alone, [&](const Measurement* m) {
      return m->workload == alone.front()->workload && m->batch == alone.front()->batch;
    });
    if (!of_one) {
      problems.push_back(make_diagnostic(
          Code::FieldMissing, {summary.name, 1, 1, 1},
          "these are the kernels of a process, and the files do not say of which workload and "
          "batch",
          "give a file that has its time alone as well, and say with --workload and --batch which "
          "of them it is"));
      continue;
    }
    for (Measurement* m : alone) m->kernel_time = *kernels;
  }
}

}  // namespace

std::vector<CLI::Option*> add_context(CLI::App& verb, models::MeasuredContext& context) {
  add_text(verb, "--workload", context.workload, "NAME",
           "What was measured, where the file does not say");
  add_text(verb, "--gpu", context.gpu, "GPU", "On which GPU, where the file does not say");
  add_number(verb, "--batch", 1, 1'000'000, context.batch,
             "With which batch, where the file does not say (default 1)");
  add_choice(verb, "--sharing", kMeasuredWays, context.sharing,
             "How several pods shared a GPU, where Prometheus does not say");
  add_text(verb, "--driver", context.driver, "VERSION",
           "With which driver, where the file does not say");
  add_text(verb, "--date", context.date, "DATE", "When, where the file does not say: 2026-11-01");
  std::vector<CLI::Option*> added;
  added.reserve(6);
  for (const char* name : {"--workload", "--gpu", "--batch", "--sharing", "--driver", "--date"}) {
    added.push_back(verb.get_option(name));
  }
  return added;
}

Expected<std::vector<SourceText>> read_measured_texts(const std::vector<std::string>& names) {
  std::vector<SourceText> texts;
  for (const std::string& name : names) {
    Expected<SourceText> text = read_source(name);
    if (text) text = scenarios::decompressed(std::move(*text));
    if (!text) return tl::unexpected(text.error());
    texts.push_back(std::move(*text));
  }
  return texts;
}

Expected<MeasuredFiles> read_measured(const std::vector<SourceText>& files,
                                      const models::Catalogue& catalogue,
                                      const models::MeasuredContext& context) {
  MeasuredFiles out;
  Diagnostics problems;
  std::vector<SourceText> answers;
  std::vector<SourceText> kernels;
  const auto take = [&](auto read, const auto& add) {
    if (read) {
      add(std::move(*read));
    } else {
      std::ranges::move(read.error(), std::back_inserter(problems));
    }
  };
  for (const SourceText& file : files) {
    if (scenarios::is_prometheus_answer(file)) {
      answers.push_back(file);
    } else if (models::is_kernel_summary(file)) {
      kernels.push_back(file);
    } else if (models::is_llm_shape(file)) {
      take(models::read_llm_shape(file), [&](models::LlmShape shape) {
        if (!context.workload.empty()) shape.name = context.workload;
        out.shapes.push_back(std::move(shape));
      });
    } else {
      if (const std::string what = models::what_is_read_of(file); !what.empty()) {
        out.notes.push_back(fmt::format("{}: {}", file.name, what));
      }
      take(models::read_measurements(file, catalogue, context),
           [&](std::vector<Measurement> measured) {
             if (measured.empty()) {
               out.notes.push_back(fmt::format("{}: {}", file.name, kNothingMeasured));
             }
             std::ranges::move(measured, std::back_inserter(out.measurements));
           });
    }
  }
  if (!answers.empty()) read_window(answers, catalogue, context, out, problems);
  if (problems.empty()) give_kernels(kernels, context, out.measurements, problems);
  if (problems.empty() && out.measurements.empty() && out.shapes.empty() && out.window.empty()) {
    problems.push_back(
        make_diagnostic(Code::InputMissing, {files.front().name, 1, 1, 1}, kNothingMeasured));
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return out;
}

}  // namespace slicewise::tools
