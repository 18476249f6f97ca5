// A step in time: the schedule, simulated on the streams of one rank per stage. Times are in seconds.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/network_level.h"
#include "mesh/collective_kind.h"
#include "performance/machine.h"
#include "plan/report.h"
#include "plan/stage_program.h"

namespace shardscape {

struct OpSeconds;

// The time of a rank by cause. Communication hidden by compute is not included, so the categories of a stage
// add up to the step.
enum class TimeCategory : uint8_t {
  MatrixProducts,
  Attention,    // fused attention, state-space mixers
  MemoryBound,  // norms, activations, casts, routing
  TensorComm,
  ContextComm,
  ExpertComm,
  PipelineComm,
  DataComm,  // communication categories: exposed time only
  Host,      // waits for host launches or copies to the host
  Optimizer,
  Bubble  // waits for another stage
};
inline constexpr int kTimeCategoryCount = 11;
std::string_view time_category_name(TimeCategory category);   // JSON key: "tensor_comm"
std::string_view time_category_label(TimeCategory category);  // "Tensor-parallel communication"

enum class SpanKind : uint8_t {
  Forward,
  Recompute,
  Backward,
  BackwardInput,
  BackwardWeight,  // Backward: input and weight gradients together
  Collective,
  Send,
  Receive,
  Store,
  Load,
  Optimizer
};

std::string_view span_kind_name(SpanKind kind);   // in files: "backward_input"
std::string_view span_kind_label(SpanKind kind);  // for people: "backward of the input"

// A stream of a stage: its nodes run one after the other. DataComm: gradients and parameters. PipelineComm:
// messages that the stage sends; Receive: messages that it receives. Host: copies to the host; HostLoad:
// copies back. Links and the bus to the host work both ways at once.
enum class StreamKind : uint8_t { Compute, DataComm, PipelineComm, Receive, Host, HostLoad };
inline constexpr int kStreamKindCount = 6;
std::string_view stream_label(StreamKind stream);  // "Compute", "Gradients and parameters"

// The collective of a span outside of layers. The row of the report with the same phase, op, group and dtype
// counts the collective.
struct SpanCollective {
  Phase phase;
  CollectiveKind op;
  std::string group;  // "dp", "embedding"
  DType dtype;
  friend bool operator==(const SpanCollective&, const SpanCollective&) = default;
};

struct SpanName {
  std::string text;                          // for people: "reduce-scatter of gradients over dp"
  std::optional<SpanCollective> collective;  // nullopt: the span is no collective
  friend bool operator==(const SpanName&, const SpanName&) = default;
};

struct Span {
  double begin = 0, end = 0;  // seconds since the step began
  SpanKind kind = SpanKind::Forward;
  StreamKind stream = StreamKind::Compute;
  int32_t microbatch = -1;  // -1: once a step
  int32_t chunk = 0;        // virtual stage
  // Index into Simulation::names. -1: an action of the schedule.
  int32_t name = -1;
  // The span that ended last among those that this span waited for; -1: none.
  int32_t waits_stage = -1, waits_span = -1;
  bool critical = false;  // lies on the critical path
};

using Part = LayerPart;

// How concurrent work changes the seconds of a layer: factors on the seconds of its categories.
struct OverlapSlowdown {
  double exchanges = 1;  // expert all-to-alls: the share that compute of the other action does not hide
  double gemms = 1;      // GEMMs and attention: slower while communication kernels occupy processors
  double factor(TimeCategory category) const;
  auto operator<=>(const OverlapSlowdown&) const = default;
};

// A simulated part of a layer. The embedding and the head count as layers.
struct SimulatedLayer {
  double begin = 0, end = 0;  // includes waits for the host
  int32_t span = 0;           // index into StageTimes::spans
  int32_t instance = 0;       // index into StageLayout::instances
  Part part = Part::Forward;
  OverlapSlowdown overlap{};  // by a concurrent action or by collectives
};

// The time of one row of StageReport::collectives in a step (timing/row_times.h).
struct CollectiveTime {
  double seconds = 0;    // of all calls, hidden or not
  double exposed = 0;    // the part that compute waits for; messages wait at the receiver
  double per_call = 0;   // mean seconds of a call
  double bus_rate = 0;   // bus bandwidth as nccl-tests define it, bytes per second; 0: takes no time
  GroupSpan span;        // of the slowest group of the row; messages: of the slowest pair of stages
  NetworkLevel level{};  // the highest level of the network that the span reaches
};

// The time of all kernels of one kind, phase and type in a step, without their communication. A kernel that
// computes several ops counts with the op that names it (Kernel::op).
struct KernelTime {
  Phase phase = Phase::Forward;
  OpKind kind{};
  DType compute = DType::BF16;
  double seconds = 0;
  int64_t kernels = 0;
};

struct StageTimes {
  std::array<double, kTimeCategoryCount> seconds{};  // add up to step_seconds
  double communication = 0;        // of all collectives and received messages, hidden or not
  double exposed = 0;              // communication that compute waits for
  double message_gathers = 0;      // all-gathers of received messages; all exposed
  std::vector<double> name_waits;  // seconds that compute waits for spans, by index into Simulation::names
  // By row of StageReport::collectives. Without sends, their seconds add up to `communication`, and their
  // exposed parts to `exposed`.
  std::vector<CollectiveTime> collectives;
  // Add up to the categories of matrix products, attention, memory-bound ops and optimizer.
  std::vector<KernelTime> kernels;
  std::vector<Span> spans;             // sorted by begin
  std::vector<SimulatedLayer> layers;  // sorted by begin; compute stream only
};

// One part of the critical path: the part of a span that lies on the path. Each part begins when the previous
// part ends.
struct CriticalPart {
  int32_t stage = 0, span = 0;
  double begin = 0, end = 0;
};

struct Simulation {
  Machine machine;
  double step_seconds = 0;
  // Rates of decode are those of a running pipeline, where steps overlap (timing/served_seconds.h).
  double tokens_per_second = 0;  // of the whole job
  // 10^12 FLOPs per second and GPU, mean over ranks. Model FLOPs follow Megatron-LM: every token and its
  // top-k experts count; padding, drops and imbalance change nothing. Recompute does not count, and masks do
  // not halve model FLOPs. Hardware FLOPs are what kernels compute (hardware_flops.h): they include recompute
  // and padding, and exclude tiles that fused attention skips under masks.
  double model_tflops = 0, hardware_tflops = 0;
  double masked_tflops = 0;  // skipped under masks: counted FLOPs that are not in hardware_tflops
  double mfu = 0, hfu = 0;   // fractions of peak_tflops
  // The accelerator's dense peak in the storage type, even if matrix products run in a narrower type.
  // Published tables also relate model FLOPs to the bfloat16 peak.
  double peak_tflops = 0;
  DType peak_type = DType::BF16,
        product_type = DType::BF16;  // product_type: of matrix products with weights of layers
  double bubble = 0, exposed = 0;    // shares of the step, mean over stages
  std::vector<StageTimes> stages;
  std::vector<SpanName> names;
  std::shared_ptr<const OpSeconds> ops;                       // seconds of every op (timing/op_seconds.h)
  std::vector<CriticalPart> critical;                         // from 0 to step_seconds
  std::array<double, kTimeCategoryCount> critical_seconds{};  // time by category; adds up to step_seconds
};

// Simulates the step of a valid report. Returns nullptr when stopped.
std::shared_ptr<const Simulation> simulate(const Report& report, std::stop_token stop = {});

// Rates that follow from the seconds of a step.
struct StepRates {
  double tokens_per_second = 0, model_tflops = 0, mfu = 0;
};
StepRates step_rates(const Report& report, const Machine& machine, double seconds);

}  // namespace shardscape
