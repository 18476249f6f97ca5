#include "explore/layout.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/units.h"
#include "design/knobs/knobs.h"
#include "design/limits.h"
#include "design/validate/repair_design.h"
#include "explore/layout_search.h"
#include "mesh/pipeline_layout.h"
#include "model/parallel_loop.h"

namespace shardscape {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const int kTokensPerGpu = find_objective("tokens_per_gpu");

constexpr double kSameSpeed = 0.0005;  // differences of the step time below this share do not count

double slower_than(const Evaluation& a, const Evaluation& b) {
  return b.tokens_per_second / a.tokens_per_second - 1;
}

// Whether the design is fast enough for aims other than speed.
bool fast_enough(const Point& point, const Point& fastest) {
  return slower_than(point.evaluation, fastest.evaluation) <= kLayoutSlower;
}

LayoutScore memory_score(const Point& point, const Design&, const Point& fastest) {
  if (!fast_enough(point, fastest)) return {kInfinity, kInfinity};
  return {static_cast<double>(point.evaluation.memory), point.evaluation.step_seconds};
}

LayoutScore simplicity_score(const Point& point, const Design& design, const Point& fastest) {
  if (!fast_enough(point, fastest)) return {kInfinity, kInfinity};
  return {static_cast<double>(layout_mechanisms(design).size()), point.evaluation.step_seconds};
}

std::string percent(double share) { return significant(100 * share, 2) + " %"; }

std::string mechanisms_text(const Design& design) {
  const std::vector<std::string> parts = layout_mechanisms(design);
  if (parts.empty()) return "data parallelism";
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

std::string slower_text(double slower) {
  return slower < kSameSpeed ? "as fast as the fastest design"
                             : percent(slower) + " slower than the fastest design";
}

std::string reason(const FoundLayout& layout, const FoundLayout& fastest) {
  switch (layout.aim) {
    case LayoutAim::Fastest: {
      const Evaluation& e = layout.evaluation;
      return "The fastest design found, with " + mechanisms_text(layout.design) + "; " + percent(e.exposed) +
             " of the step waits for communication" +
             (layout.design.parallel.pp > 1 ? ", " + percent(e.bubble) + " is pipeline bubble" : "") + ".";
    }
    case LayoutAim::LeastMemory: {
      const int64_t saved = fastest.evaluation.memory - layout.evaluation.memory;
      if (saved <= 0) return "The fastest design also needs the least memory.";
      return "Needs " + format_bytes(saved) + " less per GPU; " + slower_text(layout.slower) + ".";
    }
    case LayoutAim::Simplest:
      if (layout.design == fastest.design) return "The fastest design is also the simplest.";
      return "Uses only " + mechanisms_text(layout.design) + "; " + slower_text(layout.slower) + ".";
  }
  return "";
}

LayoutSettings settings_of(const Design& before, const Design& after) {
  LayoutSettings out;
  for (const KnobChange& change : changes_outside_model(before, after))
    out.emplace_back(change.knob->id, change.after);
  return out;
}

FoundLayout found_layout(LayoutAim aim, const Point& point, const Point& fastest, const Space& space,
                         const Design& given) {
  FoundLayout out;
  out.aim = aim;
  out.design = space.design_at(point.index);
  out.evaluation = point.evaluation;
  out.values = point.values;
  out.slower = slower_than(point.evaluation, fastest.evaluation);
  out.settings = settings_of(given, out.design);
  return out;
}

std::vector<FoundLayout> found_layouts(const LayoutPoints& points, const Space& space, const Design& given) {
  std::vector<FoundLayout> out;
  if (!points.fastest) return out;
  out.push_back(found_layout(LayoutAim::Fastest, *points.fastest, *points.fastest, space, given));
  const LayoutAim others[] = {LayoutAim::LeastMemory, LayoutAim::Simplest};
  for (size_t i = 0; i < points.others.size(); ++i)
    out.push_back(
        found_layout(others[i], points.others[i].value_or(*points.fastest), *points.fastest, space, given));
  for (FoundLayout& layout : out) layout.reason = reason(layout, out.front());
  return out;
}

// The given design is a candidate too: its settings may lie outside of the space. It takes the places at
// which it is better than what was found.
void offer(const Design& design, const Evaluation& evaluation, double price_per_hour,
           std::vector<FoundLayout>& found) {
  if (found.empty() || evaluation.feasibility != Feasibility::Fits || !evaluation.timed()) return;
  FoundLayout own;
  own.design = design;
  own.evaluation = evaluation;
  own.values = objective_values({design, evaluation, price_per_hour});
  if (slower_than(evaluation, found.front().evaluation) < -kSameSpeed) found.front() = own;
  for (FoundLayout& layout : found) {
    const LayoutAim aim = layout.aim;
    const bool fast = slower_than(evaluation, found.front().evaluation) <= kLayoutSlower;
    const bool better = (aim == LayoutAim::LeastMemory && evaluation.memory < layout.evaluation.memory) ||
                        (aim == LayoutAim::Simplest &&
                         layout_mechanisms(design).size() < layout_mechanisms(layout.design).size());
    if (fast && better) {
      layout = own;
      layout.aim = aim;
    }
    layout.slower = slower_than(layout.evaluation, found.front().evaluation);
  }
  for (FoundLayout& layout : found) {
    layout.reason = reason(layout, found.front());
    // The given design may need less memory, and be slower than kLayoutSlower allows.
    const int64_t more = layout.evaluation.memory - evaluation.memory;
    if (layout.aim == LayoutAim::LeastMemory && more > 0)
      layout.reason += " The given design needs " + format_bytes(more) + " less; " +
                       slower_text(slower_than(evaluation, found.front().evaluation)) + ".";
  }
}

ResultOptions result_options(const LayoutOptions& options) {
  ResultOptions out;
  out.objective = kTokensPerGpu;
  out.price_per_hour = options.price_per_hour;
  return out;
}

int64_t gpus_of(const Design& design, const LayoutOptions& options) {
  return options.gpus > 0 ? options.gpus : design.world();
}

std::shared_ptr<const Space> space_on(const Design& design, LayoutOptions options, int64_t gpus) {
  options.gpus = gpus;
  auto space = Space::make(layout_space(design, options));
  return std::holds_alternative<Problem>(space) ? nullptr : std::get<0>(std::move(space));
}

// A design of the space that shards all states over all GPUs, for advice if no design fits.
Design sharded(const Space& space, const LayoutOptions& options) {
  Design design = space.spec().base;
  design.parallel.dp = std::max<int64_t>(options.gpus, 1) /
                       (design.parallel.tp * design.parallel.cp * design.parallel.pp);
  design.parallel.sync = SyncStrategy::Fsdp2;
  if (trains(design)) design.workload.recompute = Recompute::Full;
  return design;
}

// Doubles the GPUs until a design fits, then tries 5/4, 6/4 and 7/4 of the last size that is too small.
void add_fewest_gpus(Layouts& out, const Design& design, const LayoutOptions& options,
                     const std::stop_token& stop) {
  const ResultOptions result = result_options(options);
  const auto fits = [&](int64_t gpus) {
    const auto space = space_on(design, options, gpus);
    return space && first_fitting_layout(space, result, stop);
  };
  int64_t gpus = 2 * gpus_of(design, options);
  while (gpus <= kMaxWorld && !fits(gpus) && !stop.stop_requested()) gpus *= 2;
  if (gpus > kMaxWorld) return;
  const int64_t small = gpus / 2, node = design.cluster.gpus_per_node;
  for (int64_t quarters : {5, 6, 7}) {
    const int64_t size = small * quarters / 4;
    const bool whole = small * quarters % 4 == 0 && (size < node || size % node == 0);
    if (!whole || !fits(size)) continue;
    gpus = size;
    break;
  }
  const auto space = space_on(design, options, gpus);
  if (!space || stop.stop_requested()) return;
  const LayoutPoints points = search_layouts(space, result, {}, stop);
  if (!points.fastest) return;
  out.fewest_gpus = gpus;
  out.at_fewest = found_layouts(points, *space, design).front();
}

}  // namespace

const char* layout_aim_label(LayoutAim aim) {
  switch (aim) {
    case LayoutAim::Fastest: return "Fastest";
    case LayoutAim::LeastMemory: return "Least memory";
    case LayoutAim::Simplest: return "Simplest";
  }
  return "";
}

std::vector<std::string> layout_mechanisms(const Design& design) {
  const Design d = effective_design(design);
  const ParallelSpec& p = d.parallel;
  std::vector<std::string> out;
  const auto add = [&](bool used, std::string text) {
    if (used) out.push_back(std::move(text));
  };
  const bool replicas = trains(d) && p.dp * p.cp > 1;
  add(replicas && is_fsdp(p.sync), "fully sharded data parallelism");
  add(replicas && p.sync == SyncStrategy::DistributedOptimizer, "the distributed optimizer");
  add(p.tp > 1, "tensor parallelism over " + grouped(p.tp));
  add(p.cp > 1, "context parallelism over " + grouped(p.cp));
  add(p.pp > 1, grouped(p.pp) + " pipeline stages");
  add(p.pp > 1 && p.virtual_stages > 1, grouped(p.virtual_stages) + " virtual stages");
  const Knob& schedule = *find_knob("schedule");
  add(p.pp > 1 && trains(d) && p.schedule != ScheduleKind::OneFOneB,
      "the schedule " + knob_text(d, schedule));
  add(p.ep > 1, "expert parallelism over " + grouped(p.ep));
  add(p.ep > 1 && p.folds_experts(), "separate tensor parallelism for experts");
  add(p.dcp > 1, "decode context parallelism over " + grouped(p.dcp));
  add(trains(d) && d.workload.recompute == Recompute::Selective, "selective recompute");
  add(trains(d) && d.workload.recompute == Recompute::Full, "full recompute");
  return out;
}

int64_t layout_batch(int64_t gpus, int64_t given) { return std::max(gpus, given); }

SpaceSpec layout_space(const Design& design, const LayoutOptions& options) {
  SpaceSpec spec;
  spec.name = "layouts";
  spec.base = design;
  spec.memory_margin = options.memory_margin;
  const int64_t gpus = gpus_of(design, options);
  spec.gpus = std::to_string(gpus);
  // Parallelism follows the GPUs; what describes the code and the cluster stays.
  ParallelSpec start;
  const ParallelSpec& p = design.parallel;
  start.dispatcher = p.dispatcher;
  start.dispatch_sms = p.dispatch_sms;
  start.order = p.order;
  start.ddp_bucket_size = p.ddp_bucket_size;
  start.clip_grad_norm = p.clip_grad_norm;
  start.average_loss = p.average_loss;
  spec.base.parallel = start;
  spec.base.workload.recompute = Recompute::None;
  spec.base.workload.microbatch = 1;
  for (const std::string& id : options.fixed)
    if (const Knob* knob = find_knob(id)) (void)set_knob(spec.base, *knob, knob_text(design, *knob));
  spec.dimensions = usual_dimensions(spec.base, gpus, options.fixed);
  const auto is_fixed = [&](std::string_view id) {
    return std::find(options.fixed.begin(), options.fixed.end(), id) != options.fixed.end();
  };
  if (is_fixed("dp")) spec.dimensions.emplace_back("dp", std::to_string(design.parallel.dp));
  if (!trains(design) && design.model.experts > 0 && !is_fixed("etp"))
    spec.dimensions.emplace_back("etp", "0,1");
  return spec;
}

std::optional<Layouts> find_layouts(const Design& design, const LayoutOptions& options,
                                    std::stop_token stop) {
  Layouts out;
  auto made = Space::make(layout_space(design, options));
  if (const auto* problem = std::get_if<Problem>(&made)) {
    out.unavailable = *problem;
    return out;
  }
  out.space = std::get<0>(std::move(made));
  const ResultOptions result = result_options(options);
  with_loop_threads(options.threads, [&] {
    const LayoutPoints points = search_layouts(out.space, result, {memory_score, simplicity_score}, stop);
    out.found = found_layouts(points, *out.space, design);
    out.evaluated = points.evaluated;
    const bool asks_for_others = design.world() != gpus_of(design, options);
    if (!asks_for_others) {
      EvaluationOptions timed;
      timed.memory_margin = options.memory_margin;
      timed.time_if_too_large = true;
      out.now = Evaluator().evaluate(design, timed, stop);
      offer(design, out.now, options.price_per_hour, out.found);
    }
    if (out.found.empty()) add_fewest_gpus(out, design, options, stop);
    if (out.now.feasibility == Feasibility::DoesNotFit || (out.found.empty() && asks_for_others))
      out.help = layout_help(asks_for_others ? sharded(*out.space, options) : design, options.memory_margin,
                             stop);
  });
  if (stop.stop_requested()) return std::nullopt;
  return out;
}

std::optional<std::vector<LayoutAtSize>> layouts_at_sizes(
    const Design& design, const std::vector<std::pair<int64_t, int64_t>>& sizes, const LayoutOptions& options,
    std::stop_token stop) {
  std::vector<LayoutAtSize> out;
  const ResultOptions result = result_options(options);
  with_loop_threads(options.threads, [&] {
    for (const auto& [gpus, batch] : sizes) {
      Design sized = design;
      sized.workload.batch = batch;
      LayoutAtSize& at = out.emplace_back(LayoutAtSize{gpus, batch, std::nullopt});
      const auto space = space_on(sized, options, gpus);
      if (!space || stop.stop_requested()) continue;
      const LayoutPoints points = search_layouts(space, result, {}, stop);
      if (!points.fastest) continue;
      std::vector<FoundLayout> found = found_layouts(points, *space, sized);
      sized.parallel.dp = gpus / (design.world() / design.parallel.dp);
      if (sized.world() == gpus)
        offer(sized, Evaluator().evaluate(sized, {options.memory_margin}, stop), options.price_per_hour,
              found);
      at.fastest = found.front();
    }
  });
  if (stop.stop_requested()) return std::nullopt;
  return out;
}

bool answers(const Layouts& layouts, const Design& design, const LayoutOptions& options) {
  if (!layouts.space) return false;
  SpaceSpec asked = layout_space(design, options);
  asked.base.name = layouts.space->spec().base.name;
  return asked == layouts.space->spec();
}

std::optional<double> slower_than_best(const Layouts& layouts, const Evaluation& design) {
  if (layouts.found.empty() || !design.timed()) return std::nullopt;
  return slower_than(design, layouts.found.front().evaluation);
}

std::string distance_text(const Layouts& layouts, const Evaluation& design) {
  const auto slower = slower_than_best(layouts, design);
  if (!slower) return "";
  if (std::abs(*slower) < kSameSpeed) return "as fast as the best found";
  return percent(std::abs(*slower)) + (*slower > 0 ? " slower" : " faster") + " than the best found";
}

}  // namespace shardscape
