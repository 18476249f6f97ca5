#include <random>
#include <stdexcept>

#include "design/validate/validate.h"
#include "graph/build.h"
#include "support/caches.h"
#include "support/instances.h"
#include "support/interpreter.h"

namespace shardscape::test {

Parameters random_parameters(const Design& design, unsigned seed, const ModelLibrary& library) {
  Design alone = design;
  alone.parallel = {};
  const Binding binding = bind_symbols(alone);
  auto graph = build_graph(structure_of(alone), library);
  if (auto* problem = std::get_if<Problem>(&graph)) throw std::runtime_error(to_string(*problem));
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 0.4);
  Parameters out;
  const Graph& g = *std::get<0>(graph);
  const auto stages = instances_by_virtual_stage(alone, g);
  for (const Instance& instance : stages[0])
    for (const Param& p : g.segments[static_cast<size_t>(instance.segment)].params) {
      const Segment& s = g.segments[static_cast<size_t>(instance.segment)];
      RealTensor value(sizes_of(s.tensor(p.tensor), binding));
      for (double& x : value.data) x = normal(random);
      out.try_emplace(parameter_name(s, instance, p), std::move(value));
    }
  return out;
}

}  // namespace shardscape::test
