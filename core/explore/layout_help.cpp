// Changes that make a design fit.

#include <algorithm>

#include "base/units.h"
#include "design/cluster.h"
#include "design/knobs/knob_state.h"
#include "explore/layout.h"
#include "explore/sensitivity.h"
#include "memory/allocator_use.h"
#include "memory/estimate.h"
#include "model/parallel_loop.h"

namespace shardscape {
namespace {

constexpr double kSmallestSaving = 0.005;  // share of the memory; smaller savings are not listed

struct Change {
  std::string knob, value, what;
};

// The candidates, cheapest first. Of the values of a degree, only the best is listed.
std::vector<Change> changes(const Design& design) {
  const ParallelSpec& p = design.parallel;
  std::vector<Change> out;
  const auto degrees = [&](const char* knob, int64_t now, int64_t most, const char* what) {
    for (int64_t n = 2 * now; n <= most; n *= 2)
      out.push_back({knob, std::to_string(n), std::string(what) + " over " + grouped(n) + " GPUs"});
  };
  constexpr int64_t kMost = 64;
  out.push_back({"microbatch", "1", "microbatches of one sequence"});
  out.push_back({"sequence_parallel", "true", "sequence parallelism"});
  out.push_back({"sync", "distributed-optimizer", "the distributed optimizer"});
  out.push_back({"sync", "fsdp2", "fully sharded data parallelism"});
  degrees("tp", p.tp, std::min<int64_t>(scaleup_domain(design), kMost), "tensor parallelism");
  degrees("ep", p.ep, kMost, "expert parallelism");
  degrees("cp", p.cp, kMost, "context parallelism");
  degrees("pp", p.pp, kMost, "pipeline parallelism");
  out.push_back({"recompute", "selective", "selective recompute"});
  out.push_back({"recompute", "full", "full recompute"});
  out.push_back({"grad_dtype", "bf16", "gradients in bfloat16"});
  out.push_back({"moment_dtype", "bf16", "optimizer moments in bfloat16"});
  out.push_back({"kv_cache_dtype", "fp8", "keys and values in float8"});
  out.push_back({"offload_optimizer", "true", "the optimizer on the host"});
  std::erase_if(out, [&](const Change& c) { return without_effect(design, *find_knob(c.knob)).has_value(); });
  return out;
}

class Helper {
 public:
  Helper(const Design& design, double margin, const std::stop_token& stop) : given_(design), stop_(stop) {
    options_.memory_margin = margin;
    options_.time_if_too_large = true;
    now_ = evaluator_.evaluate(given_, options_, stop_);
  }

  bool needed() const { return now_.feasibility == Feasibility::DoesNotFit; }

  // The design with all changes, one after the other; nullopt if one of them is impossible.
  std::optional<LayoutHelp> with(const std::vector<const Change*>& all) {
    LayoutHelp out;
    out.design = given_;
    for (size_t i = 0; i < all.size(); ++i) {
      auto changed = make_neighbour(out.design, *find_knob(all[i]->knob), all[i]->value);
      if (!changed) return std::nullopt;
      out.design = std::move(changed->design);
      out.what += (i == 0 ? "" : i + 1 == all.size() ? " and " : ", ") + all[i]->what;
    }
    out.evaluation = evaluator_.evaluate(out.design, options_, stop_);
    out.saved = now_.memory - out.evaluation.memory;
    out.fits = out.evaluation.feasibility == Feasibility::Fits && !runs_out(out);
    if (!out.evaluation.timed() ||
        static_cast<double>(out.saved) < kSmallestSaving * static_cast<double>(now_.memory))
      return std::nullopt;
    out.settings = changed_knobs(given_, out.design);
    return out;
  }

  // Adds single changes, largest saving first, each only if it saves more, until the design fits. Then
  // removes the changes that the design does not need to fit.
  std::optional<LayoutHelp> together(const std::vector<const Change*>& singles) {
    std::vector<const Change*> chosen;
    std::optional<LayoutHelp> sum;
    for (const Change* single : singles) {
      if (stop_.stop_requested() || (sum && sum->fits)) break;
      std::vector<const Change*> more = chosen;
      std::erase_if(more, [&](const Change* other) { return other->knob == single->knob; });
      if (more.size() < chosen.size()) continue;
      more.push_back(single);
      auto next = with(more);
      if (!next || (sum && next->saved <= sum->saved)) continue;
      chosen = std::move(more);
      sum = std::move(next);
    }
    if (!sum || !sum->fits) return std::nullopt;
    for (size_t i = chosen.size(); i-- > 0 && chosen.size() > 1;) {
      std::vector<const Change*> fewer = chosen;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (auto less = with(fewer); less && less->fits) {
        chosen = std::move(fewer);
        sum = std::move(less);
      }
    }
    return sum;
  }

 private:
  // Whether PyTorch's allocator runs out of memory although the tensors fit. Only a nearly full device is
  // replayed, which takes milliseconds.
  bool runs_out(const LayoutHelp& help) const {
    constexpr double kNearlyFull = 0.9;
    const Evaluation& e = help.evaluation;
    if (e.capacity == 0 || static_cast<double>(e.memory) < kNearlyFull * static_cast<double>(e.capacity))
      return false;
    const std::shared_ptr<const Report> report = estimate(help.design, stop_);
    if (!report || stop_.stop_requested()) return false;
    const auto replay = fragmentation(*report, stop_);
    return replay && !replay->native.fits;
  }

  Design given_;
  std::stop_token stop_;
  EvaluationOptions options_;
  Evaluator evaluator_;
  Evaluation now_;
};

}  // namespace

std::vector<LayoutHelp> layout_help(const Design& design, double memory_margin, std::stop_token stop) {
  Helper helper(design, memory_margin, stop);
  if (!helper.needed()) return {};
  const std::vector<Change> all = changes(design);
  std::vector<std::optional<LayoutHelp>> tried(all.size());
  parallel_loop(all.size(), [&](size_t i) {
    if (!stop.stop_requested()) tried[i] = helper.with({&all[i]});
  });
  // Of several values of a degree: the first that fits, otherwise the one that saves most.
  const auto beats = [](const LayoutHelp& a, const LayoutHelp& b) {
    return a.fits != b.fits ? a.fits : !a.fits && a.saved > b.saved;
  };
  struct Single {
    const Change* change;
    LayoutHelp help;
  };
  std::vector<Single> singles;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!tried[i]) continue;
    const bool degree = find_knob(all[i].knob)->type == KnobType::Integer;
    const auto same = std::find_if(singles.begin(), singles.end(),
                                   [&](const Single& s) { return degree && s.change->knob == all[i].knob; });
    if (same == singles.end())
      singles.push_back({&all[i], std::move(*tried[i])});
    else if (beats(*tried[i], same->help))
      *same = {&all[i], std::move(*tried[i])};
  }
  std::stable_sort(singles.begin(), singles.end(), [](const Single& a, const Single& b) {
    return a.help.fits != b.help.fits ? a.help.fits : a.help.saved > b.help.saved;
  });
  std::vector<LayoutHelp> out;
  if (!singles.empty() && !singles.front().help.fits) {
    std::vector<const Change*> order;
    order.reserve(singles.size());
    for (const Single& single : singles) order.push_back(single.change);
    if (auto sum = helper.together(order)) out.push_back(std::move(*sum));
  }
  for (Single& single : singles) out.push_back(std::move(single.help));
  return stop.stop_requested() ? std::vector<LayoutHelp>() : out;
}

}  // namespace shardscape
