#pragma once

#include "../commands.hpp"
#include "../options.hpp"

// The verb that reads logs of other systems, for command_line.cpp.
namespace slicewise::tools {

inline void add_import(CLI::App& app, ImportCommand& import, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "import", "Turn the log of another system into a trace or a scenario",
      "  slicewise import openb -f scenarios/examples/logs/openb.csv\n"
      "  slicewise import jobs -f scenarios/examples/logs/cluster.csv --columns "
      "arrival=submit_time,run=run_time,gpus=gpu_num,group=vc\n"
      "  slicewise import sacct -f - --utc-offset +02:00 < scenarios/examples/logs/sacct.txt",
      flags);
  add_choice(verb, "kind", kImportKinds, import.kind, "What kind of log it is")->required();
  verb.add_option(kFileNames, import.files,
                  "File to read, - for standard input; may be repeated; .gz, .zst and .tar too")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_choice(verb, "-o,--output", kImportFormats, import.format, "Format (default trace: CSV)");
  add_text(verb, "--out", import.out, "FILE", "Write here instead of standard output");
  add_text(verb, "--columns", import.columns, "MAP",
           "jobs: which column is what, arrival=submit:ms,run=duration, or a ready map; sacct: the "
           "names of --format");
  add_text(verb, "--utc-offset", import.utc_offset, "OFFSET",
           "jobs, sacct, azure: zone of times that name none: +08:00 (default UTC)");
  add_text(verb, "--from", import.from, "DURATION", "Leave out what arrives earlier: 100d");
  add_text(verb, "--length", import.length, "DURATION", "Leave out what arrives after that: 7d");
  verb.add_flag("--skip-bad", import.skip_bad,
                "Leave out and count rows that cannot be read instead of stopping");
  add_number(verb, "--replicas", 1, 1'000, import.replicas,
             "pods, prometheus, k8s, sacct: of the device plugin, where the log does not say");
  add_text(verb, "--pool", import.pool, "NAME", "servegen: which clients: language/m-large");
  add_text(verb, "--partitions", import.partitions, "MAP",
           "swf: GPUs of a processor by partition: 1=1,2=0 (default: 1 in all)");
  add_text(verb, "--rate-scale", import.rate_scale, "FACTOR", "servegen: times the rates");
  add_text(verb, "--name", import.name, "NAME", "Of the scenario (default: of the file)");
  add_text(verb, "--url", import.url, "URL", "prometheus: ask this server instead of a file");
  add_text(verb, "--start", import.start, "TIME",
           "prometheus: 2024-06-10T00:00:00Z or Unix seconds");
  add_text(verb, "--end", import.end, "TIME", "prometheus: likewise");
  add_text(verb, "--step", import.step, "DURATION", "prometheus: between two samples: 60s");
}

}  // namespace slicewise::tools
