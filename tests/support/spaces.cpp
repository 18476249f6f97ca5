#include "support/spaces.h"

#include <stdexcept>

namespace shardscape::test {

Design small_gpt() {
  Design d = default_design();
  apply_preset(d, "gpt2");
  d.model.layers = 4;
  d.model.hidden = 256;
  d.model.heads = d.model.kv_heads = 4;
  d.model.ffn = 1024;
  d.model.vocab = 1000;
  d.parallel = {};
  d.workload.seq = 128;
  d.workload.batch = 16;
  d.workload.microbatch = 1;
  return d;
}

SpaceSpec small_space(const std::string& gpus) {
  SpaceSpec spec;
  spec.base = small_gpt();
  spec.gpus = gpus;
  spec.dimensions = {{"tp", "all"},
                     {"pp", "all"},
                     {"microbatch", "1,2"},
                     {"recompute", "none,full"},
                     {"sequence_parallel", "all"},
                     {"sync", "ddp-flat,distributed-optimizer"}};
  return spec;
}

std::shared_ptr<const Space> constrained_space() {
  SpaceSpec spec = small_space("8");
  spec.constraints = {"tp<=2 or pp>1"};
  return made(spec);
}

SearchResult found(const std::shared_ptr<const Space>& space, const SearchOptions& options) {
  auto result = search(space, options);
  if (const auto* problem = std::get_if<Problem>(&result)) throw std::invalid_argument(to_string(*problem));
  return std::get<SearchResult>(std::move(result));
}

SearchResult reread(const SearchResult& result) {
  auto read = result_from_json(result_json(result), "part.json");
  if (const auto* problem = std::get_if<Problem>(&read)) throw std::invalid_argument(to_string(*problem));
  return std::get<SearchResult>(std::move(read));
}

std::shared_ptr<const Space> made(const SpaceSpec& spec) {
  auto space = Space::make(spec);
  if (const auto* problem = std::get_if<Problem>(&space)) throw std::invalid_argument(to_string(*problem));
  return std::get<0>(space);
}

SpaceSpec random_space(std::mt19937& random) {
  const auto below = [&](size_t n) { return random() % n; };
  SpaceSpec spec;
  spec.base = small_gpt();
  const char* worlds[] = {"4", "8", "16", "4,8", "2..8*2", "12"};
  spec.gpus = worlds[below(6)];
  spec.dimensions = {{"tp", "all"}, {"pp", below(2) ? "all" : "1,2,4"}};
  const std::pair<const char*, const char*> others[] = {{"cp", "1,2"},
                                                        {"microbatch", "1..4*2"},
                                                        {"virtual_stages", "1,2"},
                                                        {"recompute", "all"},
                                                        {"sequence_parallel", "all"},
                                                        {"sync", "ddp-flat,distributed-optimizer,fsdp2"},
                                                        {"schedule", "1f1b,gpipe,zb-h1"},
                                                        {"overlap_grad_reduce", "all"},
                                                        {"tp_comm_overlap", "all"},
                                                        {"grad_dtype", "fp32,bf16"}};
  for (const auto& [id, values] : others)
    if (spec.dimensions.size() < 6 && below(100) < 45) spec.dimensions.emplace_back(id, values);
  if (below(3) == 0) spec.constraints = {"tp*cp<=4"};
  return spec;
}

}  // namespace shardscape::test
