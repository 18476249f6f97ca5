#include "timing/simulation.h"

#include "plan/step_memory.h"
#include "timing/hardware_flops.h"
#include "timing/machine_of.h"
#include "timing/row_times.h"
#include "timing/served_seconds.h"
#include "timing/step_simulator.h"

namespace shardscape {

std::string_view time_category_name(TimeCategory category) {
  switch (category) {
    case TimeCategory::MatrixProducts: return "products";
    case TimeCategory::Attention: return "attention";
    case TimeCategory::MemoryBound: return "memory_bound";
    case TimeCategory::TensorComm: return "tensor_comm";
    case TimeCategory::ContextComm: return "context_comm";
    case TimeCategory::ExpertComm: return "expert_comm";
    case TimeCategory::PipelineComm: return "pipeline_comm";
    case TimeCategory::DataComm: return "data_comm";
    case TimeCategory::Host: return "host";
    case TimeCategory::Optimizer: return "optimizer";
    case TimeCategory::Bubble: return "bubble";
  }
  return "";
}

std::string_view time_category_label(TimeCategory category) {
  switch (category) {
    case TimeCategory::MatrixProducts: return "Matrix products";
    case TimeCategory::Attention: return "Attention and mixers";
    case TimeCategory::MemoryBound: return "Memory-bound ops";
    case TimeCategory::TensorComm: return "Tensor-parallel communication";
    case TimeCategory::ContextComm: return "Context-parallel communication";
    case TimeCategory::ExpertComm: return "Expert-parallel communication";
    case TimeCategory::PipelineComm: return "Messages between stages";
    case TimeCategory::DataComm: return "Gradients and parameters";
    case TimeCategory::Host: return "Host launches and copies";
    case TimeCategory::Optimizer: return "Optimizer";
    case TimeCategory::Bubble: return "Bubble";
  }
  return "";
}

std::string_view span_kind_name(SpanKind kind) {
  switch (kind) {
    case SpanKind::Forward: return "forward";
    case SpanKind::Recompute: return "recompute";
    case SpanKind::Backward: return "backward";
    case SpanKind::BackwardInput: return "backward_input";
    case SpanKind::BackwardWeight: return "backward_weight";
    case SpanKind::Collective: return "collective";
    case SpanKind::Send: return "send";
    case SpanKind::Receive: return "receive";
    case SpanKind::Store: return "store";
    case SpanKind::Load: return "load";
    case SpanKind::Optimizer: return "optimizer";
  }
  return "";
}

std::string_view span_kind_label(SpanKind kind) {
  switch (kind) {
    case SpanKind::BackwardInput: return "backward of the input";
    case SpanKind::BackwardWeight: return "backward of the weights";
    case SpanKind::Forward:
    case SpanKind::Recompute:
    case SpanKind::Backward:
    case SpanKind::Collective:
    case SpanKind::Send:
    case SpanKind::Receive:
    case SpanKind::Store:
    case SpanKind::Load:
    case SpanKind::Optimizer: return span_kind_name(kind);  // one word
  }
  return "";
}

std::string_view stream_label(StreamKind stream) {
  switch (stream) {
    case StreamKind::Compute: return "Compute";
    case StreamKind::DataComm: return "Gradients and parameters";
    case StreamKind::PipelineComm: return "Sends";
    case StreamKind::Receive: return "Receives";
    case StreamKind::Host: return "To the host";
    case StreamKind::HostLoad: return "From the host";
  }
  return "";
}

static_assert(sizeof(Node) + sizeof(StepSimulator::LayerNode) + sizeof(SimulatedLayer) <= kBytesOfPass);

std::shared_ptr<const Simulation> simulate(const Report& report, std::stop_token stop) {
  auto out = std::make_shared<Simulation>();
  out->machine = machine_of(report.design);
  const Machine& machine = out->machine;
  LayerTable table(report, machine);
  Timeline timeline(static_cast<int>(report.stages.size()));
  StepSimulator simulator(report, report.microbatches, machine, table, timeline);
  std::vector<StepSimulator::LayerNode> layers;
  simulator.record_layers(layers);
  const Schedule schedule = make_schedule(report.design.parallel, static_cast<int>(report.microbatches),
                                          report.cache.get());
  simulate_schedule(schedule, simulator, timeline, stop);
  if (stop.stop_requested()) return nullptr;
  simulator.finish();
  timeline.finish(*out);
  for (const StepSimulator::LayerNode& layer : layers) {
    const Node& node = timeline.node(layer.node);
    out->stages[static_cast<size_t>(node.stage)].layers.push_back(
        {node.begin, node.end, node.span, static_cast<int32_t>(layer.instance), layer.part, layer.overlap});
  }
  out->ops = std::make_shared<const OpSeconds>(table.ops());
  add_row_times(report, table, *out);
  const double seconds = served_seconds(report, *out);
  const StepRates rates = step_rates(report, machine, seconds);
  out->tokens_per_second = rates.tokens_per_second;
  out->model_tflops = rates.model_tflops;
  out->mfu = rates.mfu;
  out->peak_type = report.design.workload.dtype;
  out->product_type = compute_dtype(report.design.workload);
  out->peak_tflops = peak_flops(*machine.accelerator, out->peak_type) * 1e-12;
  if (seconds <= 0) return out;
  const HardwareFlops hardware = hardware_flops(report, table.ops());
  const double per_gpu = 1e-12 / (static_cast<double>(report.ranks) * seconds);
  out->hardware_tflops = hardware.computed * per_gpu;
  out->masked_tflops = hardware.masked * per_gpu;
  out->hfu = out->hardware_tflops / out->peak_tflops;
  return out;
}

StepRates step_rates(const Report& report, const Machine& machine, double seconds) {
  if (seconds <= 0) return {};
  StepRates out;
  out.tokens_per_second = static_cast<double>(report.tokens_per_step) / seconds;
  out.model_tflops = model_flops(report) * static_cast<double>(report.microbatches) /
                     static_cast<double>(report.ranks) / seconds * 1e-12;
  out.mfu = out.model_tflops * 1e12 / peak_flops(*machine.accelerator, report.design.workload.dtype);
  return out;
}

}  // namespace shardscape
