// The order of forwards and backwards per stage. Transfers follow from it (StageWriter).
#include <algorithm>
#include <stdexcept>

#include "design/fields.h"
#include "pipeline/stage_writer.h"

namespace shardscape {
namespace {

// arXiv 1811.06965: every forward, then every backward; in the order of arXiv 2104.04473, figure 3.
void write_gpipe(StageWriter& writer, int microbatches) {
  for (int i = 0; i < microbatches; ++i) writer.forward(i);
  for (int i = 0; i < microbatches; ++i) writer.backward(i);
}

// arXiv 2104.04473, section 2.2.1 (PipeDream-Flush): warm-up, then one forward and one backward alternately,
// cool-down. pairs: the two run at once, which takes one more forward in the warm-up.
void write_one_f_one_b(StageWriter& writer, int stage, int stages, int microbatches, bool pairs) {
  const int warmup = std::min(stages - stage - 1 + (pairs ? 1 : 0), microbatches);
  for (int i = 0; i < warmup; ++i) writer.forward(i);
  for (int i = warmup; i < microbatches; ++i) {
    if (pairs) {
      writer.both({i, 0}, {i - warmup, 0});
      continue;
    }
    writer.forward(i);
    writer.backward(i - warmup);
  }
  for (int i = microbatches - warmup; i < microbatches; ++i) writer.backward(i);
}

// arXiv 2104.04473, section 2.2.2, in Megatron-LM's order: each group of microbatches runs through every
// chunk before the next group. groups: their sizes, in order. pairs: a forward and a backward run at once.
void write_interleaved(StageWriter& writer, int warmup, const std::vector<int>& groups, int chunks,
                       bool pairs = false) {
  std::vector<std::pair<int, int>> forwards, backwards;  // microbatch, chunk
  int begin = 0;
  for (const int size : groups) {
    for (int c = 0; c < chunks; ++c)
      for (int i = begin; i < begin + size; ++i) {
        forwards.emplace_back(i, c);
        backwards.emplace_back(i, chunks - 1 - c);
      }
    begin += size;
  }
  const size_t total = forwards.size(), ahead = std::min(static_cast<size_t>(warmup), total);
  for (size_t i = 0; i < total + ahead; ++i) {
    if (pairs && i >= ahead && i < total) {
      writer.both(forwards[i], backwards[i - ahead]);
      continue;
    }
    if (i < total) writer.forward(forwards[i].first, forwards[i].second);
    if (i >= ahead) writer.backward(backwards[i - ahead].first, backwards[i - ahead].second);
  }
}

// Megatron-core, schedules.py, get_pp_rank_microbatches: the forwards of the warm-up. forwards_first: as many
// microbatches as stages run all forwards first, as Megatron-core did until 2024-11-01.
void write_megatron(StageWriter& writer, int stage, int stages, int microbatches, int chunks, bool pairs,
                    bool forwards_first) {
  const int ahead = 2 * (stages - stage - 1) + (chunks - 1) * stages + (pairs ? 1 : 0);
  write_interleaved(writer, microbatches == stages && forwards_first ? microbatches * chunks : ahead,
                    std::vector<int>(static_cast<size_t>(microbatches / stages), stages), chunks, pairs);
}

// Llama team, arXiv 2407.21783, section 3.3.2: any number of consecutive microbatches on a virtual stage,
// from the pipeline's length (interleaved order) to all microbatches (breadth first). Microbatches that fill
// no group are spread over the other groups, so that no group is smaller than `group`. Fewer microbatches
// than stages run all forwards first.
void write_flexible(StageWriter& writer, int stage, int stages, int microbatches, int chunks, int group) {
  const int count = std::max(1, microbatches / group);
  std::vector<int> groups(static_cast<size_t>(count), microbatches / count);
  for (int i = 0; i < microbatches % count; ++i) ++groups[static_cast<size_t>(i)];
  const int warmup = microbatches < stages ? microbatches * chunks
                                           : 2 * (stages - stage - 1) + (chunks - 1) * groups.front();
  write_interleaved(writer, warmup, groups, chunks);
}

}  // namespace

std::string_view action_name(ActionKind kind) {
  switch (kind) {
    case ActionKind::Forward: return "forward";
    case ActionKind::Backward: return "backward";
    case ActionKind::ReceiveForward: return "receive_forward";
    case ActionKind::SendForward: return "send_forward";
    case ActionKind::ReceiveBackward: return "receive_backward";
    case ActionKind::SendBackward: return "send_backward";
    case ActionKind::GradReduce: return "grad_reduce";
    case ActionKind::Optimizer: return "optimizer";
    case ActionKind::BackwardInput: return "backward_input";
    case ActionKind::BackwardWeight: return "backward_weight";
  }
  return "";
}

std::string_view action_label(ActionKind kind) {
  switch (kind) {
    case ActionKind::ReceiveForward: return "receive of the input";
    case ActionKind::SendForward: return "send of the output";
    case ActionKind::ReceiveBackward: return "receive of the output's gradient";
    case ActionKind::SendBackward: return "send of the input's gradient";
    case ActionKind::GradReduce: return "reduction of gradients";
    case ActionKind::BackwardInput: return "backward of the input";
    case ActionKind::BackwardWeight: return "backward of the weights";
    case ActionKind::Forward:
    case ActionKind::Backward:
    case ActionKind::Optimizer: return action_name(kind);  // a single word
  }
  return "";
}

std::vector<Action> make_stage_schedule(ScheduleKind kind, int stage, int stages, int microbatches,
                                        int chunks, int group, const PassPlan& passes, PlanCache* cache) {
  if (stages < 1 || microbatches < 1 || chunks < 1)
    throw std::invalid_argument("a schedule needs a stage and a microbatch");
  const ScheduleTraits traits = schedule_traits(kind);
  const PipelineLayout places{traits.layout, stages, chunks};
  const auto want = [](bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
  };
  if (traits.interleaves) {
    want(chunks == 1 || stages > 1, "interleaving needs two stages");
  } else {
    want(chunks == (places.layout == ChunkLayout::Round ? 1 : 2),
         "only 1F1B and the flexible schedule interleave any number of chunks");
  }
  std::vector<Action> actions;
  actions.reserve(static_cast<size_t>(microbatches) * static_cast<size_t>(chunks) * 7 + 2);
  StageWriter writer(places, stage, actions);
  const bool pairs = kind == ScheduleKind::OneFOneBPairs;
  switch (kind) {
    case ScheduleKind::ForwardOnly:
      for (int i = 0; i < microbatches; ++i) writer.forward(i);
      return actions;
    case ScheduleKind::GPipe: write_gpipe(writer, microbatches); break;
    case ScheduleKind::OneFOneB:
    case ScheduleKind::OneFOneBPairs:
    case ScheduleKind::OneFOneBForwardsFirst:
      want(chunks == 1 || microbatches % stages == 0,
           "interleaving needs microbatches in multiples of the stages");
      if (chunks > 1)
        write_megatron(writer, stage, stages, microbatches, chunks, pairs,
                       kind == ScheduleKind::OneFOneBForwardsFirst);
      else
        write_one_f_one_b(writer, stage, stages, microbatches, pairs);
      break;
    case ScheduleKind::Flexible:
      want(group == 0 || group >= stages, "a group of microbatches has to fill the pipeline");
      write_flexible(writer, stage, stages, microbatches, chunks, group == 0 ? stages : group);
      break;
    case ScheduleKind::ZbH1: write_zb_h1(writer, stage, stages, microbatches); break;
    case ScheduleKind::ZbH2: write_zb_h2(writer, stage, stages, microbatches); break;
    case ScheduleKind::ZbAuto: write_zb_auto(writer, stage, stages, microbatches, passes, cache); break;
    case ScheduleKind::ZbV: write_zb_v(writer, stage, stages, microbatches); break;
    case ScheduleKind::DualPipe:
      want(stages % 2 == 0 && microbatches % 2 == 0 && microbatches >= 2 * stages,
           "DualPipe needs even numbers of stages and microbatches, and two microbatches per stage");
      write_dual_pipe(writer, stage, stages, microbatches);
      break;
    case ScheduleKind::DualPipeV:
      want(microbatches >= 2 * stages, "DualPipeV needs two microbatches per stage");
      write_dual_pipe_v(writer, stage, stages, microbatches);
      break;
  }
  writer.finish();
  return actions;
}

Schedule make_schedule(ScheduleKind kind, int stages, int microbatches, int chunks, int group,
                       const PassPlan& passes, PlanCache* cache) {
  PlanCache own;
  if (!cache) cache = &own;
  if (stages < 1) throw std::invalid_argument("a schedule needs a stage and a microbatch");
  Schedule schedule{stages, microbatches, {}, chunks, chunk_layout(kind), kind == ScheduleKind::ForwardOnly};
  schedule.actions.reserve(static_cast<size_t>(stages));
  for (int stage = 0; stage < stages; ++stage) {
    schedule.actions.push_back(
        make_stage_schedule(kind, stage, stages, microbatches, chunks, group, passes, cache));
  }
  return schedule;
}

std::vector<Action> make_stage_schedule(const ParallelSpec& parallel, int stage, int microbatches,
                                        PlanCache* cache) {
  const PipelineLayout places = pipeline_layout(parallel);
  return make_stage_schedule(schedule_of(parallel), stage, static_cast<int>(places.stages), microbatches,
                             static_cast<int>(places.chunks), static_cast<int>(parallel.microbatch_group),
                             parallel.passes, cache);
}

Schedule make_schedule(const ParallelSpec& parallel, int microbatches, PlanCache* cache) {
  const PipelineLayout places = pipeline_layout(parallel);
  return make_schedule(schedule_of(parallel), static_cast<int>(places.stages), microbatches,
                       static_cast<int>(places.chunks), static_cast<int>(parallel.microbatch_group),
                       parallel.passes, cache);
}

CacheKey schedule_key(const ParallelSpec& parallel) {
  // Designs with the same actions share one form: the kind that runs, its chunks, and passes only if they are
  // read.
  ParallelSpec form;
  copy_fields<&FieldUses::schedule>(parallel, form);
  form.schedule = schedule_of(parallel);
  form.virtual_stages = pipeline_layout(parallel).chunks;
  if (form.schedule != ScheduleKind::ZbAuto) form.passes = {};
  CacheKey key;
  add_fields<&FieldUses::schedule>(key, form);
  return key;
}

int repeats_after(const ParallelSpec& parallel, int microbatches) {
  const SchedulePeriod period = schedule_traits(schedule_of(parallel)).period;
  if (period == SchedulePeriod::Never) return 0;
  const auto stages = static_cast<int>(pipeline_layout(parallel).stages);
  if (period == SchedulePeriod::Stages) return stages;
  const int group = parallel.microbatch_group == 0 ? stages : static_cast<int>(parallel.microbatch_group);
  return microbatches % group == 0 ? group : 0;
}

int representative_microbatches(const ParallelSpec& parallel, int microbatches) {
  constexpr int kPeriods = 6;  // even, because DualPipe has two directions
  const int period = repeats_after(parallel, microbatches);
  return period > 0 ? std::min(microbatches, kPeriods * period) : microbatches;
}

int upstream_chunk(const PipelineLayout& places, const Action& transfer, int stage) {
  const StagePlace here{stage, transfer.chunk};
  const bool from_above = transfer.kind == ActionKind::ReceiveForward ||
                          transfer.kind == ActionKind::SendBackward;
  return static_cast<int>(from_above ? places.before(here)->chunk : transfer.chunk);
}

}  // namespace shardscape
