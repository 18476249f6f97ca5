#include "graph/build.h"

#include <map>
#include <mutex>

#include "graph/segment_builder.h"

namespace shardscape {

Structure structure_of(const Design& design) {
  Structure s;
  s.architecture = design.model.architecture;
  s.profile = design.workload.profile;
  s.dp = design.parallel.dp > 1;
  s.cp = design.parallel.cp > 1;
  s.ulysses = s.cp && ulysses_ranks(design) > 1;
  s.ring = s.cp && ring_ranks(design) > 1;
  s.zigzag = s.ring && (design.parallel.context == ContextMode::Zigzag || design.parallel.context == ContextMode::UlyssesZigzag);
  s.tp = design.parallel.tp > 1;
  s.sequence_parallel = s.tp && design.parallel.sequence_parallel;
  s.kv_split = s.tp && design.model.kv_heads < design.parallel.tp;
  s.grouped = design.model.kv_heads < design.model.heads;
  s.pp = design.parallel.pp > 1;
  s.interleaved = design.parallel.virtual_stages > 1;
  s.scatter_gather = s.pp && s.tp && !s.sequence_parallel && design.parallel.scatter_gather_pipeline;
  s.tied = design.model.tied_embeddings;
  s.dropout = design.workload.dropout;
  s.window = design.model.window > 0;
  s.many_microbatch = design.workload.microbatch > 1;
  s.dtype = design.workload.dtype;
  s.grad_dtype = design.workload.grad_dtype;
  s.recompute = design.workload.recompute;
  s.gathered_logits = s.tp && design.workload.gathered_logits;
  s.split_checkpoints = s.recompute == Recompute::Full && design.workload.distribute_saved_activations && s.tp && !s.sequence_parallel;
  if (s.dp || s.cp) s.sync = design.parallel.sync;
  const bool megatron = s.sync == SyncStrategy::DdpFlat || s.sync == SyncStrategy::DistributedOptimizer;
  s.overlap = (s.dp || s.cp) && megatron && design.parallel.overlap_grad_reduce;
  if (s.sync == SyncStrategy::Fsdp1) s.accumulates = design.workload.batch > design.workload.microbatch * design.parallel.dp;
  return s;
}

namespace {

Segment build_segment(const Structure& structure, const KernelProfile& profile, const ModelLibrary& library,
                      const SectionTemplate& section, SegmentKind kind) {
  SegmentBuilder builder(structure, profile);
  builder.segment().kind = kind;
  assemble_section(builder, section, library);
  differentiate(builder);
  recompute(builder);
  finish_segment(builder);
  return std::move(builder.segment());
}

Problem missing(const std::string& where, const std::string& what) {
  Problem p;
  p.where = where;
  p.what = what;
  p.accepted = "the id of a file under models/";
  return p;
}

}  // namespace

std::variant<std::shared_ptr<const Graph>, Problem> build_graph(const Structure& structure, const ModelLibrary& library) {
  const Architecture* architecture = library.architecture(structure.architecture);
  if (!architecture) return missing("architecture", "there is no architecture \"" + structure.architecture + "\"");
  const KernelProfile* profile = library.profile(structure.profile);
  if (!profile) return missing("profile", "there is no kernel profile \"" + structure.profile + "\"");
  auto graph = std::make_shared<Graph>();
  graph->structure = structure;
  graph->layer_pattern = architecture->pattern;
  try {
    graph->segments.push_back(build_segment(structure, *profile, library, architecture->embedding, SegmentKind::Embedding));
    for (const SectionTemplate& kind : architecture->kinds)
      graph->segments.push_back(build_segment(structure, *profile, library, kind, SegmentKind::Layer));
    graph->segments.push_back(build_segment(structure, *profile, library, architecture->head, SegmentKind::Head));
  } catch (const GraphError& error) {
    return error.problem;
  }
  return std::shared_ptr<const Graph>(std::move(graph));
}

std::variant<std::shared_ptr<const Graph>, Problem> cached_graph(const Structure& structure) {
  constexpr size_t kKept = 64;
  static std::mutex mutex;
  static std::map<Structure, std::shared_ptr<const Graph>> graphs;
  {
    const std::scoped_lock lock(mutex);
    if (const auto it = graphs.find(structure); it != graphs.end()) return it->second;
  }
  auto built = build_graph(structure, ModelLibrary::instance());
  if (auto* graph = std::get_if<std::shared_ptr<const Graph>>(&built)) {
    const std::scoped_lock lock(mutex);
    if (graphs.size() >= kKept) graphs.clear();
    graphs.emplace(structure, *graph);
  }
  return built;
}

}  // namespace shardscape
