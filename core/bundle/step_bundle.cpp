#include "bundle/step_bundle.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "bundle/trace_export.h"
#include "plan/stage_layout.h"
#include "serving/engine/attention_work.h"
#include "serving/engine/engine_clock.h"
#include "serving/engine/step_design.h"

namespace shardscape {
namespace {

// The context of designs whose attention is replaced.
constexpr int64_t kAnyContext = 1024;

int64_t multiple(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }
double ratio(double wanted, double own) { return wanted > 0 && own > 0 ? wanted / own : 1; }

// A forward of equal sequences.
struct Forward {
  std::shared_ptr<const Report> report;
  std::map<std::string, AttentionWork> attention;
  ForwardSeconds seconds;  // of a forward that is lowered, as is the lowering
  std::shared_ptr<Lowering> lowering;
};

class WindowMaker {
 public:
  WindowMaker(const ServiceRun& run, EngineClock& clock, std::shared_ptr<PlanCache> cache)
      : run_(run),
        clock_(clock),
        cache_(std::move(cache)),
        prompt_unit_(prompt_unit(run.design)),
        context_unit_(context_unit(run.design)),
        mesh_(device_mesh(prompt_design(run.design, 1, prompt_unit_))) {}

  Result<std::shared_ptr<const StepWindow>> make(const StepRange& range, const std::stop_token& stop) {
    std::vector<WindowStep> steps;
    double idle_from = 0;  // the first stage has no work from here on
    for (const size_t index : steps_in(run_, range)) {
      if (stop.stop_requested()) return stopped_problem();
      const StepRecord& record = run_.simulation.steps[index];
      const StepBatch batch = batch_of(run_.simulation, index);
      WindowStep step{.number = range.first + static_cast<int64_t>(steps.size()),
                      .begin = record.begin,
                      .seconds = record.seconds,
                      .prefill_tokens = record.prefill_tokens,
                      .decode_sequences = record.decode_sequences,
                      .forward = {},
                      .head = {},
                      .scale = {}};
      const ForwardSeconds kernels = clock_.kernel_seconds(batch);
      fill(batch, kernels, step);
      if (problem_) return *std::move(problem_);
      const double start = record.begin + record.seconds - kernels.tokens() - kernels.attention() -
                           kernels.head() - kernels.messages;
      if (steps.empty()) idle_from = record.begin;
      step.host_seconds = std::max(0.0, start - idle_from);
      const ForwardSeconds::Stage& first = kernels.stages.front();
      idle_from = std::max(start, idle_from) + first.tokens + first.attention + first.head;
      steps.push_back(std::move(step));
    }
    if (steps.empty())
      return Problem{ProblemCode::RangeInvalid, "steps", "the run has no step in the range",
                     "steps of the run"};
    return std::make_shared<const StepWindow>(range.replica, std::move(steps));
  }

 private:
  // Sequences, tokens of a prompt or of a context, cached tokens before a prompt.
  using Key = std::tuple<Mode, int64_t, int64_t, int64_t>;

  // Null if the design of the step is invalid; problem_ then has the reason.
  Forward* forward(Mode mode, int64_t sequences, int64_t tokens, int64_t cached = 0) {
    tokens = multiple(std::max<int64_t>(1, tokens), mode == Mode::Decode ? context_unit_ : prompt_unit_);
    if (cached > 0) cached = multiple(cached, context_unit_);
    const auto [at, fresh] = forwards_.try_emplace(Key{mode, sequences, tokens, cached});
    Forward& out = at->second;
    if (fresh) {
      out.report = make_report(mode == Mode::Decode ? decode_design(run_.design, sequences, tokens)
                                                    : prompt_design(run_.design, sequences, tokens, cached),
                               cache_);
      for (const Problem& problem : out.report->problems)
        if (problem.severity == Severity::Error && !problem_) problem_ = problem;
      if (out.report->valid()) out.attention = attention_work(*out.report);
    }
    return out.report->valid() ? &out : nullptr;
  }
  Forward* lowered(Mode mode, int64_t sequences, int64_t tokens) {
    Forward* out = forward(mode, sequences, tokens);
    if (!out || out->lowering) return out;
    out->seconds = forward_seconds(*out->report);
    out->lowering = std::make_shared<Lowering>(out->report, mesh_);
    return out;
  }

  void add(std::map<std::string, AttentionWork>& sum, const Forward* of, double times) const {
    if (!of) return;
    for (const auto& [segment, work] : of->attention) sum[segment].add(work, times);
  }

  // Attention of all sequences of a step, by segment. A chunk after cached tokens reads them. Where a step
  // cannot begin after cached tokens, it has the attention of the prompt so far less that of the cached
  // tokens, as in EngineClock.
  std::map<std::string, AttentionWork> attention_of(const StepBatch& batch) {
    std::map<std::string, AttentionWork> out;
    if (const int64_t n = batch.decode_sequences; n > 0)
      add(out, forward(Mode::Decode, n, (batch.decode_context + n - 1) / n), 1);
    for (const PrefillChunk& chunk : batch.chunks) {
      const bool reads = no_cached_tokens(run_.design).empty();
      add(out,
          reads ? forward(Mode::Prefill, 1, chunk.tokens, chunk.context)
                : forward(Mode::Prefill, 1, chunk.context + chunk.tokens),
          1);
      if (!reads && chunk.context > 0) add(out, forward(Mode::Prefill, 1, chunk.context), -1);
    }
    return out;
  }

  void fill(const StepBatch& batch, const ForwardSeconds& kernels, WindowStep& step) {
    const EngineClock::Tokens tokens = clock_.tokens_of(batch);
    const Forward* all = tokens.prompt > 0 ? lowered(Mode::Prefill, 1, tokens.computed)
                                           : lowered(Mode::Decode, tokens.computed, kAnyContext);
    const Forward* head = lowered(Mode::Decode, std::max<int64_t>(1, batch.sampled), kAnyContext);
    std::map<std::string, AttentionWork> attention = attention_of(batch);
    if (problem_) return;
    step.forward = all->lowering;
    step.head = head->lowering;
    const Report& report = *all->report;
    std::vector<double> seconds;  // of attention, by segment
    for (const Segment& segment : report.graph().segments) {
      const AttentionWork &wanted = attention[segment.name], &own = all->attention.at(segment.name);
      step.scale.attention.push_back({ratio(wanted.flops, own.flops), ratio(wanted.bytes, own.bytes),
                                      ratio(wanted.seconds, own.seconds)});
      seconds.push_back(own.seconds * step.scale.attention.back().seconds);
    }
    for (size_t s = 0; s < report.stages.size(); ++s) {
      double of_stage = 0;
      for (const StageInstance& instance : stage_layout(report, report.stages[s]).instances)
        of_stage += seconds[static_cast<size_t>(instance.segment)];
      const ForwardSeconds::Stage& wanted = kernels.stages[s];
      step.scale.stages.push_back({ratio(wanted.tokens, all->seconds.stages[s].tokens),
                                   ratio(wanted.attention, of_stage),
                                   ratio(wanted.head, head->seconds.stages[s].head)});
    }
  }

  const ServiceRun& run_;
  EngineClock& clock_;
  std::shared_ptr<PlanCache> cache_;
  int64_t prompt_unit_, context_unit_;
  DeviceMesh mesh_;
  std::map<Key, Forward> forwards_;
  std::optional<Problem> problem_;
};

}  // namespace

Result<std::shared_ptr<const StepWindow>> step_window(const ServiceRun& run, const StepRange& range,
                                                      std::stop_token stop,
                                                      std::shared_ptr<PlanCache> cache) {
  if (!cache) cache = std::make_shared<PlanCache>();
  const auto clock = EngineClock::make(run.design, service_profile(run.design, run.spec), cache);
  if (const auto* problem = std::get_if<Problem>(&clock)) return *problem;
  return WindowMaker(run, *std::get<0>(clock), std::move(cache)).make(range, stop);
}

}  // namespace shardscape
