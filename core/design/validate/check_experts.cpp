// Checks the sizes of a mixture of experts and the split of the expert mesh.
#include <algorithm>
#include <tuple>

#include "base/number_text.h"
#include "base/units.h"
#include "design/expert_nodes.h"
#include "design/limits.h"
#include "design/validate/checks.h"
#include "model/library.h"

namespace shardscape {
namespace {

// Whether the experts of the block have biases: a parameter with one row per expert.
bool has_expert_bias(const BlockTemplate& block) {
  return std::any_of(block.params.begin(), block.params.end(), [](const BlockParam& param) {
    return param.axes == std::vector<Axis>{Axis::Experts, Axis::Hidden};
  });
}

// Whether a layer of any kind calls a block that fits.
bool calls_block(const Architecture& architecture, bool (*fits)(const BlockTemplate&)) {
  const ModelLibrary& library = ModelLibrary::instance();
  return std::any_of(architecture.kinds.begin(), architecture.kinds.end(), [&](const SectionTemplate& kind) {
    return std::any_of(kind.lines.begin(), kind.lines.end(), [&](const OpLine& line) {
      const BlockTemplate* block = library.block(line.callee);
      return block && fits(*block);
    });
  });
}

void check_dense_model(Checks& checks, const std::string& architecture) {
  const Design& d = checks.design;
  if (d.model.experts > 0)
    checks.error(ProblemCode::ExpertsInDenseModel, "experts",
                 "the " + architecture + " architecture has no layer with experts",
                 "0, or a mixture-of-experts architecture", {set_to("experts", 0)});
  if (d.parallel.ep > 1)
    checks.error(ProblemCode::EpInDenseModel, "ep",
                 "the model has no experts to spread over ep = " + grouped(d.parallel.ep) + " ranks", "1",
                 {set_to("ep", 1)});
}

void check_routing(Checks& checks, const std::string& architecture) {
  const ModelSpec& m = checks.design.model;
  if (!checks.in_range({"experts", "experts_per_token", "expert_ffn", "zero_experts"})) return;
  if (m.experts == 0) {
    checks.error(ProblemCode::ExpertsMissing, "experts",
                 "the " + architecture + " architecture routes tokens to experts, but there are none",
                 "at least 1", {set_to("experts", 8)});
    return;
  }
  const int64_t most = m.experts + (uses_axis(checks.design, Axis::AllRoutes) ? m.zero_experts : 0);
  if (m.experts_per_token < 1 || m.experts_per_token > most)
    checks.error(
        ProblemCode::ExpertsPerTokenOutOfRange, "experts_per_token",
        "a token cannot select " + grouped(m.experts_per_token) + " of " + grouped(most) + " experts",
        "1 to " + grouped(most),
        {set_to("experts_per_token", std::clamp<int64_t>(m.experts_per_token, 1, most))});
  if (m.expert_ffn < 1)
    checks.error(ProblemCode::ExpertFfnMissing, "expert_ffn", "the inner width of experts is 0", "at least 1",
                 {set_to("expert_ffn", std::max<int64_t>(1, m.ffn))});
  if (m.layer_pattern.empty() && m.dense_layers > 0 && m.dense_layers >= m.layers &&
      checks.in_range({"layers", "dense_layers"}))
    checks.note(ProblemCode::AllLayersDense, "dense_layers",
                "all " + grouped(m.layers) + " layers are dense: no layer has experts",
                "fewer than " + grouped(m.layers), {set_to("dense_layers", 0)});
}

// The choices of a microbatch spread evenly over all experts, and those that compute get whole tokens.
void check_zero_experts(Checks& checks) {
  const Design& d = checks.design;
  const ModelSpec& m = d.model;
  if (!uses_axis(d, Axis::AllRoutes) || m.zero_experts == 0 || m.experts == 0 ||
      !checks.in_range({"experts", "experts_per_token", "zero_experts", "microbatch", "seq"}))
    return;
  const int64_t all = m.experts + m.zero_experts,
                length = d.workload.mode == Mode::Decode ? 1 : d.workload.seq;
  int64_t rest = 1;
  for (const int64_t factor : {d.workload.microbatch, length, m.experts_per_token, m.experts})
    rest = rest * (factor % all) % all;
  if (rest == 0) return;
  checks.error(ProblemCode::ZeroExpertsIndivisible, "zero_experts",
               "the " + grouped(m.experts_per_token) + " experts of each token do not spread evenly over " +
                   grouped(m.experts) + " experts and " + grouped(m.zero_experts) +
                   " zero-computation experts",
               "sizes for which b S K X is a multiple of X + Xz", {set_to("zero_experts", 0)});
}

// The weight of a token's one expert is applied to the token before the expert (Llama 4).
void check_weighed_tokens(Checks& checks, const Architecture& architecture) {
  const int64_t chosen = checks.design.model.experts_per_token;
  if (!architecture.ops.contains("weigh_tokens") || !checks.in_range({"experts_per_token"}) || chosen <= 1)
    return;
  checks.error(ProblemCode::WeighedTokensWithSeveralExperts, "experts_per_token",
               "the " + architecture.id +
                   " architecture multiplies a token by the weight of its one expert; "
                   "the " +
                   grouped(chosen) + " experts of a token would need as many copies",
               "1", {set_to("experts_per_token", 1)});
}

void check_shared_experts(Checks& checks, const Architecture& architecture) {
  if (!architecture.uses(Axis::SharedFfn) || !checks.in_range({"shared_experts", "shared_ffn"}) ||
      checks.design.model.shared_experts > 0 || checks.design.model.shared_ffn > 0)
    return;
  checks.error(ProblemCode::SharedExpertsMissing, "shared_experts",
               "the " + architecture.id +
                   " architecture has shared experts in every layer with experts, but their number is 0",
               "1 or more, or an architecture without shared experts", {set_to("shared_experts", 1)});
}

// The groups from which a token selects its experts.
void check_expert_groups(Checks& checks) {
  const ModelSpec& m = checks.design.model;
  if (!checks.in_range({"experts", "experts_per_token", "expert_groups", "groups_per_token"}) ||
      m.experts == 0 || m.experts_per_token < 1)
    return;
  const Fix no_limit = both(set_to("expert_groups", 1), set_to("groups_per_token", 1));
  if (m.experts % m.expert_groups != 0)
    checks.error(
        ProblemCode::ExpertGroupsIndivisible, "expert_groups",
        grouped(m.experts) + " experts do not split into " + grouped(m.expert_groups) + " equal groups",
        "a divisor of " + grouped(m.experts) + ": " + or_list(divisors(m.experts)), {no_limit});
  else if (m.groups_per_token > m.expert_groups)
    checks.error(ProblemCode::GroupsPerTokenOutOfRange, "groups_per_token",
                 "a token cannot select " + grouped(m.groups_per_token) + " of " + grouped(m.expert_groups) +
                     " groups of experts",
                 "1 to " + grouped(m.expert_groups), {set_to("groups_per_token", m.expert_groups)});
  else if (const int64_t reach = m.groups_per_token * (m.experts / m.expert_groups);
           m.experts_per_token > reach && m.experts_per_token <= m.experts)
    checks.error(ProblemCode::GroupsHoldTooFewExperts, "groups_per_token",
                 "selection from " + grouped(m.groups_per_token) + " of " + grouped(m.expert_groups) +
                     " groups leaves " + grouped(reach) + " experts, fewer than the " +
                     grouped(m.experts_per_token) + " that a token selects",
                 "more groups per token, or no limit",
                 {set_to("groups_per_token", m.expert_groups), no_limit});
  else if (limits_groups(m) && m.groups_per_token > m.experts_per_token)
    checks.error(ProblemCode::GroupsExceedExpertsPerToken, "groups_per_token",
                 "a token with " + grouped(m.experts_per_token) + " experts cannot select from " +
                     grouped(m.groups_per_token) + " groups",
                 "1 to " + grouped(m.experts_per_token),
                 {set_to("groups_per_token", m.experts_per_token), no_limit});
}

// Dispatch once per node.
void check_nodes(Checks& checks) {
  const Design& d = checks.design;
  const ParallelSpec& p = d.parallel;
  if (p.dispatcher != Dispatcher::Flex || d.model.experts == 0) return;
  if (!checks.in_range({"dispatcher", "tp", "pp", "dp", "cp", "ep", "etp", "gpus_per_node", "experts",
                        "experts_per_token", "expert_groups", "groups_per_token", "zero_experts"}))
    return;
  const int64_t stage = p.dp * p.cp * p.tp;
  if (stage > kMaxWorld / p.pp || stage % (p.ep * p.expert_tp()) != 0 || d.model.experts % p.ep != 0)
    return;  // other checks report this
  const Fix by_expert = set_to("dispatcher", std::string("alltoall"));
  const int64_t nodes = ep_nodes(d), per_node = d.cluster.gpus_per_node;
  if (nodes == 0)
    checks.error(ProblemCode::EpUnevenOverNodes, "dispatcher",
                 "groups of ep = " + grouped(p.ep) + " ranks are spread unevenly over nodes of " +
                     grouped(per_node) + ", or not contiguous: no single rank per node receives a token",
                 "an ep that is a multiple of its ranks per node, or the dispatcher alltoall", {by_expert});
  else if (limits_groups(d.model) && !groups_fit_nodes(d.model, nodes))
    checks.error(ProblemCode::ExpertGroupsUnevenOverNodes, "dispatcher",
                 grouped(d.model.expert_groups) + " groups of experts are spread unevenly over " +
                     grouped(nodes) + " nodes",
                 "a multiple or a divisor of the nodes, or the dispatcher alltoall", {by_expert});
  if (uses_axis(d, Axis::AllRoutes) && d.model.zero_experts > 0)
    checks.error(ProblemCode::FlexWithZeroExperts, "dispatcher",
                 "the nodes of a token are not known with " + grouped(d.model.zero_experts) +
                     " zero-computation experts",
                 "another dispatcher, or no zero-computation experts",
                 {by_expert, set_to("zero_experts", 0)});
  // Megatron-core's flex dispatcher asserts this.
  if (d.workload.pad_to_capacity)
    checks.error(ProblemCode::FlexWithPadding, "pad_to_capacity",
                 "padded slots cannot be sent once per node: Megatron-core's flex dispatcher does not pad",
                 "off, or another dispatcher", {set_to("pad_to_capacity", std::string("false")), by_expert});
}

// Tokens that split over cp and tp before they are sent: those of a sequence, in decode the new ones of a
// microbatch.
int64_t split_tokens(const Design& d) {
  return d.workload.mode == Mode::Decode ? d.workload.microbatch : d.workload.seq;
}
bool tokens_split_over_tp(const Design& d) { return split_tokens(d) % (d.parallel.cp * d.parallel.tp) == 0; }

// Where experts share tp and tokens are gathered: ranks with the same tokens hold all experts if ep x etp is
// one tp group, or the whole stage.
bool tokens_gather_over_tp(const Design& d) {
  const ParallelSpec& p = d.parallel;
  const int64_t ranks = p.ep * p.etp;
  if (ranks == p.tp * p.dp * p.cp) return true;
  const auto first = std::find_if(p.order.fastest_first.begin(), p.order.fastest_first.end(),
                                  [&](MeshAxis a) {
                                    return (a == MeshAxis::Tp && p.tp > 1) ||
                                           (a == MeshAxis::Dp && p.dp > 1) || (a == MeshAxis::Cp && p.cp > 1);
                                  });
  return ranks == p.tp && *first == MeshAxis::Tp;
}

// Whether tokens reach experts that share tp, with this dispatcher.
bool tokens_reach_experts(const Design& d) {
  switch (d.parallel.dispatcher) {
    case Dispatcher::AllToAll:
    case Dispatcher::Flex: return tokens_split_over_tp(d);
    case Dispatcher::AllGather: return tokens_gather_over_tp(d);
    case Dispatcher::AllToAllSeq: return false;
  }
  return false;
}

// Fixes that also use the ranks of tp for experts: whole experts (etp 1).
std::vector<Fix> folding_fixes(const Checks& checks) {
  const Design& d = checks.design;
  const ParallelSpec& p = d.parallel;
  if (p.folds_experts() || p.tp == 1 || p.dp * p.cp * p.tp % p.ep != 0 || d.model.experts % p.ep != 0)
    return {};
  const std::pair<Dispatcher, const char*> dispatchers[] = {
      {p.dispatcher, nullptr}, {Dispatcher::AllToAll, "alltoall"}, {Dispatcher::AllGather, "allgather"}};
  Design folded = d;
  folded.parallel.etp = 1;
  for (const auto& [dispatcher, name] : dispatchers) {
    folded.parallel.dispatcher = dispatcher;
    if (dispatcher == Dispatcher::AllToAllSeq || dispatcher == Dispatcher::Flex) continue;
    Fix fix = set_to("etp", 1);
    if (name) fix = both(std::move(fix), set_to("dispatcher", std::string(name)));
    if (experts_share_tp(folded) ? !tokens_reach_experts(folded) : !tokens_split_over_tp(d)) continue;
    if (trains(d) && !p.sequence_parallel)
      fix = both(std::move(fix), set_to("sequence_parallel", std::string("true")));
    return {fix};
  }
  // In decode, tp splits the sequences of a microbatch, which can be larger.
  std::vector<Fix> sizes;
  const int64_t parts = p.cp * p.tp;
  if (d.workload.mode == Mode::Decode && p.dispatcher == Dispatcher::AllToAll)
    offer_microbatch(sizes, checks, (d.workload.microbatch / parts + 1) * parts);
  return sizes.empty() ? sizes : std::vector<Fix>{both(set_to("etp", 1), std::move(sizes.front()))};
}

// Where tokens are gathered, an even split leaves each rank b K etp / tp choices per token of a sequence,
// which may be a fraction. The weights of the choices, which some code bases apply to the inputs of experts,
// have the data type of activations and need whole bytes.
void check_gathered_weights(Checks& checks) {
  constexpr int64_t kBitsPerByte = 8;
  const Design& d = checks.design;
  const KernelProfile* profile = ModelLibrary::instance().profile(d.workload.profile);
  if (d.parallel.dispatcher != Dispatcher::AllGather || !profile || !profile->weighs_activations ||
      !checks.in_range({"experts_per_token"}))
    return;
  const int64_t length = d.workload.mode == Mode::Decode
                             ? 1
                             : std::max<int64_t>(1, d.workload.seq / d.parallel.cp),
                tp = d.parallel.tp;
  int64_t rest = element_format(d.workload.dtype).bits / kBitsPerByte % tp;
  for (const int64_t factor : {d.workload.microbatch, length, d.model.experts_per_token, d.parallel.etp})
    rest = rest * (factor % tp) % tp;
  if (rest == 0) return;
  std::vector<Fix> fixes;
  offer_microbatch(fixes, checks, (d.workload.microbatch / tp + 1) * tp);
  checks.error(ProblemCode::ExpertTokensIndivisibleByTp, "microbatch",
               "the choices of experts leave a fraction of a weight on each of tp = " + grouped(tp) +
                   " ranks, and the kernel profile " + profile->id + " weighs the inputs of experts",
               "a multiple of " + grouped(tp) + ", or another kernel profile", std::move(fixes));
}

// Experts that share tp: how their tokens reach them.
void check_shared_tp(Checks& checks) {
  const Design& d = checks.design;
  const ParallelSpec& p = d.parallel;
  if (!experts_share_tp(d) || p.dispatcher == Dispatcher::AllToAllSeq ||
      !checks.in_range({"ep", "etp", "tp", "dp", "cp", "pp", "experts", "seq", "microbatch", "dispatcher"}))
    return;
  const int64_t stage = p.dp * p.cp * p.tp;
  if (stage > kMaxWorld / p.pp || stage % (p.ep * p.etp) != 0 || d.model.experts % p.ep != 0) return;
  if (tokens_reach_experts(d)) return check_gathered_weights(checks);
  std::vector<Fix> fixes;
  if (p.dispatcher == Dispatcher::AllGather) {
    for (const int64_t ranks : {p.tp, stage}) {
      Design other = d;
      other.parallel.ep = ranks / p.etp;
      if (ranks % p.etp == 0 && d.model.experts % other.parallel.ep == 0 && tokens_gather_over_tp(other))
        offer(fixes, "ep", other.parallel.ep);
    }
    if (tokens_split_over_tp(d)) fixes.push_back(set_to("dispatcher", std::string("alltoall")));
    fixes.push_back(both(set_to("ep", 1), set_to("etp", 0)));
    checks.error(ProblemCode::ExpertsUnevenOverTp, "ep",
                 "tokens are gathered for experts on ep x etp = " + grouped(p.ep * p.etp) +
                     " ranks, which are neither one tensor-parallel group of adjacent ranks nor all " +
                     grouped(stage) + " ranks of a stage",
                 "ep x etp of " + grouped(p.tp) + " or " + grouped(stage) + ", or the dispatcher alltoall",
                 std::move(fixes));
    return;
  }
  const bool decodes = d.workload.mode == Mode::Decode;
  if (!decodes && p.cp > 1) return;  // check_context.cpp reports this
  if (tokens_gather_over_tp(d)) fixes.push_back(set_to("dispatcher", std::string("allgather")));
  const int64_t parts = p.cp * p.tp, tokens = split_tokens(d);
  if (decodes)
    offer_microbatch(fixes, checks, (tokens / parts + 1) * parts);
  else
    offer(fixes, "seq", tokens >= parts ? tokens / parts * parts : parts);
  checks.error(ProblemCode::ExpertTokensIndivisibleByTp, decodes ? "microbatch" : "seq",
               "each tensor-parallel rank sends its part of the tokens to the experts, but " +
                   grouped(tokens) + (decodes ? " new" : "") + " tokens do not split over " +
                   (p.cp > 1 ? "cp x tp = " : "tp = ") + grouped(parts),
               "a multiple of " + grouped(parts) + ", or the dispatcher allgather", std::move(fixes));
}

void check_mesh(Checks& checks) {
  const Design& d = checks.design;
  const ParallelSpec& p = d.parallel;
  if (!checks.in_range({"ep", "etp", "tp", "dp", "cp", "experts", "expert_ffn"}) || d.model.experts == 0)
    return;
  if (d.model.experts % p.ep != 0) {
    std::vector<Fix> fixes;
    for (int64_t ep : divisors(d.model.experts))
      if (ep < p.ep && (p.dp * p.cp * p.tp) % (ep * p.expert_tp()) == 0) fixes = {set_to("ep", ep)};
    checks.error(ProblemCode::ExpertsIndivisibleByEp, "ep",
                 grouped(d.model.experts) + " experts do not split over ep = " + grouped(p.ep),
                 "a divisor of " + grouped(d.model.experts) + ": " + or_list(divisors(d.model.experts)),
                 std::move(fixes));
  }
  const int64_t covered = p.dp * p.cp * (p.folds_experts() ? p.tp : 1),
                wanted = p.ep * (p.folds_experts() ? p.etp : 1);
  const std::string over = p.folds_experts() ? "dp x cp x tp" : "dp x cp";
  if (covered % wanted != 0) {
    std::vector<Fix> fixes;
    for (int64_t ep : divisors(covered))
      if (ep < p.ep && d.model.experts % ep == 0 && covered % (ep * (p.folds_experts() ? p.etp : 1)) == 0)
        fixes = {set_to("ep", ep)};
    if (fixes.empty()) fixes.push_back(both(set_to("ep", 1), set_to("etp", 0)));
    std::vector<Fix> folding;
    if (checks.in_range({"seq", "batch", "microbatch", "dispatcher"})) folding = folding_fixes(checks);
    std::string accepted = "a divisor of " + grouped(covered) + ": " + or_list(divisors(covered));
    if (!folding.empty())
      accepted += "; with etp = 1, experts use all dp x cp x tp = " + grouped(covered * p.tp) + " ranks";
    // Engines that serve spread experts over tp, too (docs/models/inference.md). Training code rarely does.
    fixes.insert(trains(d) ? fixes.end() : fixes.begin(), folding.begin(), folding.end());
    checks.error(ProblemCode::EpIndivisibleRanks, "ep",
                 std::string(p.folds_experts() ? "ep x etp = " : "ep = ") + grouped(wanted) +
                     " ranks do not divide " + over + " = " + grouped(covered),
                 accepted, std::move(fixes));
  }
  if (d.model.expert_ffn % p.expert_tp() != 0)
    checks.error(ProblemCode::ExpertFfnIndivisible, p.etp > 0 ? "etp" : "tp",
                 "an expert FFN size of " + grouped(d.model.expert_ffn) + " does not split over " +
                     grouped(p.expert_tp()),
                 "a divisor of " + grouped(d.model.expert_ffn), {set_to("etp", 1)});
  const int64_t shared = d.model.shared_width();
  if (shared % p.tp != 0)
    checks.error(ProblemCode::SharedExpertsIndivisibleByTp, "tp",
                 "shared experts of width " + grouped(shared) + " do not split over tp = " + grouped(p.tp),
                 "a divisor of " + grouped(shared), {set_to("tp", 1)});
}

// Megatron-core supports biases of experts only with etp = 1 (transformer_config.py). OpenAI's own code
// splits them, and this program does, too.
void check_expert_bias(Checks& checks) {
  const ParallelSpec& p = checks.design.parallel;
  if (!checks.in_range({"etp", "tp"}) || p.expert_tp() == 1) return;
  Fix whole = set_to("etp", 1);
  if (p.tp > 1 && !p.sequence_parallel)
    whole = both(std::move(whole), set_to("sequence_parallel", std::string("true")));
  if (p.dispatcher == Dispatcher::AllToAllSeq)
    whole = both(std::move(whole), set_to("dispatcher", std::string("alltoall")));
  checks.note(ProblemCode::ExpertBiasSplit, "etp",
              "experts with biases that are split over " + grouped(p.expert_tp()) +
                  " ranks need an all-reduce of all slots before the last bias; Megatron-core refuses them",
              "1", {std::move(whole)});
}

// Whether routed experts compute in a width: the second dimension of their first weights.
bool sends_width(const Architecture& architecture, Axis width) {
  const ModelLibrary& library = ModelLibrary::instance();
  const auto sends = [&](const OpLine& line) {
    const BlockTemplate* block = library.block(line.callee);
    return block && std::any_of(block->params.begin(), block->params.end(), [&](const BlockParam& param) {
             return param.axes.size() == 3 && param.axes[0] == Axis::Experts && param.axes[1] == width;
           });
  };
  return std::any_of(architecture.kinds.begin(), architecture.kinds.end(), [&](const SectionTemplate& kind) {
    return std::any_of(kind.lines.begin(), kind.lines.end(), sends);
  });
}

// The width of the tokens that are sent to experts.
void check_sent_width(Checks& checks, const char* id, int64_t width) {
  const Design& d = checks.design;
  const ParallelSpec& p = d.parallel;
  const bool by_hidden = p.dispatcher == Dispatcher::AllToAllSeq;
  const std::string name = std::string(id) == "hidden" ? "hidden size" : "latent width";
  const int64_t sent = width / (by_hidden ? p.tp : 1);
  if (d.workload.dispatch_dtype == DispatchPrecision::FP8 && p.ep > 1 &&
      sent % quantization_block(DType::FP8Block) != 0)
    checks.error(ProblemCode::DispatchBlocksIndivisible, "dispatch_dtype",
                 "dispatched tokens of " + grouped(sent) + " numbers do not split into blocks of " +
                     grouped(quantization_block(DType::FP8Block)) + " with one scale each",
                 "a " + name + " that is a multiple of the block, or same",
                 {set_to("dispatch_dtype", std::string("same"))});
  if (by_hidden && !p.folds_experts() && width % p.tp != 0)
    checks.error(
        ProblemCode::AllToAllSeqHiddenIndivisible, "dispatcher",
        "alltoall_seq cannot split a " + name + " of " + grouped(width) + " over tp = " + grouped(p.tp),
        "a tp that divides the " + name + ", or another dispatcher",
        {set_to("dispatcher", std::string("alltoall"))});
}

void check_dispatcher(Checks& checks) {
  const Design& d = checks.design;
  const ParallelSpec& p = d.parallel;
  if (!checks.in_range({"dispatcher", "tp", "etp", "hidden"}) || d.model.experts == 0) return;
  if (trains(d) && p.folds_experts() && p.tp > 1 && !p.sequence_parallel)
    checks.error(ProblemCode::EtpWithoutSequenceParallel, "etp",
                 "an expert tensor parallelism other than tp needs tokens that are split over tp",
                 "sequence parallelism, or 0",
                 {set_to("sequence_parallel", std::string("true")), set_to("etp", 0)});
  for (const auto& [axis, id, width] : {std::tuple{Axis::Hidden, "hidden", d.model.hidden},
                                        {Axis::LatentWidth, "latent_ffn", d.model.latent_ffn}})
    if (sends_width(*ModelLibrary::instance().architecture(d.model.architecture), axis) &&
        checks.in_range({id}))
      check_sent_width(checks, id, width);
  if (p.dispatcher == Dispatcher::AllToAllSeq && p.folds_experts())
    checks.error(ProblemCode::AllToAllSeqWithEtp, "dispatcher",
                 "alltoall_seq splits tokens over tp along hidden, so experts must be split over tp, too",
                 "etp 0, or another dispatcher",
                 {set_to("dispatcher", std::string("alltoall")), set_to("etp", 0)});
}

void check_capacity(Checks& checks) {
  const WorkloadSpec& w = checks.design.workload;
  if (!checks.in_range({"capacity_factor"}) || !w.pad_to_capacity || w.capacity_factor > 0) return;
  checks.error(
      ProblemCode::PaddingWithoutCapacity, "pad_to_capacity", "padding to capacity needs a capacity factor",
      "a capacity factor above 0, or off",
      {set_to("capacity_factor", std::string("1")), set_to("pad_to_capacity", std::string("false"))});
}

// A captured kernel has fixed sizes. Without padding, the host reads the numbers of tokens of each expert
// from the device before it launches the exchange and the GEMMs (Megatron-core, token_dispatcher.py).
// HybridEP, the backend of flex, keeps them on the device.
void check_captured_experts(Checks& checks) {
  const Design& d = checks.design;
  const WorkloadSpec& w = d.workload;
  const bool whole = w.cuda_graphs == CudaGraphs::Layer || w.cuda_graphs == CudaGraphs::Iteration;
  if (!trains(d) || !whole || d.parallel.dispatcher == Dispatcher::Flex ||
      (w.pad_to_capacity && w.capacity_factor > 0))
    return;
  checks.error(ProblemCode::CapturedTokensUnknown, "cuda_graphs",
               "CUDA graphs of whole layers need experts that are padded to a capacity, because the host "
               "must not read the numbers of tokens",
               "pad_to_capacity with a capacity factor above 0, the dispatcher flex, or attention-router",
               {set_to("cuda_graphs", std::string("attention-router"))});
}

void check_kernels(Checks& checks) {
  const KernelProfile* profile = ModelLibrary::instance().profile(checks.design.workload.profile);
  if (!profile || profile->rule("dispatch")) return;
  checks.error(ProblemCode::ProfileWithoutExperts, "profile",
               "the kernel profile " + profile->id + " has no kernels for mixture of experts",
               "a profile with a rule for dispatch, such as flash",
               {set_to("profile", std::string("flash"))});
}

}  // namespace

void check_experts(Checks& checks) {
  const Architecture* architecture = ModelLibrary::instance().architecture(checks.design.model.architecture);
  if (!architecture) return;
  if (!architecture->uses(Axis::Experts)) return check_dense_model(checks, architecture->id);
  check_routing(checks, architecture->id);
  check_zero_experts(checks);
  check_weighed_tokens(checks, *architecture);
  check_shared_experts(checks, *architecture);
  check_expert_groups(checks);
  check_mesh(checks);
  if (calls_block(*architecture, has_expert_bias)) check_expert_bias(checks);
  check_dispatcher(checks);
  check_shared_tp(checks);
  check_nodes(checks);
  check_capacity(checks);
  check_captured_experts(checks);
  check_kernels(checks);
}

}  // namespace shardscape
