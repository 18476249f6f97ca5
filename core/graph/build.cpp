#include "graph/build.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <variant>

#include "design/expert_nodes.h"
#include "design/layer_sizes.h"
#include "design/validate/checks.h"
#include "design/validate/validate.h"
#include "design/vision.h"
#include "graph/draft_module.h"
#include "graph/segment_builder.h"
#include "graph/structure_fields.h"
#include "model/model_sizes.h"
#include "model/parallel_loop.h"

namespace shardscape {

namespace {

void set_sync(const Design& design, Structure& s) {
  const ParallelSpec& p = design.parallel;
  s.clip_grad_norm = p.clip_grad_norm;
  if (!s.dp && !s.cp) return;
  s.sync = p.sync;
  s.average_loss = p.average_loss;
  const bool accumulates = design.workload.batch > design.workload.microbatch * p.dp;
  const bool fsdp = is_fsdp(s.sync), megatron = is_megatron(s.sync);
  s.overlap = megatron && p.overlap_grad_reduce;
  // Megatron-FSDP always adds reduced gradients to its shards (param_and_grad_buffer.py,
  // is_grad_buffer_distributed).
  const bool megatron_fsdp = s.sync == SyncStrategy::MegatronFsdp;
  s.every_microbatch = accumulates && (megatron_fsdp || (p.reduce_every_microbatch &&
                                                         (fsdp || s.sync == SyncStrategy::DdpBuckets)));
  s.reshards = !fsdp || p.reshard_after_forward;
  s.whole_until_reduced = s.sync == SyncStrategy::Fsdp2 && p.pp > 1 && !s.every_microbatch;
  s.stays_after_backward = s.whole_until_reduced ||
                           (((s.sync == SyncStrategy::Fsdp2 && accumulates) || megatron_fsdp) &&
                            !p.reshard_after_backward);
  s.accumulates = ((accumulates && fsdp) || s.whole_until_reduced) && !s.every_microbatch;
  s.hybrid = shards_in_groups(s.sync) && s.dp && p.dp_shard > 0 && p.dp_shard < p.dp;
  s.edp_shards = s.hybrid && s.edp && p.edp() > p.dp / p.dp_shard;
}

bool splits_by_kv_heads(const Structure& s, const ModelSpec& model, int64_t tp) {
  return s.tp && model.kv_heads > 0 && model.kv_heads < tp;
}

// The position of the split in kKvSplits plus 1. Validation refuses more numbers of KV heads than splits.
int own_kv_split(const Structure& s, const Design& design, const ModelSpec& model) {
  const std::vector<int64_t> own = own_kv_splits(design);
  const auto at = std::find(own.begin(), own.end(), model.kv_heads) - own.begin() + 1;
  return at < std::ssize(kKvSplits) ? static_cast<int>(at) + 1 : s.kv_split;
}

void set_layers(const Design& design, Structure& s) {
  const ModelLayers layers = layers_of(design);
  if (!has_own_layers(design.model) && layers.blocks.empty() && layers.carried.empty()) return;
  s.pattern = layers.pattern;
  s.lead_kind = layers.lead;
  for (const LayerVariant& kind : layers.kinds) {
    const ModelSpec model = layer_model(design.model, kind);
    LayerStructure& layer = s.layers.emplace_back(LayerStructure{kind.name, kind.kind, {}});
    for (const auto& [row, value] : kind.sizes) layer.sizes.push_back(row);
    layer.window = model.window > 0;
    layer.chunk = model.attention_chunk > 0;
    if (!s.trains()) layer.formats = model.weight_formats;
    layer.q_compressed = model.q_rank > 0;
    layer.grouped = model.kv_heads < model.heads;
    layer.local_experts = model.experts > design.parallel.ep;
    if (splits_by_kv_heads(s, model, design.parallel.tp))
      layer.kv_split = kind.sizes.contains(size_row(&ModelSpec::kv_heads)) ? own_kv_split(s, design, model)
                                                                           : s.kv_split;
    layer.one_kv_head = layer.kv_split > 0 && model.kv_heads == 1;
    if (!layers.carried.empty()) layer.carried = layers.carried[s.layers.size() - 1];
    if (layers.blocks.empty()) continue;
    const EnteringBlocks& blocks = layers.blocks[s.layers.size() - 1];
    layer.vectors = blocks.vectors;
    layer.holds_vectors = blocks.received;
  }
  s.carried = layers.embedding;
  if (layers.blocks.empty()) return;
  s.vectors = final_vectors(design.model);
  s.holds_vectors = layers_per_virtual_stage(design).back() == 0;
}

// How experts are split, and how their tokens are exchanged.
void set_experts(const Design& design, Structure& s) {
  const ParallelSpec& p = design.parallel;
  s.folded = p.folds_experts();
  s.ep = p.ep > 1;
  s.edp = p.edp() > 1;
  s.etp = s.folded && p.etp > 1;
  s.local_experts = design.model.experts > p.ep;
  s.derived_slots = slots_are_derived(design);
  s.padded_slots = s.derived_slots && design.workload.pad_to_capacity && design.workload.capacity_factor > 0;
  s.fp8_dispatch = s.ep && design.workload.dispatch_dtype == DispatchPrecision::FP8;
  s.dispatcher = p.dispatcher;
  // On a single node, one all-to-all does the whole exchange.
  s.ep_nodes = sends_by_node(design);
  s.ep_local = s.ep_nodes && ep_ranks_per_node(design) > 1;
  if (p.dispatcher == Dispatcher::Flex && !s.ep_nodes) s.dispatcher = Dispatcher::AllToAll;
}

// s.tp and s.sequence_parallel are set.
void set_lora(const Design& design, Structure& s) {
  const WorkloadSpec& w = design.workload;
  s.lora_modules = w.lora_modules;
  s.lora_dropout = w.lora_dropout;
  s.lora_packed = w.lora_packed;
  s.frozen_dtype = frozen_weights(design);
}

void set_recompute(const Design& design, Structure& s) {
  s.recompute = design.workload.recompute;
  if (s.recompute == Recompute::Selective) s.recompute_modules = design.workload.recompute_modules;
  // Megatron-core checkpoints a whole layer of experts, shared experts included.
  if (s.recompute_modules.has(RecomputeModule::Moe)) s.recompute_modules.add(RecomputeModule::SharedExperts);
  const bool block = design.workload.recompute_method == RecomputeMethod::Block;
  s.recompute_block = s.recompute == Recompute::Full && block;
  s.recompute_groups = s.recompute == Recompute::Full && !block && design.workload.recompute_num_layers > 1;
  s.split_checkpoints = s.recompute == Recompute::Full && design.workload.distribute_saved_activations &&
                        s.tp && !s.sequence_parallel;
}

}  // namespace

std::string kernel_profile(const Design& design) {
  const std::string& chosen = design.workload.profile;
  return !trains(design) && chosen == WorkloadSpec{}.profile ? "vllm" : chosen;
}

Structure structure_of(const Design& given) {
  const Design design = effective_design(given);
  Structure s;
  s.mode = design.workload.mode;
  if (!s.trains())
    s.cache_dtype = is_quantized(design.workload.kv_cache_dtype) ? design.workload.kv_cache_dtype
                                                                 : design.workload.dtype;
  if (!s.trains()) s.state_dtype = design.workload.ssm_state_dtype;
  s.cached_tokens = design.workload.cached_tokens > 0;
  s.draft_module = design.workload.draft_module;
  s.architecture = design.model.architecture;
  s.profile = kernel_profile(design);
  s.library = ModelLibrary::instance().content();
  s.dp = design.parallel.dp > 1;
  s.cp = design.parallel.cp > 1;
  s.cp_sequences = cp_splits_sequences(design);
  s.dcp = design.parallel.dcp > 1 && uses_axis(design, Axis::Heads);
  s.dcp_groups = s.dcp && design.parallel.dcp < design.parallel.tp;
  s.ulysses = s.cp && ulysses_ranks(design) > 1;
  s.ring = s.cp && ring_ranks(design) > 1;
  s.zigzag = s.ring && (design.parallel.context == ContextMode::Zigzag ||
                        design.parallel.context == ContextMode::UlyssesZigzag);
  s.tp = design.parallel.tp > 1;
  s.ssm_free_heads = has_free_ssm_heads(design);
  s.ssm_heads = s.cp && s.mode != Mode::Decode && uses_axis(design, Axis::SsmGroups) &&
                design.model.ssm_groups == design.parallel.tp;
  s.ssm_shared = s.cp && ranks_per_mixer_group(design) > 1;
  s.sequence_parallel = s.tp && design.parallel.sequence_parallel;
  s.kv_split = splits_by_kv_heads(s, design.model, design.parallel.tp) ? 1 : 0;
  s.one_kv_head = s.kv_split > 0 && design.model.kv_heads == 1;
  s.grouped = design.model.kv_heads < design.model.heads;
  if (design.model.experts > 0) set_experts(design, s);
  s.pp = design.parallel.pp > 1;
  s.interleaved = pipeline_layout(design.parallel).chunks > 1;
  s.split_backward = splits_backward(schedule_of(design.parallel));
  s.layout = pipeline_layout(design.parallel).layout;
  s.scatter_gather = s.pp && s.tp && !s.sequence_parallel && design.parallel.scatter_gather_pipeline;
  s.tied = design.model.tied_embeddings;
  s.dropout = design.workload.dropout;
  s.packed = packs_documents(design);
  s.window = design.model.window > 0;
  s.chunk = design.model.attention_chunk > 0;
  s.q_compressed = design.model.q_rank > 0;
  if (!s.trains()) s.formats = design.model.weight_formats;
  if (!s.draft_module) set_layers(design, s);
  s.lora = s.trains() && design.workload.lora_rank > 0;
  if (s.lora) set_lora(design, s);
  s.images = runs_tower(design);
  s.frozen_tower = s.images && s.trains() &&
                   (s.lora || design.workload.vision_training == VisionTraining::Frozen);
  s.tower_data = has_tower(design) && (s.tp || s.cp) &&
                 design.workload.vision_parallel == VisionParallel::Data;
  s.vision_stage = has_vision_stage(design);
  s.vision_recompute = s.images && s.trains() && !s.frozen_tower && design.workload.vision_recompute;
  s.mtp_layers = design.model.mtp_layers;
  s.many_microbatch = design.workload.microbatch > 1;
  s.dtype = design.workload.dtype;
  s.grad_dtype = design.workload.grad_dtype;
  s.compute = compute_dtype(design.workload);
  s.transposed_weights = design.workload.transposed_weights || s.compute != DType::FP8;
  s.muon = s.trains() && design.workload.optimizer == OptimizerKind::Muon && no_muon(design).empty();
  s.moment_dtype = design.workload.moment_dtype;
  s.master_weights = design.workload.master_weights || dtype_bytes(s.dtype) == 4;
  set_recompute(design, s);
  s.fp8_activations = s.trains() && s.recompute != Recompute::Full &&
                      design.workload.activation_cache == ActivationCache::FP8;
  s.fp8_inputs = s.trains() && s.recompute != Recompute::Full &&
                 design.workload.activation_cache == ActivationCache::FP8Inputs;
  s.fp8_attention = runs_fp8_attention(design);
  s.offload_optimizer = design.workload.offload_optimizer && design.workload.optimizer_offload_fraction > 0;
  s.offload_part = s.offload_optimizer && design.workload.optimizer_offload_fraction < 1000;
  s.offload_activations = design.workload.offload_activations > 0;
  s.gathered_logits = s.tp && design.workload.gathered_logits;
  const KernelProfile* profile = ModelLibrary::instance().profile(s.profile);
  s.separate_weight_gradients = s.trains() && !design.workload.gradient_accumulation_fusion && profile &&
                                profile->fuses_weight_gradients();
  set_sync(design, s);
  s.fp8_params = s.trains() && is_quantized(s.compute) && is_megatron(s.sync) && design.workload.fp8_params;
  return s;
}

namespace {

// The passes after the forward is assembled and placed. trains: there is a backward.
Segment finish_segment(SegmentBuilder& builder, bool trains) {
  if (trains) {
    differentiate(builder);
    recompute(builder);
    cache_activations(builder);
  } else {
    builder.segment().backward_begin = builder.segment().replay_end = static_cast<OpId>(
        builder.segment().ops.size());
  }
  simplify(builder);
  hoist_concurrent(builder);
  count_flops_and_bytes(builder);
  fuse(builder);
  find_lifetimes(builder);
  return std::move(builder.segment());
}

Segment build_segment(const Structure& structure, const KernelProfile& profile,
                      const Architecture& architecture, const ModelLibrary& library,
                      const SectionTemplate& section, SegmentKind kind,
                      const LayerStructure* layer = nullptr) {
  SegmentBuilder builder(structure, profile, scope_of(structure, layer), kind, architecture.stream);
  assemble_section(builder, section, kind == SegmentKind::Head ? architecture.mtp : SectionTemplate{},
                   architecture.carries, library);
  if (kind == SegmentKind::Layer)
    for (BlockInstance& block : builder.segment().blocks)
      block.concurrent = architecture.concurrent.contains(block.name);
  try {
    return finish_segment(builder, structure.trains());
  } catch (const OpSizeError& error) {
    throw GraphError{{ProblemCode::OpAxes, place_text(place_of_op(section, library, error.op)),
                      "the work of \"" + error.op + "\" has no formula: " + error.what,
                      "operands whose sequence and heads are not joined sizes"}};
  }
}

// Drops everything but parameters and buffers: a tower that no pass runs.
void keep_parameters(Segment& s) {
  Segment out;
  out.name = s.name;
  out.kind = s.kind;
  out.scope = s.scope;
  const auto keep = [&](TensorId& id) {
    Tensor t = s.tensor(id);
    id = static_cast<TensorId>(out.tensors.size());
    out.storages.push_back(s.storages[static_cast<size_t>(t.storage)]);
    t.storage = id;
    out.tensors.push_back(std::move(t));
  };
  for (Param& param : s.params) keep(param.tensor);
  for (Buffer& buffer : s.buffers) keep(buffer.tensor);
  out.params = std::move(s.params);
  out.buffers = std::move(s.buffers);
  s = std::move(out);
}

// A part of the vision tower. Throws GraphError.
Segment build_tower(const Structure& whole, const KernelProfile& profile, const Architecture& architecture,
                    const ModelLibrary& library, const SectionTemplate& part) {
  const TowerTemplate& tower = architecture.tower;
  const bool layer = &part == &tower.layer;
  Structure structure = structure_of_tower(whole);
  if (layer && structure.vision_recompute) structure.recompute = Recompute::Full;
  SegmentBuilder builder(structure, profile, tower_scope(tower, &part != &tower.projector),
                         SegmentKind::Tower);
  assemble_tower(builder, architecture, part, library);
  if (!structure.images) keep_parameters(builder.segment());
  Segment out = finish_segment(builder, structure.trains() && structure.images && !structure.frozen_tower);
  if (layer) out.copies = Expr(Symbol::intern("L_vision"));
  return out;
}

// Clears keys that only one parameter has, because they tie nothing.
void untie_single(std::vector<Segment>& segments) {
  std::map<std::string, int> uses;
  for (const Segment& s : segments)
    for (const Param& p : s.params) ++uses[p.tied];
  for (Segment& s : segments)
    for (Param& p : s.params)
      if (uses[p.tied] == 1) p.tied.clear();
}

Problem missing(ProblemCode code, const std::string& where, const std::string& what) {
  return {code, where, what, "the id of a file under models/"};
}

// The line that adds a result of the projector to the result of the last line.
OpLine adding(const CarriedTensor& tensor, const OpLine& last) {
  OpLine out = last;
  out.output = "with_" + tensor.name;
  out.callee = template_name(OpKind::AddTokens);
  out.spec = "bsd,vmd->bsd";
  out.args = {last.output, tensor.name};
  out.options.clear();
  out.conditions.clear();
  return out;
}

// Throws GraphError.
SectionTemplate section_of(const Architecture& architecture, const LayerStructure& layer) {
  if (const SectionTemplate* kind = section_of(architecture, layer.kind)) {
    SectionTemplate out{layer.name, kind->lines};
    for (size_t i = 0; i < architecture.carries.size(); ++i)
      if (layer.carried.added >> i & 1)
        out.lines.push_back(adding(architecture.carries[i], out.lines.back()));
    return out;
  }
  throw GraphError{missing(ProblemCode::UnknownLayerKind, "variants",
                           "the " + architecture.id + " architecture has no layers \"" + layer.kind + "\"")};
}

// The layers whose sizes the modules of multi-token prediction have; nullptr: the sizes of the model.
const LayerStructure* mtp_layer(const Structure& structure, const Architecture& architecture) {
  if (structure.mtp_layers == 0 || architecture.mtp_variant.empty()) return nullptr;
  for (const std::string LayerStructure::*name : {&LayerStructure::name, &LayerStructure::kind})
    for (const LayerStructure& layer : structure.layers)
      if (layer.*name == architecture.mtp_variant) return &layer;
  return nullptr;
}

using Built = std::shared_ptr<const std::vector<Segment>>;

// Builds the segments at the same time. The first mistake of each goes to `problems`; without `problems`, the
// mistake of the earliest segment throws GraphError.
Built build_all(const std::vector<std::function<Segment()>>& segments, std::vector<Problem>* problems) {
  std::vector<std::variant<std::monostate, Segment, Problem>> made(segments.size());
  parallel_loop(segments.size(), [&](size_t i) {
    try {
      made[i] = segments[i]();
    } catch (const GraphError& error) {
      made[i] = error.problem;
    }
  });
  auto out = std::make_shared<std::vector<Segment>>();
  for (auto& one : made) {
    if (Segment* segment = std::get_if<Segment>(&one)) {
      out->push_back(std::move(*segment));
      continue;
    }
    Problem& problem = std::get<Problem>(one);
    if (!problems) throw GraphError{std::move(problem)};
    problems->push_back(std::move(problem));
  }
  untie_single(*out);
  return out;
}

// problems: see build_all().
Built build_segments(const Structure& structure, const KernelProfile& profile,
                     const Architecture& architecture, const ModelLibrary& library,
                     std::vector<Problem>* problems = nullptr) {
  std::vector<std::function<Segment()>> segments;
  const auto add = [&](const Structure& of, const SectionTemplate& section, SegmentKind kind,
                       const LayerStructure* layer = nullptr) {
    segments.push_back([&, &of = of, &section = section, kind, layer] {
      return build_segment(of, profile, architecture, library, section, kind, layer);
    });
  };
  if (structure.draft_module) {
    const DraftModule module = draft_module_of(architecture, library);
    add(structure, architecture.embedding, SegmentKind::Embedding);
    add(structure, module.layer, SegmentKind::Layer);
    add(structure, module.head, SegmentKind::Head);
    return build_all(segments, problems);
  }
  // Embedding and head name the ranks of tp alike, so that tables in both have one placement.
  const LayerStructure* own = mtp_layer(structure, architecture);
  Structure ends = own ? structure_of_layer(structure, *own) : structure;
  ends.carried = structure.carried;
  add(ends, architecture.embedding, SegmentKind::Embedding);
  if (structure.layers.empty())
    for (const SectionTemplate& kind : architecture.kinds) add(structure, kind, SegmentKind::Layer);
  for (const LayerStructure& layer : structure.layers)
    segments.push_back([&] {
      return build_segment(structure_of_layer(structure, layer), profile, architecture, library,
                           section_of(architecture, layer), SegmentKind::Layer, &layer);
    });
  add(ends, architecture.head, SegmentKind::Head, own);
  if (const TowerTemplate& tower = architecture.tower; !tower.empty())
    for (const SectionTemplate* part : {&tower.patches, &tower.layer, &tower.projector})
      segments.push_back([&, part] { return build_tower(structure, profile, architecture, library, *part); });
  return build_all(segments, problems);
}

// cache: may hold the segments already; nullptr: no cache.
Result<std::shared_ptr<const Graph>> build(const Structure& structure, const ModelLibrary& library,
                                           PlanCache* cache) {
  const Architecture* architecture = library.architecture(structure.architecture);
  if (!architecture)
    return missing(ProblemCode::UnknownArchitecture, "architecture",
                   "there is no architecture \"" + structure.architecture + "\"");
  const KernelProfile* profile = library.profile(structure.profile);
  if (!profile)
    return missing(ProblemCode::UnknownProfile, "profile",
                   "there is no kernel profile \"" + structure.profile + "\"");
  auto graph = std::make_shared<Graph>();
  graph->structure = structure;
  const bool own = !structure.layers.empty();
  const bool module = structure.draft_module;
  graph->layer_pattern = own      ? structure.pattern
                         : module ? LayerPattern{{}, {0}, {}}
                                  : LayerPattern{{}, architecture->pattern, {}};
  graph->lead_kind = own ? structure.lead_kind : module ? -1 : architecture->lead;
  // Every other member has its default, so code that builds segments cannot depend on it.
  const Structure of_segments = members_with<&StructureUses::segments>(structure);
  try {
    const auto make = [&] { return build_segments(of_segments, *profile, *architecture, library); };
    Built segments = cache ? cache->get<std::vector<Segment>>(CacheKind::Segments, key_of(of_segments), make,
                                                              bytes_of)
                           : make();
    graph->segments = Segments(std::move(segments));
    graph->tower_parts = static_cast<int>(
        std::count_if(graph->segments.begin(), graph->segments.end(),
                      [](const Segment& segment) { return segment.kind == SegmentKind::Tower; }));
  } catch (const GraphError& error) {
    return error.problem;
  }
  return std::shared_ptr<const Graph>(std::move(graph));
}

}  // namespace

Result<std::shared_ptr<const Graph>> build_graph(const Structure& structure, const ModelLibrary& library) {
  return build(structure, library, nullptr);
}

std::vector<Problem> graph_problems(const Structure& structure, const ModelLibrary& library) {
  std::vector<Problem> out;
  const Architecture* architecture = library.architecture(structure.architecture);
  const KernelProfile* profile = library.profile(structure.profile);
  if (!architecture || !profile) return out;
  build_segments(members_with<&StructureUses::segments>(structure), *profile, *architecture, library, &out);
  return out;
}

Result<std::shared_ptr<const Graph>> cached_graph(const Structure& structure, PlanCache& cache) {
  std::optional<Problem> problem;
  auto graph = cache.get<Graph>(
      CacheKind::Graph, key_of(structure),
      [&]() -> std::shared_ptr<const Graph> {
        auto built = build(structure, ModelLibrary::instance(), &cache);
        if (auto* failed = std::get_if<Problem>(&built)) {
          problem = std::move(*failed);
          return nullptr;
        }
        return std::get<0>(std::move(built));
      },
      [](const Graph&) { return sizeof(Graph); });
  if (!graph) return *problem;
  return graph;
}

CacheKey key_of(const Structure& structure) {
  CacheKey key;
  visit_fields([&](const auto&, const auto& value) { add_value(key, value); }, structure);
  return key;
}

size_t bytes_of(const std::vector<Segment>& segments) {
  // Per op and tensor, expressions included: rough estimates, which only the bound of the cache depends on.
  constexpr size_t kOp = 2000, kTensor = 800;
  size_t out = sizeof segments;
  for (const Segment& s : segments) out += s.ops.size() * kOp + s.tensors.size() * kTensor;
  return out;
}
}  // namespace shardscape
