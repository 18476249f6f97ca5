// A step in time: the schedule played on the streams of one rank per stage.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "performance/machine.h"
#include "plan/report.h"
#include "plan/stage_program.h"

namespace shardscape {

// Where the time of a rank goes. What is hidden behind compute is not in here: the categories of a stage add
// up to the step.
enum class TimeCategory : uint8_t {
  Products,     // matrix products
  Attention,    // fused attention, state-space mixers
  MemoryBound,  // norms, activations, casts, routing
  TensorComm,
  ContextComm,
  ExpertComm,
  PipelineComm,
  DataComm,  // exposed: nothing computes meanwhile
  Host,      // waits for the host: for launches, for its memory
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
  BackwardWeight,  // Backward: both at once
  Collective,
  Send,
  Receive,
  Store,
  Load,
  Optimizer
};

std::string_view span_kind_name(SpanKind kind);   // "backward_input", as files say it
std::string_view span_kind_label(SpanKind kind);  // "backward of the input", as people do

// One stream of a stage: what runs on it follows one after the other.
// DataComm: of gradients and parameters. PipelineComm: messages that the stage sends; Receive: those that it
// gets. Links and the bus to the host work both ways at once. Host: to its memory; HostLoad: from it.
enum class StreamKind : uint8_t { Compute, DataComm, PipelineComm, Receive, Host, HostLoad };
inline constexpr int kStreamKindCount = 6;
std::string_view stream_label(StreamKind stream);  // "Compute", "Gradients and parameters"

struct Span {
  double begin = 0, end = 0;  // seconds since the step began
  SpanKind kind = SpanKind::Forward;
  StreamKind stream = StreamKind::Compute;
  int32_t microbatch = -1;  // -1: once a step
  int32_t chunk = 0;        // virtual stage
  int32_t
      name = -1;  // index into Simulation::names: "reduce-scatter of bucket 3"; -1: an action of the schedule
  int32_t waits_stage = -1, waits_span = -1;  // what ended last before it could begin; -1: nothing
  bool critical = false;                      // on the longest path through the step
};

using Part = LayerPart;

// What an action takes of its seconds beside another one that runs at once.
struct OverlapFactors {
  double exchanges = 1;  // share of the exchanges of experts that is not hidden
  double products = 1;   // how much longer products and attention take
  double factor(TimeCategory category) const;
  auto operator<=>(const OverlapFactors&) const = default;
};

// A part of a layer as it was played; the embedding and the head are layers too.
struct SimulatedLayer {
  double begin = 0, end = 0;  // its waits for the host included
  int32_t span = 0;           // index into StageTimes::spans
  int32_t instance = 0;       // index into the StageLayout's
  Part part = Part::Forward;
  OverlapFactors beside{};
};

struct StageTimes {
  std::array<double, kTimeCategoryCount> seconds{};  // add up to step_seconds
  double communication = 0;            // of all collectives and of messages that arrive, hidden or not
  double exposed = 0;                  // of these what compute waits for
  std::vector<Span> spans;             // by begin
  std::vector<SimulatedLayer> layers;  // by begin, of the compute stream
};

// A stretch of the critical path: of a span, as much as lies on it. Each begins when the one before it ends.
struct CriticalPart {
  int32_t stage = 0, span = 0;
  double begin = 0, end = 0;
};

struct Simulation {
  Machine machine;
  double step_seconds = 0;
  // Rates of decode are those of a running pipeline (served_seconds in inference.h), where steps overlap.
  double tokens_per_second = 0;  // of the whole job
  // Per GPU, 10^12 per second, mean over ranks. Model FLOPs as Megatron-LM states them: of the tokens and
  // their top-k experts, whatever slots are padded, dropped or on the busiest rank; nothing computed again,
  // masks not halved. Hardware FLOPs are what kernels compute (hardware_flops.h): what is recomputed and
  // padded, and not the tiles that masks spare fused attention.
  double model_tflops = 0, hardware_tflops = 0;
  double masked_tflops = 0;  // that masks spare: counted, not among hardware_tflops
  double mfu = 0, hfu = 0;   // shares of 1, of peak_tflops
  // The accelerator's dense peak in the storage type, whatever narrower type products run in: published
  // tables give model FLOPs, and MFU of bfloat16's peak.
  double peak_tflops = 0;
  DType peak_type = DType::BF16, product_type = DType::BF16;  // of products with weights in layers
  double bubble = 0, exposed = 0;                             // shares of the step, mean over stages
  std::vector<StageTimes> stages;
  std::vector<std::string> names;
  std::vector<CriticalPart> critical;                         // from 0 to step_seconds
  std::array<double, kTimeCategoryCount> critical_seconds{};  // what it is made of; adds up to step_seconds
};

// Of a valid report. Nothing when stopped.
std::shared_ptr<const Simulation> simulate(const Report& report, std::stop_token stop = {});

// What follows from the seconds of a step.
struct StepRates {
  double tokens_per_second = 0, model_tflops = 0, mfu = 0;
};
StepRates step_rates(const Report& report, const Machine& machine, double seconds);

}  // namespace shardscape
