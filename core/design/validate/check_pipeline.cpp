// Checks the stages, their layers, and whether the microbatches fill them.
#include <algorithm>

#include "base/number_text.h"
#include "base/units.h"
#include "design/limits.h"
#include "design/validate/checks.h"
#include "design/vision.h"
#include "mesh/pipeline_layout.h"

namespace shardscape {
namespace {

constexpr int64_t kLongestListOffered = 64;  // length of a list in a fix

// An even split is always possible with at most as many stages as layers. Virtual stages require equal parts.
std::vector<Fix> even_split(const Design& d) {
  Fix fix = set_to("stage_layers", std::string());
  const int64_t v = d.parallel.virtual_stages, parts = d.model.layers + d.parallel.ends_counted_as_layers();
  if (d.parallel.pp > parts) fix = both(std::move(fix), set_to("pp", parts));
  if (v > 1 && (d.parallel.pp > parts || parts % (d.parallel.pp * v) != 0))
    fix = both(std::move(fix), set_to("virtual_stages", 1));
  return {std::move(fix)};
}

// Only the stages with the embedding or the head may have no layers.
std::string wrong_element(const Design& d) {
  const std::vector<int64_t>& list = d.parallel.stage_layers;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string stage = (d.parallel.virtual_stages > 1 ? "virtual stage " : "stage ") +
                              std::to_string(i);
    if (list[i] < 0) return stage + " has " + grouped(list[i]) + " layers";
    if (list[i] > kMaxLayers) return stage + " has " + grouped(list[i]) + " layers, more than supported";
    if (list[i] == 0 && i > 0 && i + 1 < list.size())
      return stage + " has no layers, and neither the embedding nor the head";
  }
  return "";
}

void check_list(Checks& checks) {
  const Design& d = checks.design;
  const std::vector<int64_t>& list = d.parallel.stage_layers;
  const int64_t stages = static_cast<int64_t>(list.size()), pp = d.parallel.pp, layers = d.model.layers;
  const int64_t v = d.parallel.virtual_stages;
  const std::string accepted = grouped(pp * v) + " numbers that add up to " + grouped(layers) +
                               ", each at least 1 (first and last at least 0), or nothing for an even split";
  if (std::string wrong = wrong_element(d); !wrong.empty()) {
    checks.error(ProblemCode::StageLayersInvalid, "stage_layers", wrong, accepted, even_split(d));
    return;
  }
  int64_t sum = 0;
  bool absurd = false;
  for (int64_t count : list) absurd |= __builtin_add_overflow(sum, count, &sum);
  std::vector<Fix> fixes = even_split(d);
  if (stages != pp * v) {
    const int64_t others = ranks_without(d, "pp");
    const bool ranks_known = checks.in_range({"tp", "dp", "cp"});
    const bool whole = sum == layers && !absurd;
    if (v == 1 && whole && ranks_known && others <= kMaxWorld / stages) offer(fixes, "pp", stages);
    if (v > 1 && whole && stages % pp == 0) offer(fixes, "virtual_stages", stages / pp);
    const std::string listed = v > 1
                                   ? " virtual stages are listed, but pp x virtual stages = " + grouped(pp) +
                                         " x " + grouped(v)
                                   : " stages are listed, but pp = " + grouped(pp);
    checks.error(ProblemCode::StageLayersCount, "stage_layers", grouped(stages) + listed, accepted,
                 std::move(fixes));
  } else if (absurd || sum != layers) {
    if (!absurd && sum >= 1 && sum <= kMaxLayers) offer(fixes, "layers", sum);
    checks.error(ProblemCode::StageLayersSum, "stage_layers",
                 "the listed stages hold " + (absurd ? "far too many" : grouped(sum)) +
                     " layers, but the model has " + grouped(layers),
                 accepted, std::move(fixes));
  }
}

void check_bubble(Checks& checks) {
  const Design& d = checks.design;
  if (checks.first_only) return;  // only a note follows
  // Fewer microbatches than stages cannot be interleaved.
  if (!checks.in_range({"batch", "microbatch", "dp"}) || d.parallel.pp < 2 || d.parallel.virtual_stages > 1)
    return;
  if (splits_backward(d.parallel.schedule)) return;  // split backwards idle less
  const int64_t slots = d.workload.microbatch * d.parallel.dp, m = d.workload.batch / slots,
                pp = d.parallel.pp;
  if (m < 1 || d.workload.batch % slots != 0 || m >= pp) return;
  std::vector<Fix> fixes;
  if (pp <= kMaxBatch / slots) offer(fixes, "batch", pp * slots);
  const double idle = static_cast<double>(pp - 1) / static_cast<double>(m + pp - 1);
  checks.note(ProblemCode::PipelineNotFilled, "batch",
              grouped(m) + (m == 1 ? " microbatch does" : " microbatches do") + " not fill " + grouped(pp) +
                  " stages: each stage idles (pp - 1) / (m + pp - 1) = " + significant(idle * 100, 2) +
                  " % of the step",
              "m = B / (b dp) of at least pp = " + grouped(pp) + ", preferably several times as many",
              std::move(fixes));
}

void check_messages(Checks& checks) {
  const Design& d = checks.design;
  if (!d.parallel.scatter_gather_pipeline || !checks.in_range({"tp"})) return;
  const int64_t tp = d.parallel.tp;
  const std::vector<Fix> off{set_to("scatter_gather_pipeline", "false")};
  if (tp == 1 || d.parallel.pp == 1 || d.parallel.sequence_parallel) return;  // no message to split
  if (!checks.in_range({"microbatch", "seq", "streams", "hidden"})) return;
  const int64_t streams = uses_axis(d, Axis::Streams) ? d.model.streams : 1;
  const Wide elements = Wide{d.workload.microbatch} * d.workload.seq * streams * d.model.hidden;
  if (elements % tp == 0) return;
  checks.error(
      ProblemCode::MessageIndivisibleByTp, "scatter_gather_pipeline",
      "a message of b S D = " + grouped(elements) + " elements does not split over tp = " + grouped(tp),
      "off, or b S D in multiples of tp", off);
}

// Megatron-core supports no stages of different length with these flags (transformer_block.py,
// get_num_layers_to_build).
void check_counted_ends(Checks& checks) {
  const Design& d = checks.design;
  if (!trains(d)) return;  // only training has these flags
  const int64_t pp = language_stages(d), layers = d.model.layers,
                parts = layers + d.parallel.ends_counted_as_layers();
  if (parts == layers || pp == 1 || pp > parts || parts % pp == 0 || d.parallel.virtual_stages > 1) return;
  const char *const embedding = "account_for_embedding_in_pipeline_split",
                    *const head = "account_for_loss_in_pipeline_split";
  std::vector<Fix> fixes;
  if ((layers + 2) % pp == 0) fixes.push_back(both(set_to(embedding, "true"), set_to(head, "true")));
  if ((layers + 1) % pp == 0) fixes.push_back(both(set_to(embedding, "false"), set_to(head, "true")));
  fixes.push_back(both(set_to(embedding, "false"), set_to(head, "false")));
  checks.note(
      ProblemCode::CountedEndsUneven, d.parallel.account_for_embedding_in_pipeline_split ? embedding : head,
      grouped(layers) + " layers" + ends_counted_text(d) + " do not split evenly over pp = " + grouped(pp) +
          ", which Megatron-LM requires with this flag; here the first stages get one more layer",
      "layers" + ends_counted_text(d) + " in multiples of " + grouped(pp), std::move(fixes));
}

// Stages of different length are valid, but wait for the longest stage. A note is given, because a divisor
// may have been meant.
void check_uneven(Checks& checks) {
  const Design& d = checks.design;
  const int64_t pp = language_stages(d), layers = d.model.layers;
  if (checks.first_only || d.parallel.ends_counted_as_layers() > 0 || pp == 1 ||
      d.parallel.virtual_stages > 1 || layers % pp == 0)
    return;
  const std::vector<int64_t> list = layers_per_virtual_stage(d);
  const int64_t most = *std::max_element(list.begin(), list.end()),
                longer = std::count(list.begin(), list.end(), most);
  const auto first = std::find(list.begin(), list.end(), most);
  const auto end = std::find_if(first, list.end(), [&](int64_t n) { return n != most; });
  const bool together = std::count(first, end, most) == longer;
  const std::string from = std::to_string(first - list.begin()), to = std::to_string(end - list.begin() - 1);
  const std::string which = !together     ? grouped(longer) + " stages hold "
                            : longer == 1 ? "stage " + from + " holds "
                                          : "stages " + from + " to " + to + " hold ";
  std::vector<Fix> fixes;
  int64_t below = 0;
  for (const int64_t divisor : divisors(layers))
    if (divisor < pp) below = divisor;
  if (pp <= kLongestListOffered)
    fixes.push_back({"keep this split", set_to("stage_layers", list_text(list)).settings});
  const bool apart = pp < d.parallel.pp;  // the tower has a stage of its own
  offer(fixes, "pp", below > 0 && apart ? below + 1 : below);
  checks.note(ProblemCode::LayersUneven, "pp",
              grouped(layers) + " layers do not split evenly over " +
                  (apart ? "the " + grouped(pp) + " stages behind the vision tower" : "pp = " + grouped(pp)) +
                  ": " + which + grouped(most) + ", the others " + grouped(most - 1),
              "a divisor of " + grouped(layers) + (apart ? " and one stage more" : "") +
                  ", or a list of layers per stage",
              std::move(fixes));
}

}  // namespace

std::string ends_counted_text(const Design& d) {
  const bool embedding = d.parallel.account_for_embedding_in_pipeline_split,
             head = d.parallel.account_for_loss_in_pipeline_split;
  return embedding && head ? ", embedding and head"
         : embedding       ? " and the embedding"
         : head            ? " and the head"
                           : "";
}

void check_pipeline(Checks& checks) {
  if (!checks.in_range({"pp", "virtual_stages"})) return;
  check_bubble(checks);
  check_messages(checks);
  if (!checks.in_range({"layers"})) return;
  const Design& d = checks.design;
  if (!d.parallel.stage_layers.empty()) {
    check_list(checks);
  } else if (const int64_t parts = d.model.layers + d.parallel.ends_counted_as_layers();
             language_stages(d) > parts && !checks.record_first("pp")) {
    checks.error(ProblemCode::MoreStagesThanLayers, "pp",
                 grouped(d.parallel.pp) + " stages are more than " + grouped(d.model.layers) + " layers" +
                     ends_counted_text(d),
                 "at most " + grouped(parts + d.parallel.pp - language_stages(d)),
                 {set_to("pp", parts + d.parallel.pp - language_stages(d))});
  } else {
    check_counted_ends(checks);
    check_uneven(checks);
  }
}

}  // namespace shardscape
