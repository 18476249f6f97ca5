// README.md of a bundle, for people: the design, the files, and the commands that read the bundle.
#pragma once

#include <string>

#include "bundle/bundle.h"
#include "bundle/trace_export.h"

namespace shardscape {

// The lines of the README about the traces that the bundle has. world: ranks of the job.
std::string trace_lines(const TraceTotals& totals, const RankPart& part, int64_t world);

// traces: trace_lines(). seconds: of the estimated step of the design, or of the window of steps. The text
// has no date and no path of the machine, so equal designs give equal bytes.
std::string bundle_readme(const Report& report, const ExportOptions& options, const std::string& traces,
                          double seconds, const StepWindow* window = nullptr);

}  // namespace shardscape
