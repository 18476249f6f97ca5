// One point in the space: model + parallelism + workload + cluster. A value; equality is what undo compares.
#pragma once

#include <cstdint>
#include <string>

#include "machine/network.h"
#include "model/axis.h"
#include "model/model_spec.h"
#include "model/recompute_module.h"
#include "parallel/parallel_spec.h"

namespace shardscape {

// What a step is: of training; of inference one that reads prompts and fills the cache of keys and values, or one that makes a
// token for every sequence.
enum class Mode : uint8_t { Train, Prefill, Decode };

// What the backward runs again instead of keeping.
enum class Recompute : uint8_t { None, Selective, Full };
// Full: which layers of a virtual stage. Uniform: all, in groups that keep only their first input; Block: the first ones,
// each by itself, while the others keep everything (Megatron-LM, --recompute-method).
enum class RecomputeMethod : uint8_t { Uniform, Block };

// In which precision the matrix products of layers run; their results, and all else, stay in the storage type.
enum class ComputePrecision : uint8_t { Storage, FP8, FP8Block, MXFP8, NVFP4 };
enum class DispatchPrecision : uint8_t { Same, FP8 };

struct WorkloadSpec {
  Mode mode = Mode::Train;
  int64_t seq = 8192, batch = 64, microbatch = 1;
  int64_t context_length = 4096;    // decode: tokens of a sequence that attention sees, the new one included
  DType kv_cache_dtype = DType::BF16;
  DType dtype = DType::BF16;        // parameters, activations
  DType grad_dtype = DType::FP32;   // accumulation and reduction of gradients
  ComputePrecision compute = ComputePrecision::Storage;
  DispatchPrecision dispatch_dtype = DispatchPrecision::Same;  // of tokens on their way to experts; they come back as they are
  bool master_weights = true;       // float32 copies of 16-bit parameters, updated by the optimizer
  DType moment_dtype = DType::FP32; // of the optimizer's two moments
  int64_t vocab_multiple = 128;     // Vp = align(V, vocab_multiple·tp)
  std::string profile = "flash";    // kernel profile
  Recompute recompute = Recompute::None;
  RecomputeModules recompute_modules{1 << static_cast<int>(RecomputeModule::CoreAttn)};  // of selective recompute
  RecomputeMethod recompute_method = RecomputeMethod::Uniform;                            // of full recompute
  int64_t recompute_num_layers = 1;           // uniform: layers of a group; block: layers that are recomputed
  bool offload_optimizer = false;             // optimizer states live on the host, which updates the parameters
  int64_t offload_activations = 0;            // layers of a virtual stage whose activations wait on the host
  bool distribute_saved_activations = false;  // full recompute: every tp rank keeps a share of a layer's input
  bool gathered_logits = false;  // the loss runs on the whole vocabulary on every tp rank
  bool dropout = false;
  // Mixture of experts, in thousandths. Slots of an expert: capacity_factor times the even share of tokens, 0: as many as
  // come; load_imbalance is what the fullest expert gets over the even share.
  int64_t capacity_factor = 0, load_imbalance = 1000;
  bool pad_to_capacity = false;
  friend bool operator==(const WorkloadSpec&, const WorkloadSpec&) = default;
};

// Which switches add up. Sharp: those between domains as well as those inside.
enum class InNetworkReduction : uint8_t { Auto, None, Nvls, Sharp };

// 0: as the catalogue or the accelerator has it (design/cluster.h).
struct ClusterSpec {
  std::string accelerator = "h100-sxm-80gb";
  int64_t peak_tflops = 0;          // dense, bfloat16; narrower types keep their ratio to it
  int64_t memory_capacity = 0;      // GB, as sold
  int64_t memory_bandwidth = 0;     // 10^9 bytes per second
  int64_t gpus_per_node = 8;
  std::string network = "auto";     // of the catalogue; auto: what the accelerator usually comes with
  int64_t scaleup_domain = 0;       // ranks
  int64_t scaleup_bandwidth = 0;    // 10^9 bytes per second, rank and direction
  int64_t nic_bandwidth = 0;        // 10^9 bits per second, rank and direction
  int64_t scaleup_latency = 0, network_latency = 0, spine_latency = 0;  // ns per hop
  int64_t rails = 0;
  int64_t oversubscription = 0;     // in thousandths
  int64_t pod_size = 0;             // ranks
  InNetworkReduction in_network_reduction = InNetworkReduction::Auto;
  CollectiveAlgorithm collective_algorithm = CollectiveAlgorithm::Auto;
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

inline bool trains(const Design& design) { return design.workload.mode == Mode::Train; }
// As it runs: in inference everything that only training has is as if it had never been set, only forwards are scheduled, and a step
// of decoding has one token per sequence. Itself in training. What reads designs below validation wants one that went through this.
Design as_run(const Design& design);

// Where each rank of a valid design stands.
DeviceMesh device_mesh(const Design& design);

// The precision of products with weights in layers, resolved.
DType compute_dtype(const WorkloadSpec& workload);
// The cp ranks that exchange heads by all-to-all (u) and those that pass K and V round a ring (cp/u); 1: none do.
int64_t ulysses_ranks(const Design& design);
int64_t ring_ranks(const Design& design);
// Whether cp splits the sequences of a decoded microbatch outside of attention to a context, or leaves all of them to each of its ranks:
// where they do not split over it (and over tp under sequence parallelism).
bool cp_splits_sequences(const Design& design);
// The cp ranks that share a group of Mamba-2 mixers, where a tensor-parallel rank has several groups but fewer than cp; 1: none do.
int64_t ranks_per_mixer_group(const Design& design);
// What the window opens on: Llama 3 8B on 8 GPUs.
Design default_design();
// Takes a model under a name; keeps the rest as apply_preset does.
void apply_model(Design& design, const ModelSpec& model, const std::string& name);
// Takes the preset's model and name; keeps parallelism, workload and cluster, but for a sequence longer than the model's
// table of positions. False when there is no such preset.
bool apply_preset(Design& design, const std::string& preset);

}  // namespace shardscape
