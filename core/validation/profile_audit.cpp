#include "validation/profile_audit.h"

#include <cmath>

#include "plan/rank_mesh.h"
#include "profile/profile_comparison.h"
#include "validation/compare_lines.h"

namespace shardscape {
namespace {

Wide whole(double value) { return nearest_whole(value); }

AuditLine line_of(const ComparedCollective& row) {
  std::string what = std::string(collective_kind_name(row.key.kind));
  if (row.key.group_size > 0) what += " over " + std::to_string(row.key.group_size) + " ranks";
  if (!row.key.dtype.empty()) what += " " + row.key.dtype;
  if (row.key.small) what += " of at most 1 KiB";
  std::vector<AuditNumber> numbers{{"count", whole(row.measured_calls), whole(row.predicted_calls)}};
  if (row.sized) numbers.push_back({"bytes", whole(row.measured_bytes), whole(row.predicted_bytes)});
  AuditLine line = exact_line("collectives", what, std::move(numbers));
  if (!row.same_volume()) line.verdict = AuditVerdict::Fail;  // also if only the rounded numbers are equal
  if (row.measured_calls == 0) line.remark = "not recorded";
  if (row.predicted_calls == 0) line.remark = "not computed";
  const bool message = row.key.kind == CollectiveKind::SendRecv;
  if (line.verdict == AuditVerdict::Fail && (message || (row.key.small && row.predicted_calls == 0)))
    line.verdict = AuditVerdict::Note;
  if (message && line.remark.empty()) line.remark = "one kernel may hold several sends and receives";
  return line;
}

}  // namespace

Audit audit_profile(const std::string& file, const ProfiledStep& step, std::optional<int64_t> rank,
                    std::shared_ptr<const Report> report) {
  Audit out;
  out.recording.name = file;
  out.profile = true;
  out.mapping.design = report->design;
  if (rank && *rank < report->ranks) out.mapping.stage = stage_of_rank(*report, *rank);
  const StageReport& stage = report->stages[static_cast<size_t>(out.mapping.stage)];
  out.mapping.layers_here = stage.layers;
  for (const ComparedCollective& row : compare_collectives(step, stage)) out.lines.push_back(line_of(row));
  if (out.lines.empty()) out.lines.push_back(exact_line("collectives", "none", {{"count", 0, 0}}));
  out.report = std::move(report);
  return out;
}

}  // namespace shardscape
