#include "validation/volumes.h"

#include <algorithm>

#include "design/knobs/knobs.h"
#include "graph/ring.h"
#include "pipeline/schedule.h"
#include "validation/stage_parts.h"

namespace shardscape {
namespace {

// Terms of this program for the terms of recordings.
std::string phase_word(const std::string& recorded) {
  return recorded == "sched" ? std::string(phase_name(Phase::Pipeline)) : recorded;
}

std::vector<Action> actions_of(const Report& report, const StageReport& stage) {
  return make_stage_schedule(report.design.parallel, stage.stage, static_cast<int>(report.microbatches),
                             report.cache.get());
}

bool data_parallel(const std::string& group) {
  return group.starts_with("dp") || group.starts_with("edp") || group == "embedding";
}

}  // namespace

GroupNames::GroupNames(const Design& design) {
  const ParallelSpec& p = design.parallel;
  degrees_ = {{"tp", p.tp}, {"cp", p.cp}, {"dp", p.dp}, {"pp", p.pp}};
  for (const char* axis : {"ep", "etp"})
    if (const Knob* knob = find_knob(axis); knob && knob->type == KnobType::Integer)
      degrees_[axis] = std::stoll(knob_text(design, *knob));
}

std::string GroupNames::name(const std::string& recorded) const {
  const std::string plain = recorded.substr(0, recorded.find('('));
  if (plain == "embedding") return plain;
  std::string out;
  for (const char* axis : {"pp", "dp", "edp", "cp", "ep", "etp", "tp"}) {
    size_t begin = 0;
    while (begin <= plain.size()) {
      const size_t end = std::min(plain.find('_', begin), plain.size());
      const auto degree = degrees_.find(axis);
      if (plain.substr(begin, end - begin) == axis && (degree == degrees_.end() || degree->second > 1))
        out += (out.empty() ? "" : "_") + std::string(axis);
      begin = end + 1;
    }
  }
  return out;
}

bool counts(const RecordedCollective& c, const GroupNames& groups) {
  if (c.group_size == 1 || c.phase == "init" || groups.name(c.group).empty()) return false;
  if (c.dtype == "int64" || c.dtype == "uint8" || c.dtype == "bool") return false;
  return c.elements != 1;
}

std::string volume_key(const std::string& phase, const std::string& type, const std::string& group,
                       std::string_view dtype) {
  return phase + " " + type + " " + group + " " + std::string(dtype);
}

Volumes recorded_volumes(const Recording& recording, const GroupNames& groups) {
  Volumes out;
  for (const RecordedCollective& c : recording.collectives) {
    if (!counts(c, groups)) continue;
    Volume& v = out[volume_key(phase_word(c.phase), c.type, groups.name(c.group), c.dtype)];
    v.count += 1;
    v.elements += c.elements;
    v.bytes += c.bytes;
  }
  return out;
}

Volumes reported_volumes(const StageReport& stage, const GroupNames& groups) {
  Volumes out;
  for (const CollectiveValue& c : stage.collectives) {
    const std::string group = groups.name(c.group);
    if (c.group_size == 1 || group.empty() || c.count.value == 0) continue;
    Volume& v = out[volume_key(std::string(phase_name(c.phase)), std::string(c.op.name()), group,
                               dtype_name(c.dtype))];
    v.count += c.count.value;
    v.elements += c.elements.value;
    v.bytes += c.bytes.value;
  }
  return out;
}

std::vector<std::string> recorded_order(const Recording& recording, const GroupNames& groups) {
  std::vector<std::string> out;
  for (const RecordedCollective& c : recording.collectives) {
    const bool wanted = c.phase == "forward" || c.phase == "backward" || c.phase == "recompute";
    const std::string group = groups.name(c.group);
    if (wanted && counts(c, groups) && !data_parallel(group))
      out.push_back(c.phase + " " + c.type + " " + group + " " + std::to_string(c.elements));
  }
  return out;
}

std::vector<std::string> reported_order(const Report& report, const StageReport& stage,
                                        const GroupNames& groups, size_t most) {
  // Collectives of the forward and of the backward of a chunk. Every microbatch issues the same list.
  std::map<std::pair<int, bool>, std::vector<std::string>> words;
  for (int chunk = 0; chunk < static_cast<int>(stage.chunks.size()); ++chunk)
    for (const bool backward : {false, true}) {
      std::vector<ChunkLayer> parts = parts_of_chunk(report, stage, static_cast<size_t>(chunk));
      const size_t first = !parts.empty() && parts.front().segment == 0 ? 1 : 0;  // skips the embedding
      std::vector<std::string>& out = words[{chunk, backward}];
      const auto say = [&](const Op& op, std::string_view what, const Expr& elements) {
        const std::string group = groups.name(group_name(redistribution(op).group));
        if (!group.empty() && !data_parallel(group))
          out.push_back(std::string(phase_name(op.phase)) + " " + std::string(what) + " " + group + " " +
                        to_string(value_of(elements, stage.binding)));
      };
      const auto issue = [&](const ChunkLayer& part, OpId begin, OpId end) {
        const Segment& segment = report.graph().segments[static_cast<size_t>(part.segment)];
        for (OpId id = begin; id < end; ++id) {
          const Op& op = segment.op(id);
          if (!runs(op, part.checkpoint_policy)) continue;
          if (ring_of(op) != Ring::None) {
            for (const RingEvent& event : ring_events(ring_ops(segment, id), ring_ranks(report.design))) {
              const Op& moved = segment.op(event.op);
              if (!is_ring(moved.kind)) continue;
              for (const char* way : {"send", "recv"}) say(moved, way, ring_message_elements(segment, moved));
            }
          } else if (is_collective(op.kind) && !is_ring(op.kind)) {
            say(op, op_kind_name(op.kind), collective_elements(segment, op));
          }
        }
      };
      const auto segment_of = [&](const ChunkLayer& part) -> const Segment& {
        return report.graph().segments[static_cast<size_t>(part.segment)];
      };
      if (!backward) {
        for (const ChunkLayer& part : parts) issue(part, 0, segment_of(part).backward_begin);
        continue;
      }
      for (size_t i = parts.size(); i-- > 0;) {
        if (parts[i].ends_group())
          for (size_t j = first + static_cast<size_t>(parts[i].begin); j <= i; ++j)
            issue(parts[j], segment_of(parts[j]).backward_begin, segment_of(parts[j]).replay_end);
        issue(parts[i], segment_of(parts[i]).replay_end, static_cast<OpId>(segment_of(parts[i]).ops.size()));
      }
    }
  std::vector<std::string> out;
  for (const Action& action : actions_of(report, stage)) {
    const bool backward = action.kind == ActionKind::Backward;
    if (!backward && action.kind != ActionKind::Forward) continue;
    const std::vector<std::string>& more = words[{action.chunk, backward}];
    out.insert(out.end(), more.begin(), more.end());
    if (out.size() >= most) break;
  }
  return out;
}

std::string reported_schedule(const Report& report, const StageReport& stage) {
  std::string out;
  for (const Action& action : actions_of(report, stage)) {
    if (action.kind == ActionKind::Forward) out += 'F';
    if (action.kind == ActionKind::Backward) out += 'B';
  }
  return out;
}

}  // namespace shardscape
