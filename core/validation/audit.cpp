#include "validation/audit.h"

#include <algorithm>

#include "base/units.h"
#include "graph/useful_flops.h"
#include "validation/compare_lines.h"
#include "validation/stage_parts.h"
#include "validation/sync_audit.h"
#include "validation/volumes.h"

namespace shardscape {
namespace {

class Comparison {
 public:
  explicit Comparison(Audit& audit)
      : a_(audit),
        r_(audit.recording),
        stage_(audit.report->stages[static_cast<size_t>(audit.mapping.stage)]),
        groups_(audit.report->design) {
    const StageChunk& chunk = stage_.chunks.back();
    const auto layers = chunk_layers(audit.report->graph(), audit.report->design, chunk.first_layer,
                                     chunk.layers);
    if (!layers.empty()) layer_ = layers.back();
  }

  void run() {
    parameters();
    flops();
    compare_volumes(recorded_volumes(r_, groups_), reported_volumes(stage_, groups_), a_.lines);
    before_optimizer();
    order();
    saved();
  }

 private:
  void exact(const char* section, std::string what, std::optional<int64_t> expected, Wide got) {
    if (expected) a_.lines.push_back(exact_line(section, std::move(what), {{"", *expected, got}}));
  }
  // If the line fails, the remark lists the storages that this program counts.
  void near(std::string what, Wide expected, Wide got, const SegmentNumbers& ours) {
    AuditLine line = near_line(std::move(what), expected, got);
    if (line.verdict == AuditVerdict::Fail)
      for (const auto& [name, bytes] : ours.storages)
        line.remark += (line.remark.empty() ? "computed: " : "; ") + name + " " + grouped(bytes);
    a_.lines.push_back(std::move(line));
  }

  bool chunked() const { return stage_.chunks.size() > 1; }
  bool first() const { return stage_.first.embedding; }
  bool last() const { return stage_.last; }
  SegmentNumbers numbers(int segment) const {
    const Segment& s = a_.report->graph().segments[static_cast<size_t>(segment)];
    return segment_numbers(
        s, s.kind == SegmentKind::Layer ? layer_.checkpoint_policy : CheckpointPolicy::Activations,
        stage_.binding);
  }
  std::optional<int64_t> part(const RecordedParts& parts) const {
    const std::string name = last_layer(parts);
    return name.empty() ? std::nullopt : std::optional(parts.at(name));
  }

  void parameters() {
    exact("parameters", "of this rank", r_.parameters, stage_.parameters.value);
    // Recordings merge layers with the same number in several chunks.
    if (!chunked())
      exact("parameters", "last layer", part(r_.part_parameters), numbers(layer_.segment).parameters);
    if (r_.full_model_parameters && a_.mapping.full_layers > 0) {
      Design whole = a_.report->design;
      whole.model.layers = a_.mapping.full_layers;
      whole.parallel.stage_layers.clear();
      const auto report = make_report(whole);
      exact(
          "parameters", "of the whole model", *r_.full_model_parameters,
          report && report->valid() ? report->model_parameters.value - report->model_buffers.value : Wide(0));
    }
  }

  void flops() {
    Wide sums[kPhaseCount] = {};
    for (const FlopsValue& f : stage_.flops)
      if (has_model_flops(f.kind)) sums[static_cast<size_t>(f.phase)] += f.counted.value;
    const auto sum = [&](Phase phase) { return sums[static_cast<size_t>(phase)]; };
    exact("FLOPs", "forward", r_.forward_flops, sum(Phase::Forward));
    exact("FLOPs", "backward", r_.backward_flops, sum(Phase::Backward));
    exact("FLOPs", "recompute", r_.recompute_flops, sum(Phase::Recompute));
    const SegmentNumbers layer = numbers(layer_.segment);
    const Wide m = a_.report->microbatches;
    exact("FLOPs", "forward, last layer", part(r_.part_forward_flops), m * layer.forward_flops);
    exact("FLOPs", "backward, last layer", part(r_.part_backward_flops), m * layer.backward_flops);
    exact("FLOPs", "recompute, last layer", part(r_.part_recompute_flops), m * layer.recompute_flops);
  }

  // Recordings of Megatron-core end with the gradient reduction, so they lack the messages of the optimizer
  // step.
  void before_optimizer() {
    const auto late = [](const std::string& phase) { return phase == "param_gather" || phase == "step"; };
    const bool stops = a_.mapping.code == CodeBase::MegatronCore &&
                       std::none_of(r_.collectives.begin(), r_.collectives.end(),
                                    [&](const RecordedCollective& c) { return late(c.phase); });
    if (!stops) return;
    for (AuditLine& line : a_.lines)
      if (line.section == "collectives" && late(line.what.substr(0, line.what.find(' ')))) {
        line.verdict = AuditVerdict::Note;
        line.remark = "not compared: the recording ends before the optimizer step";
      }
  }

  void order() {
    const auto expected = recorded_order(r_, groups_);
    const auto got = reported_order(*a_.report, stage_, groups_, expected.size() + 1);
    if (!expected.empty() || !got.empty())
      a_.lines.push_back(order_line("collectives of the step", expected, got));
    if (r_.schedule.empty()) return;
    const std::string schedule = reported_schedule(*a_.report, stage_);
    a_.lines.push_back({"order",
                        "microbatches",
                        schedule == r_.schedule ? AuditVerdict::Pass : AuditVerdict::Fail,
                        {},
                        r_.schedule,
                        schedule,
                        ""});
  }

  void saved() {
    if (r_.part_saved.empty()) return;
    Wide embedding = 0, head = 0;
    bool has_head = false, has_embedding = false;
    const std::optional<int64_t> layer = part(r_.part_saved);
    for (const auto& [name, bytes] : r_.part_saved) {
      const std::string bare = name.substr(
          name.find('.') == std::string::npos || !name.starts_with("chunk") ? 0 : name.find('.') + 1);
      if (is_layer_part(name) || bare.find("checkpointed") != std::string::npos) continue;
      (bare == "embedding" ? has_embedding : has_head) = true;
      (bare == "embedding" ? embedding : head) += bytes;
    }
    // Chunks of a stage have different numbers of microbatches in flight, so only the sum is compared.
    if (chunked()) return whole_stage();
    const Wide flight = stage_.in_flight;
    const SegmentNumbers computed = numbers(layer_.segment);
    if (layer) {
      near("last layer", *layer, flight * computed.saved, computed);
    } else if (const auto checkpoint = checkpointed_bytes_per_layer(r_, stage_.layers)) {
      near("last layer, checkpoint", *checkpoint, flight * computed.saved, computed);
      // Recordings of some code bases list the checkpoints with the loss.
      if (r_.part_saved.contains("loss_and_other") &&
          !std::any_of(r_.part_saved.begin(), r_.part_saved.end(),
                       [](const auto& p) { return p.first.find("checkpointed") != std::string::npos; }))
        has_head = false;
    }
    if (has_embedding && first()) near("embedding", embedding, flight * numbers(0).saved, numbers(0));
    const SegmentNumbers end = numbers(a_.report->graph().head());
    if (has_head && last()) near("head and loss", head, end.saved, end);
  }

  void whole_stage() {
    Wide expected = 0;
    for (const auto& [name, bytes] : r_.part_saved) expected += bytes;
    const Wide got = stage_.memory[static_cast<size_t>(MemoryCategory::Activations)].value +
                     stage_.memory[static_cast<size_t>(MemoryCategory::Logits)].value;
    a_.lines.push_back(near_line("whole stage", expected, got));
  }

  Audit& a_;
  const Recording& r_;
  const StageReport& stage_;
  GroupNames groups_;
  ChunkLayer layer_;  // the last layer of the stage
};

}  // namespace

const char* verdict_name(AuditVerdict verdict) {
  return verdict == AuditVerdict::Pass ? "pass" : verdict == AuditVerdict::Fail ? "FAIL" : "note";
}

size_t Audit::count(AuditVerdict verdict) const {
  return static_cast<size_t>(
      std::count_if(lines.begin(), lines.end(), [&](const AuditLine& l) { return l.verdict == verdict; }));
}

bool Audit::matches() const {
  return mapping.complete() && count(AuditVerdict::Pass) > 0 && count(AuditVerdict::Fail) == 0;
}

Audit audit_recording(Recording recording) {
  Audit audit;
  audit.mapping = map_recording(recording);
  audit.recording = std::move(recording);
  if (is_sync_only(audit.mapping.code)) {
    compare_sync(map_sync(audit.recording, audit.mapping), audit);
    return audit;
  }
  if (audit.mapping.code == CodeBase::Unknown) return audit;
  auto report = make_report(audit.mapping.design, {}, 0);  // recordings are of the first rank of a ring
  for (const Problem& p : report->problems)
    if (p.severity == Severity::Error) audit.problems.push_back(p);
  if (!report->valid()) return audit;
  audit.report = std::move(report);
  Comparison(audit).run();
  return audit;
}

}  // namespace shardscape
