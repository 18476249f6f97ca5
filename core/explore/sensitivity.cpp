#include "explore/sensitivity.h"

#include <algorithm>

#include "design/knobs/knob_state.h"
#include "design/limits.h"
#include "design/validate/validate.h"
#include "model/parallel_loop.h"
#include "model/progress_count.h"

namespace shardscape {
namespace {

constexpr int kRepairs = 3;  // maximum number of successive fixes

std::optional<Problem> first_problem(const Design& design) {
  std::vector<Problem> problems = validate(design);
  if (!has_errors(problems)) return std::nullopt;
  return std::move(problems.front());
}

// If tp, pp or cp changes, dp changes too, so that the number of ranks stays. False if this is impossible.
bool follow_ranks(Neighbour& n, const Design& from, const Knob& knob) {
  if (knob.id != "tp" && knob.id != "pp" && knob.id != "cp") return true;
  const int64_t others = n.design.parallel.tp * n.design.parallel.pp * n.design.parallel.cp;
  if (from.world() % others != 0) return false;
  n.design.parallel.dp = from.world() / others;
  n.also.emplace_back("dp", std::to_string(n.design.parallel.dp));
  return true;
}

// Makes the design valid by fixes that change neither the studied knob nor the number of ranks. False if this
// is impossible.
bool repair(Neighbour& n, const Design& from, const Knob& knob) {
  for (int round = 0; round <= kRepairs; ++round) {
    const auto problem = first_problem(n.design);
    if (!problem) return n.design.world() == from.world() || knob.id == "dp";
    if (round == kRepairs) return false;
    const auto leaves_alone = [&](const Fix& fix) {
      return std::none_of(fix.settings.begin(), fix.settings.end(), [&](const auto& s) {
        const Knob* other = find_knob(s.first);
        return !other || s.first == knob.id || other->group == KnobGroup::Model || s.first == "batch" ||
               s.first == "seq";
      });
    };
    const auto fix = std::find_if(problem->fixes.begin(), problem->fixes.end(), leaves_alone);
    if (fix == problem->fixes.end()) return false;
    for (const auto& [id, text] : fix->settings) {
      if (set_knob(n.design, *find_knob(id), text)) return false;
      std::erase_if(n.also, [&, key = id](const auto& a) { return a.first == key; });
      n.also.emplace_back(id, text);
    }
  }
  return false;
}

// Lists of values to try. In each list, the first value that gives a valid design counts.
std::vector<std::vector<std::string>> candidates(const Design& design, const Knob& knob) {
  const auto words = [](std::initializer_list<int64_t> numbers) {
    std::vector<std::string> out;
    for (int64_t n : numbers) out.push_back(std::to_string(n));
    return out;
  };
  switch (knob.type) {
    case KnobType::Integer: {
      const int64_t v = knob_number(knob)(design);
      if (v == 0) return {};  // chosen by the program
      return {words({v / 2, v / 3, v - 1}), words({v * 2, v * 3, v + 1})};
    }
    case KnobType::Boolean: return {{knob_text(design, knob) == "true" ? "false" : "true"}};
    case KnobType::Choice: {
      std::vector<std::vector<std::string>> out;
      for (const KnobChoice& choice : knob.choices)
        if (choice.value != knob_text(design, knob)) out.push_back({choice.value});
      return out;
    }
    case KnobType::Decimal:
    case KnobType::IntegerList:
    case KnobType::ChoiceList:
    case KnobType::Text: return {};
  }
  return {};
}

void add_change(KnobSensitivity& effect, const Evaluation& now, const Evaluation& then) {
  const double change = then.tokens_per_second / now.tokens_per_second - 1;
  const int64_t memory = then.memory - now.memory;
  effect.slowest = std::min(effect.slowest, change);
  effect.fastest = std::max(effect.fastest, change);
  effect.least_memory = std::min(effect.least_memory, memory);
  effect.most_memory = std::max(effect.most_memory, memory);
}

constexpr EvaluationOptions kTimeAll{0, true};

}  // namespace

namespace {

// Whether people would run the changed design: not with a network of other accelerators, nor in a precision
// for which the accelerator has no units. Searches allow both, with a note.
bool is_usual(const Neighbour& neighbour, const Knob& knob) {
  if (knob.type != KnobType::Choice) return true;
  const std::vector<Problem> problems = validate(neighbour.design);
  return std::none_of(problems.begin(), problems.end(), [&](const Problem& p) {
    return p.where == knob.id &&
           (p.code == ProblemCode::NoMatrixUnits || p.code == ProblemCode::NetworkOfOtherAccelerator);
  });
}

}  // namespace

std::optional<Neighbour> make_neighbour(const Design& from, const Knob& knob, const std::string& value) {
  Neighbour n{value, {}, from, {}};
  if (set_knob(n.design, knob, value) || n.design == from || !follow_ranks(n, from, knob) ||
      !repair(n, from, knob))
    return std::nullopt;
  return n;
}

std::vector<const Neighbour*> KnobSensitivity::extremes(size_t most) const {
  std::vector<const Neighbour*> out;
  for (const Neighbour& n : neighbours) out.push_back(&n);
  std::stable_sort(out.begin(), out.end(), [](const Neighbour* a, const Neighbour* b) {
    return a->evaluation.tokens_per_second < b->evaluation.tokens_per_second;
  });
  if (out.size() > most)
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(most / 2),
              out.end() - static_cast<std::ptrdiff_t>(most - most / 2));
  return out;
}

std::optional<Sensitivity> sensitivity(const Design& design, std::stop_token stop,
                                       const std::function<void(size_t, size_t)>& progress) {
  Evaluator evaluator;
  Sensitivity out;
  out.now = evaluator.evaluate(design, kTimeAll, stop);
  if (!out.now.timed()) return std::nullopt;
  for (const Knob& knob : knobs()) {
    if (knob.group == KnobGroup::Model || knob.id == "mode" || knob.outside_step ||
        without_effect(design, knob))
      continue;
    KnobSensitivity effect{&knob, knob_text(design, knob), {}};
    for (const auto& values : candidates(design, knob))
      for (const std::string& value : values)
        if (auto n = make_neighbour(design, knob, value); n && is_usual(*n, knob)) {
          effect.neighbours.push_back(std::move(*n));
          break;
        }
    if (!effect.neighbours.empty()) out.knobs.push_back(std::move(effect));
  }
  std::vector<Neighbour*> all;
  for (KnobSensitivity& effect : out.knobs)
    for (Neighbour& n : effect.neighbours) all.push_back(&n);
  ProgressCount count(progress);
  parallel_loop(all.size(), [&](size_t i) {
    if (stop.stop_requested()) return;
    all[i]->evaluation = evaluator.evaluate(all[i]->design, kTimeAll, stop);
    count.step(all.size());
  });
  if (stop.stop_requested()) return std::nullopt;
  for (KnobSensitivity& effect : out.knobs) {
    std::erase_if(effect.neighbours, [](const Neighbour& n) { return !n.evaluation.timed(); });
    for (const Neighbour& n : effect.neighbours) add_change(effect, out.now, n.evaluation);
  }
  std::erase_if(out.knobs, [](const KnobSensitivity& effect) { return effect.neighbours.empty(); });
  std::stable_sort(out.knobs.begin(), out.knobs.end(),
                   [](const auto& a, const auto& b) { return a.swing() > b.swing(); });
  return out;
}

namespace {

void add_costs(ScalePoint& point, const Design& design, const Evaluation& evaluation) {
  point.evaluation = evaluation;
  if (!evaluation.timed()) return;
  point.cost = running_cost(design.cluster, point.gpus, evaluation.tokens_per_second);
  if (trains(design) && design.workload.tokens > 0)
    point.days = campaign(*make_report(design), evaluation.step_seconds, evaluation.tokens_per_second).days;
}

}  // namespace

std::optional<std::vector<ScalePoint>> scaling(const Design& design, const ScalingOptions& options,
                                               std::stop_token stop) {
  const int64_t model_ranks = design.parallel.tp * design.parallel.pp * design.parallel.cp;
  std::vector<int64_t> degrees{design.parallel.dp};
  for (int64_t dp = 1; dp <= kMaxWorld / model_ranks; dp *= 2) degrees.push_back(dp);
  std::sort(degrees.begin(), degrees.end());
  degrees.erase(std::unique(degrees.begin(), degrees.end()), degrees.end());
  std::vector<ScalePoint> out;
  std::vector<Design> designs;
  for (int64_t dp : degrees) {
    const int64_t gpus = dp * model_ranks;
    if (gpus < options.least || gpus > std::min(options.most, kMaxWorld)) continue;
    Design d = design;
    d.parallel.dp = dp;
    const Wide batch = options.weak ? static_cast<Wide>(design.workload.batch) * dp / design.parallel.dp
                                    : design.workload.batch;
    d.workload.batch = static_cast<int64_t>(std::min<Wide>(batch, kMaxBatch + 1));
    ScalePoint point{gpus, dp, d.workload.batch, "", {}, 0, {}, {}};
    if (options.weak && static_cast<Wide>(design.workload.batch) * dp % design.parallel.dp != 0)
      point.wrong = "the batch at this size is not a whole number";
    else if (const auto problem = first_problem(d))
      point.wrong = problem->what;
    out.push_back(std::move(point));
    designs.push_back(std::move(d));
  }
  Evaluator evaluator;
  parallel_loop(out.size(), [&](size_t i) {
    if (out[i].wrong.empty() && !stop.stop_requested())
      add_costs(out[i], designs[i], evaluator.evaluate(designs[i], kTimeAll, stop));
  });
  if (stop.stop_requested()) return std::nullopt;
  double first = 0;
  for (ScalePoint& p : out) {
    if (!p.evaluation.timed()) continue;
    const double each = p.evaluation.tokens_per_second / static_cast<double>(p.gpus);
    if (first == 0) first = each;
    p.efficiency = each / first;
  }
  return out;
}

}  // namespace shardscape
