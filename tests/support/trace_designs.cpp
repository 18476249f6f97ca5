#include "support/trace_designs.h"

#include <stdexcept>

#include "design/knobs.h"

namespace shardscape::test {

Design trace_design(const char* preset, int64_t tp, int64_t pp, int64_t dp, bool sequence_parallel, int64_t microbatches,
                    int64_t layers) {
  Design d = preset_design(preset, tp, pp, dp, sequence_parallel);
  // An unknown id would leave another model in place and prove nothing about this one.
  if (d.model.preset != preset) throw std::invalid_argument(std::string("no preset ") + preset);
  d.model.layers = layers;
  d.workload.seq = 512;
  d.workload.microbatch = 1;
  d.workload.batch = dp * microbatches;
  return d;
}

std::shared_ptr<const Report> trace_report(const Design& design) {
  auto report = make_report(design);
  if (!report || !report->valid())
    throw std::runtime_error(report && !report->problems.empty() ? to_string(report->problems.front()) : "no report");
  return report;
}

std::vector<NamedDesign> trace_designs() {
  std::vector<NamedDesign> all{
      {"two replicas", trace_design("llama3-8b", 1, 1, 2, false, 2, 2)},
      {"tp 2", trace_design("llama3-8b", 2, 1, 1, false, 2, 2)},
      {"tp 4 sp", trace_design("llama3-8b", 4, 1, 1, true, 2, 2)},
      {"pp 2", trace_design("llama3-8b", 1, 2, 1, false, 3, 2)},
      {"pp 4 fewer microbatches than stages", trace_design("llama3-8b", 1, 4, 1, false, 2, 4)},
      {"dp 2 tp 2 pp 2", trace_design("llama3-8b", 2, 2, 2, false, 4, 4)},
      {"dp 2 tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 4, 4)},
      {"kv heads fewer than tp", trace_design("llama3-8b", 16, 1, 2, false, 1, 2)},
      {"kv heads fewer than tp sp", trace_design("llama3-8b", 16, 2, 2, true, 2, 2)},
      {"gpt dp 2 tp 2 sp pp 2", trace_design("gpt3-175b", 2, 2, 2, true, 3, 2)},
      {"one kv head", trace_design("llama3-8b", 4, 1, 1, true, 1, 2)},
      {"one kv head pp 2", trace_design("llama3-8b", 4, 2, 2, false, 2, 2)},
      {"gpipe", trace_design("llama3-8b", 2, 4, 1, false, 5, 4)},
      {"uneven stages", trace_design("llama3-8b", 2, 4, 1, true, 5, 6)},
      {"stages without layers", trace_design("llama3-8b", 2, 4, 1, true, 3, 3)},
      {"tied embeddings", trace_design("llama3-8b", 2, 2, 2, false, 2, 2)},
      {"tied embeddings on one stage", trace_design("llama3-8b", 2, 1, 2, false, 2, 2)},
      {"other rank order", trace_design("llama3-8b", 2, 2, 2, true, 2, 2)},
      {"interleaved", trace_design("llama3-8b", 2, 4, 1, true, 8, 8)},
      {"interleaved on two stages", trace_design("llama3-8b", 2, 2, 2, false, 6, 6)},
      {"interleaved, uneven chunks", trace_design("llama3-8b", 1, 2, 1, false, 4, 5)},
      {"interleaved, scattered messages", trace_design("gpt3-175b", 2, 4, 2, false, 4, 8)},
      {"scattered messages", trace_design("llama3-8b", 4, 4, 1, false, 5, 4)},
      {"twelve groups and more", trace_design("llama3-8b", 2, 4, 16, true, 2, 4)},
      {"distributed optimizer", trace_design("llama3-8b", 1, 1, 3, false, 2, 2)},
      {"distributed optimizer tp 2 sp pp 2", trace_design("gpt3-175b", 2, 2, 4, true, 3, 2)},
      {"distributed optimizer in buckets", trace_design("gpt3-175b", 2, 1, 3, true, 2, 2)},
      {"distributed optimizer in buckets, virtual stages", trace_design("llama3-8b", 2, 2, 3, true, 4, 8)},
      {"flat buffer in buckets pp 2", trace_design("llama3-8b", 1, 2, 3, false, 3, 4)},
      {"ddp buckets tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 2, true, 3, 4)},
      {"ddp buckets gpipe", trace_design("llama3-8b", 1, 2, 2, false, 3, 4)},
      {"fsdp", trace_design("llama3-8b", 1, 1, 3, false, 1, 3)},
      {"fsdp accumulating tp 2 sp", trace_design("llama3-8b", 2, 1, 2, true, 3, 2)},
      {"fsdp 1f1b kv heads fewer than tp", trace_design("llama3-8b", 16, 2, 2, true, 3, 4)},
      {"fsdp gpipe tied embeddings", trace_design("gpt3-175b", 1, 2, 3, false, 3, 4)},
      {"fsdp stages without layers", trace_design("llama3-8b", 2, 4, 2, true, 3, 3)},
      {"context parallel", trace_design("llama3-8b", 1, 2, 1, false, 2, 2)},
      {"context parallel tp 2 sp dp 2", trace_design("llama3-8b", 2, 2, 2, true, 2, 4)},
      {"context parallel, kv heads fewer than tp", trace_design("llama3-8b", 16, 1, 2, true, 1, 2)},
      {"context parallel by ulysses", trace_design("llama3-8b", 2, 2, 2, true, 2, 4)},
      {"context parallel ring", trace_design("llama3-8b", 1, 1, 1, false, 2, 2)},
      {"context parallel ring tp 2 sp pp 2", trace_design("llama3-8b", 2, 2, 1, true, 3, 4)},
      {"context parallel ring of two, other rank order", trace_design("gpt3-175b", 1, 2, 2, false, 2, 2)},
      {"context parallel ring selective recompute, virtual stages", trace_design("llama3-8b", 1, 2, 1, false, 4, 4)},
      {"context parallel zigzag, kv heads fewer than tp", trace_design("llama3-8b", 16, 1, 1, true, 1, 2)},
      {"context parallel zigzag full recompute", trace_design("llama3-8b", 2, 2, 1, true, 2, 2)},
      {"context parallel ulysses-ring", trace_design("llama3-8b", 2, 1, 2, true, 2, 2)},
      {"fsdp, context parallel ulysses-zigzag", trace_design("llama3-8b", 1, 2, 1, false, 2, 2)},
      {"distributed optimizer, context parallel", trace_design("llama3-8b", 2, 2, 2, true, 2, 4)},
      {"ddp buckets, context parallel", trace_design("gpt3-175b", 2, 2, 2, true, 2, 2)},
      {"fsdp, context parallel by ulysses", trace_design("llama3-8b", 2, 1, 2, true, 2, 2)},
      {"fsdp full recompute", trace_design("llama3-8b", 2, 1, 2, false, 2, 2)},
  };
  for (NamedDesign& d : all) {
    const std::string name = d.name;
    if (name.starts_with("one kv head")) d.design.model.kv_heads = 1;
    if (name.starts_with("distributed optimizer")) d.design.parallel.sync = SyncStrategy::DistributedOptimizer;
    if (name.starts_with("ddp buckets")) d.design.parallel.sync = SyncStrategy::DdpBuckets;
    d.design.parallel.overlap_grad_reduce = name.find("in buckets") != std::string::npos;
    if (name.ends_with("virtual stages")) d.design.parallel.virtual_stages = 2;
    if (name == "ddp buckets gpipe") d.design.parallel.schedule = ScheduleKind::GPipe;
    if (name.starts_with("fsdp")) d.design.parallel.sync = SyncStrategy::Fsdp1;
    if (name.find("context parallel") != std::string::npos) d.design.parallel.cp = 2;
    for (const char* context : {"ulysses-zigzag", "ulysses-ring", "zigzag", "ring"})
      if (name.find(std::string("context parallel ") + context) != std::string::npos) {
        set_knob(d.design, *find_knob("context"), context);
        d.design.parallel.cp = name.find("ring of two") != std::string::npos ? 2 : 4;
        d.design.parallel.ulysses_degree = name.find("ulysses") != std::string::npos ? 2 : 0;
        break;
      }
    if (name.find("full recompute") != std::string::npos) d.design.workload.recompute = Recompute::Full;
    if (name.find("selective recompute") != std::string::npos) d.design.workload.recompute = Recompute::Selective;
    if (name.ends_with("by ulysses")) d.design.parallel.context = ContextMode::Ulysses;
    if (name == "fsdp gpipe tied embeddings") {
      d.design.parallel.schedule = ScheduleKind::GPipe;
      d.design.model.tied_embeddings = true;
    }
    if (name == "gpipe") d.design.parallel.schedule = ScheduleKind::GPipe;
    if (name.starts_with("interleaved")) d.design.parallel.virtual_stages = name == "interleaved on two stages" ? 3 : 2;
    if (name == "interleaved, uneven chunks") d.design.parallel.stage_layers = {0, 2, 2, 1};
    if (name.ends_with("scattered messages")) d.design.parallel.scatter_gather_pipeline = true;
    if (name == "uneven stages") d.design.parallel.stage_layers = {1, 2, 2, 1};
    if (name.ends_with("stages without layers")) d.design.parallel.stage_layers = {0, 2, 1, 0};
    if (name.starts_with("tied embeddings")) d.design.model.tied_embeddings = true;
    if (name.ends_with("other rank order")) parse_rank_order("pp-dp-cp-tp", d.design.parallel.order);
  }
  return all;
}

}  // namespace shardscape::test
