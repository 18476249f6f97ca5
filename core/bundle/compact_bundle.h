// A compact bundle: one trace per rank class, and a table of what each rank has of its own. Its size does not
// grow with the number of replicas. It expands to the bytes of a direct export, without the design.
//
// compact.json: "traces" (name), "ranks" of the job, "classes" with the ranks of each class and, by number in
// the class's trace, the numbers of all its ranks (NumberSequence), "groups", "files" (the texts of the
// bundle's other files) and "part_files" (those that differ in a part of the ranks).
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bundle/bundle.h"
#include "bundle/rank_part.h"
#include "bundle/trace_export.h"

namespace shardscape {

using BundleTexts = std::vector<std::pair<std::string, std::string>>;  // name of a file, content

// Stands in the README of part_files for trace_lines().
inline constexpr const char* kTraceLines = "@TRACES@\n";

// compact.json and README.md. name: of the traces. totals: of the traces of all ranks. files: of the bundle,
// but not its groups. part_files: those of a part.
BundleTexts compact_texts(const std::string& name, const TraceExport& traces, const TraceTotals& totals,
                          const BundleTexts& files, const BundleTexts& part_files);

struct ExpandOptions {
  std::filesystem::path target;  // as ExportOptions
  bool replace = false, resume = false, keep_partial = false;
  std::string ranks{};  // "0-1023,2048": a part of the ranks; "": all
};

// Writes the bundle that a compact bundle stands for. Problems: the folder is no compact bundle, or a damaged
// one; those of export_bundle().
Result<ExportSummary> expand_bundle(const std::filesystem::path& compact, const ExpandOptions& options,
                                    const ExportProgressFn& progress = {}, std::stop_token stop = {});

}  // namespace shardscape
