// One point in the space: model + parallelism + workload + cluster. A value; equality is what undo compares.
#pragma once

#include <cstdint>
#include <string>

#include "model/axis.h"
#include "model/model_spec.h"
#include "parallel/parallel_spec.h"

namespace shardscape {

// What the backward runs again instead of keeping.
enum class Recompute : uint8_t { None, Selective, Full };

struct WorkloadSpec {
  int64_t seq = 8192, batch = 64, microbatch = 1;
  DType dtype = DType::BF16;        // parameters, activations
  DType grad_dtype = DType::FP32;   // accumulation and reduction of gradients
  int64_t vocab_multiple = 128;     // Vp = align(V, vocab_multiple·tp)
  std::string profile = "flash";    // kernel profile
  Recompute recompute = Recompute::None;
  bool distribute_saved_activations = false;  // full recompute: every tp rank keeps a share of a layer's input
  bool gathered_logits = false;  // the loss runs on the whole vocabulary on every tp rank
  bool dropout = false;
  friend bool operator==(const WorkloadSpec&, const WorkloadSpec&) = default;
};

struct ClusterSpec {
  std::string accelerator = "h100-sxm-80gb";
  int64_t gpus_per_node = 8;
  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;
};

struct Design {
  std::string name = "untitled";
  ModelSpec model;
  ParallelSpec parallel;
  WorkloadSpec workload;
  ClusterSpec cluster;
  friend bool operator==(const Design&, const Design&) = default;
  int64_t world() const { return parallel.tp * parallel.pp * parallel.dp * parallel.cp; }  // of a valid design
};

// The cp ranks that exchange heads by all-to-all (u) and those that pass K and V round a ring (cp/u); 1: none do.
int64_t ulysses_ranks(const Design& design);
int64_t ring_ranks(const Design& design);
// What the window opens on: Llama 3 8B on 8 GPUs.
Design default_design();
// Takes a model under a name; keeps the rest as apply_preset does.
void apply_model(Design& design, const ModelSpec& model, const std::string& name);
// Takes the preset's model and name; keeps parallelism, workload and cluster, but for a sequence longer than the model's
// table of positions. False when there is no such preset.
bool apply_preset(Design& design, const std::string& preset);

}  // namespace shardscape
