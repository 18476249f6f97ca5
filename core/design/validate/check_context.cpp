// Checks the even split of context parallelism, and features that it does not support.
#include <algorithm>
#include <numeric>

#include "base/units.h"
#include "design/validate/checks.h"
#include "model/library.h"

namespace shardscape {
namespace {

Fix gather_instead() { return set_to("context", std::string("all-gather")); }

// Whether the degree divides cp and the heads.
bool check_ulysses_degree(Checks& checks) {
  const Design& d = checks.design;
  if (!checks.in_range({"ulysses_degree", "heads"})) return false;
  const int64_t cp = d.parallel.cp, tp = d.parallel.tp, degree = d.parallel.ulysses_degree,
                kv = d.model.kv_heads;
  const Fix automatic = set_to("ulysses_degree", 0);
  if (degree > 0 && cp % degree != 0) {
    checks.error(ProblemCode::UlyssesDegreeNotInCp, "ulysses_degree",
                 "a Ulysses degree of " + grouped(degree) + " does not divide cp = " + grouped(cp),
                 "a divisor of " + grouped(cp) + ", or 0", {automatic});
    return false;
  }
  if (degree > 1 && (kv % (tp * degree) != 0 || d.model.heads % (tp * degree) != 0)) {
    checks.error(ProblemCode::UlyssesKvHeadsIndivisible, "ulysses_degree",
                 grouped(kv) + " KV heads cannot be spread over tp x u = " + grouped(tp * degree) + " ranks",
                 "a degree u for which tp x u divides the KV heads, or 0", {automatic});
    return false;
  }
  return true;
}

void check_ring(Checks& checks) {
  const Design& d = checks.design;
  const int64_t ring = ring_ranks(d), seq = d.workload.seq;
  if (ring == 1) return;
  const bool zigzag = d.parallel.context == ContextMode::Zigzag ||
                      d.parallel.context == ContextMode::UlyssesZigzag;
  if (zigzag && seq % (2 * ring) != 0) {
    const int64_t parts = std::lcm(2 * ring, d.parallel.cp * (splits_tokens_over_tp(d) ? d.parallel.tp : 1));
    std::vector<Fix> fixes;
    offer(fixes, "seq", seq >= parts ? seq / parts * parts : parts);
    fixes.push_back(
        set_to("context", std::string(d.parallel.context == ContextMode::Zigzag ? "ring" : "ulysses-ring")));
    checks.error(ProblemCode::ZigzagSeqIndivisible, "seq",
                 "a zigzag ring cannot cut " + grouped(seq) + " tokens into " + grouped(2 * ring) +
                     " blocks, two for each of its ranks",
                 "a multiple of " + grouped(parts), std::move(fixes));
  }
  // As in Transformer Engine (attn_forward_func_with_cp): windows need cp_comm_type all_gather or a2a, sinks
  // need a2a.
  std::vector<Fix> fixes;
  if (d.model.kv_heads % (d.parallel.tp * d.parallel.cp) == 0)
    fixes.push_back(set_to("context", std::string("ulysses")));
  fixes.push_back(gather_instead());
  if (has_sinks(d.model.architecture)) {
    checks.error(ProblemCode::RingWithSinks, "context",
                 "a ring merges the softmax of blocks of keys, and each block would count the sinks of the " +
                     d.model.architecture +
                     " architecture; Transformer Engine refuses sinks with cp_comm_type p2p and a2a+p2p",
                 "ulysses (a2a), or all-gather", std::move(fixes));
  } else if (checks.in_range({"window"}) && d.model.window > 0 && has_window_layers(d.model.architecture)) {
    fixes.push_back(set_to("window", 0));
    checks.error(ProblemCode::RingWithWindow, "context",
                 "a ring sends whole blocks, more than a sliding window of " + grouped(d.model.window) +
                     " tokens reads; Transformer Engine refuses windows with cp_comm_type p2p and a2a+p2p",
                 "ulysses (a2a), all-gather (all_gather), or no window", std::move(fixes));
  } else if (checks.in_range({"attention_chunk"}) && d.model.attention_chunk > 0 &&
             uses_axis(d, Axis::ChunkContext)) {
    fixes.push_back(set_to("attention_chunk", 0));
    checks.error(ProblemCode::RingWithWindow, "context",
                 "a ring sends whole blocks, more than a chunk of " + grouped(d.model.attention_chunk) +
                     " tokens reads",
                 "ulysses, all-gather, or no chunk", std::move(fixes));
  }
  // A ring merges the results of blocks by their log-sum-exp. Kernels that store whole rows of scores cannot
  // do so.
  const KernelProfile* profile = checks.in_range({"profile"})
                                     ? ModelLibrary::instance().profile(d.workload.profile)
                                     : nullptr;
  if (profile && profile->rule("attention") && !profile->has_blockwise_attention())
    checks.error(ProblemCode::RingWithUnfusedAttention, "context",
                 "the attention of the kernel profile " + profile->id +
                     " stores whole rows of scores, which a ring cannot merge from blocks; Transformer "
                     "Engine has no context parallelism for unfused attention",
                 "a profile with blockwise attention (such as flash), all-gather or ulysses",
                 {set_to("profile", std::string("flash")), gather_instead()});
}

}  // namespace

void check_context(Checks& checks) {
  const Design& d = checks.design;
  const int64_t cp = d.parallel.cp, tp = d.parallel.tp, seq = d.workload.seq;
  const bool exchanges = d.parallel.context == ContextMode::UlyssesRing ||
                         d.parallel.context == ContextMode::UlyssesZigzag;
  if (!checks.in_range({"cp", "tp", "seq", "kv_heads"}) || cp == 1 || d.workload.mode == Mode::Decode) return;
  const Fix off = set_to("cp", 1);
  // The residual stream is split over cp, and inside cp over tp where tp splits tokens.
  const int64_t parts = cp * (splits_tokens_over_tp(d) ? tp : 1);
  if (seq % parts != 0) {
    std::vector<Fix> fixes;
    offer(fixes, "seq", seq >= parts ? seq / parts * parts : parts);
    fixes.push_back(off);
    checks.error(
        ProblemCode::SeqIndivisibleByCp, "seq",
        "context parallelism cannot split " + grouped(seq) + " tokens into " + grouped(parts) + " parts",
        "a multiple of " + grouped(parts), std::move(fixes));
  }
  if (!uses_axis(d, Axis::Heads)) return;
  if (d.parallel.context == ContextMode::Ulysses && d.model.kv_heads % (tp * cp) != 0)
    checks.error(ProblemCode::UlyssesKvHeadsIndivisible, "cp",
                 "Ulysses cannot spread " + grouped(d.model.kv_heads) +
                     " KV heads over tp x cp = " + grouped(tp * cp) + " ranks",
                 "tp x cp that divides the KV heads, or a context mode that does not exchange heads",
                 {gather_instead(), off});
  if (!exchanges || check_ulysses_degree(checks)) check_ring(checks);
}

}  // namespace shardscape
