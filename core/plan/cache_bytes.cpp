#include "plan/cache_bytes.h"

#include "graph/stage_symbols.h"
#include "plan/step_model.h"

namespace shardscape {

void count_cache(const Graph& graph, StepModel& model) {
  static const Expr ratio{Symbol::intern("Cr")};
  for (int kind = 0; kind < graph.kinds(); ++kind) {
    const Segment& segment = graph.segments[static_cast<size_t>(kind) + 1];
    for (const CachedTensor& cached : segment.cached) {
      const Tensor& t = segment.tensor(cached.tensor);
      Expr bytes = Expr(model_layers_symbol(graph, kind)) * dtype_size(cached.dtype);
      for (size_t d = 0; d < t.axes.size(); ++d) {
        if (is_compressed(t.axes[d]))
          bytes = bytes / segment.scope.of(ratio);
        else if (t.axes[d] != Axis::Batch && t.axes[d] != Axis::Seq && !is_context(t.axes[d]))
          bytes = bytes * t.sizes[d];
      }
      if (cached.windowed)
        model.window_bytes += bytes * window_width(segment);
      else
        model.kv_cache_bytes += bytes;
    }
  }
}

}  // namespace shardscape
