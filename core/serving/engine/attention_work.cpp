#include "serving/engine/attention_work.h"

#include "timing/machine_of.h"
#include "timing/op_seconds.h"

namespace shardscape {

AttentionWork& AttentionWork::add(const AttentionWork& other, double times) {
  flops += times * other.flops;
  bytes += times * other.bytes;
  seconds += times * other.seconds;
  return *this;
}

std::map<std::string, AttentionWork> attention_work(const Report& report) {
  const Graph& graph = report.graph();
  const OpSeconds seconds = op_seconds(report, machine_of(report.design));
  const Binding& binding = report.stages.front().binding;
  std::map<std::string, AttentionWork> out;
  for (size_t i = 0; i < graph.segments.size(); ++i) {
    const Segment& segment = graph.segments[i];
    AttentionWork& work = out[segment.name];
    for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id) {
      const OpTime& time = seconds.ops[i][static_cast<size_t>(id)];
      if (time.category != TimeCategory::Attention) continue;
      const Kernel* kernel = segment.kernel(id);
      work.add({number(segment.op(id).flops, binding),
                kernel && kernel->op == id ? number(kernel->moved_bytes, binding) : 0,
                time.seconds - time.exposed},
               1);
    }
  }
  return out;
}

}  // namespace shardscape
