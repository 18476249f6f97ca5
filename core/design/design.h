// A design is one point in the space: model + parallelism + workload + cluster. It is a value type; undo
// compares designs with ==.
#pragma once

#include <cstdint>
#include <string>

#include "hardware/network.h"
#include "mesh/parallel_spec.h"
#include "model/axis.h"
#include "model/lora_modules.h"
#include "model/model_spec.h"
#include "model/recompute_module.h"

namespace shardscape {

// The kind of a step. Train: a training step. Prefill: inference reads prompts and fills the KV cache.
// Decode: inference makes one token per sequence.
enum class Mode : uint8_t { Train, Prefill, Decode };

// The part of the forward that the backward runs again instead of saving its tensors.
enum class Recompute : uint8_t { None, Selective, Full };
// The layers that full recompute runs again (Megatron-LM, --recompute-method). Uniform: all layers, in groups
// that save only their first input. Block: the first layers of a virtual stage, each on its own; the others
// save everything.
enum class RecomputeMethod : uint8_t { Uniform, Block };

// Precision of the matrix products inside layers. Their results and all other tensors stay in the storage
// type.
enum class ComputePrecision : uint8_t { Storage, FP8, FP8Block, MXFP8, NVFP4, Int8 };
enum class DispatchPrecision : uint8_t { Same, FP8 };
// Types in which the forward saves tensors for the backward. Same: as the ops make them. FP8: inputs of
// activation functions in FP8, outputs of attention in E5M6 (DeepSeek-V3, arXiv 2412.19437, section 3.3.3).
// FP8Inputs: inputs of activation functions alone, in FP8 without scales (Megatron-core,
// activation_func_fp8_input_store).
enum class ActivationCache : uint8_t { Same, FP8, FP8Inputs };
// Types of frozen weights next to adapters. Same: the data type, or the type of the GEMMs. The others: linear
// layers in 4 bits, which every GEMM dequantizes first (QLoRA, Dettmers et al., arXiv 2305.14314). NF4Double:
// with double quantization.
enum class FrozenWeights : uint8_t { Same, NF4, NF4Double };

// Parts of a training step that the host replays as CUDA graphs (Megatron-core, --cuda-graph-impl and
// --cuda-graph-scope). Attention: attention with its norm and residual sum (scope attn). Router: the norm in
// front of the experts, router, top-k and shared experts (moe_router, moe_preprocess). Layer: whole layers.
// Iteration: all forwards and backwards of a step (full_iteration).
enum class CudaGraphs : uint8_t { None, Attention, Router, AttentionRouter, Layer, Iteration };

// Muon: matrices inside layers have one momentum, which Newton-Schulz iterations orthogonalize before the
// update (grad_sync/muon.h). All other parameters have Adam's two moments.
enum class OptimizerKind : uint8_t { Adam, Muon };

// Whether gradients train the vision tower and its projector.
enum class VisionTraining : uint8_t { Train, Frozen };
// How ranks share the work of a tower. Tensor: tp splits heads and MLPs. Data: every rank holds the whole
// tower and encodes some of the images (vLLM, --mm-encoder-tp-mode data).
enum class VisionParallel : uint8_t { Tensor, Data };
// The pipeline stage of the tower. First: before the embedding on the first stage. Own: the first stage holds
// the tower alone; the language model begins with the embedding on the second stage.
enum class VisionStage : uint8_t { First, Own };

// Steps of a training run before the batch reaches WorkloadSpec::batch (Megatron's --rampup-batch-size).
struct BatchRamp {
  int64_t start = 0;      // sequences of the first step; 0: no ramp
  int64_t increment = 0;  // sequences that each increase adds
  int64_t samples = 0;    // sequences over which the increases are spread evenly
  bool exists() const { return start > 0; }
  friend bool operator==(const BatchRamp&, const BatchRamp&) = default;
};

struct WorkloadSpec {
  Mode mode = Mode::Train;
  int64_t seq = 8192, batch = 64, microbatch = 1;
  // Training: mean tokens of the documents that a sequence packs; attention sees keys of the query's
  // document. 0: a sequence is one document.
  int64_t packed_length = 0;
  int64_t context_length = 4096;  // decode: tokens of a sequence that attention sees, including the new token
  int64_t cached_tokens = 0;      // prefill: tokens of each sequence that the cache holds before the step
  // Inference: the step is a pass of the model's first module for multi-token prediction, which proposes a
  // draft token.
  bool draft_module = false;
  DType kv_cache_dtype = DType::BF16;
  DType ssm_state_dtype = DType::FP32;  // inference: states of mixers and of linear attention
  DType dtype = DType::BF16;            // parameters and activations
  DType grad_dtype = DType::FP32;       // accumulation and reduction of gradients
  ComputePrecision compute = ComputePrecision::Storage;
  // Type of tokens on the way to experts. They return in the storage type.
  DispatchPrecision dispatch_dtype = DispatchPrecision::Same;
  // Megatron with quantized GEMMs: weights exist only in their quantized type (fp8-param-gather). GEMMs in
  // FP8 with one scale per tensor: the input gradient reads a second copy of the weights, which is
  // transposed.
  bool fp8_params = false, transposed_weights = true;
  ActivationCache activation_cache = ActivationCache::Same;
  bool master_weights = true;  // float32 copies of 16-bit parameters, updated by the optimizer
  OptimizerKind optimizer = OptimizerKind::Adam;
  DType moment_dtype = DType::FP32;  // type of the optimizer's moments
  // LoRA: rank of the adapters, and the matrices that have adapters. Gradients train the adapters alone; all
  // other parameters are frozen. 0: no adapters, and gradients train every parameter.
  int64_t lora_rank = 0;
  LoraModules lora_modules = kAttentionLora;
  // lora_dropout: the input of every adapter goes through a dropout. lora_packed: matrices with the same
  // input share one matrix A.
  bool lora_dropout = false, lora_packed = false;
  FrozenWeights frozen_dtype = FrozenWeights::Same;
  // GEMMs of attention read queries, keys and values in FP8, and the backward reads these copies and the
  // result in FP8 (Transformer Engine, fp8_dpa).
  bool fp8_attention = false;
  int64_t vocab_multiple = 128;   // Vp = align(V, vocab_multiple·tp)
  std::string profile = "flash";  // kernel profile
  Recompute recompute = Recompute::None;
  // Modules that selective recompute runs again.
  RecomputeModules recompute_modules{1 << static_cast<int>(RecomputeModule::CoreAttn)};
  RecomputeMethod recompute_method = RecomputeMethod::Uniform;  // method of full recompute
  int64_t recompute_num_layers = 1;           // uniform: layers per group; block: layers that run again
  bool offload_optimizer = false;             // the host stores optimizer states and updates the parameters
  int64_t optimizer_offload_fraction = 1000;  // share of these states and updates, in thousandths
  int64_t offload_activations = 0;  // layers per virtual stage whose activations are offloaded to the host
  // Full recompute: every tp rank saves 1/tp of a layer's input.
  bool distribute_saved_activations = false;
  bool gathered_logits = false;  // every tp rank computes the loss on the whole vocabulary
  bool dropout = false;
  // Weight-gradient GEMMs add to the gradient buffer, if the kernel profile has such GEMMs. Otherwise every
  // backward allocates the gradient in the data type and adds it afterwards.
  bool gradient_accumulation_fusion = true;
  CudaGraphs cuda_graphs = CudaGraphs::None;
  int64_t cublas_workspace = 0;  // MiB of one cuBLAS handle of PyTorch; 0: the default of the accelerator
  // Mixture of experts, in thousandths. capacity_factor: slots of an expert / even share of tokens; 0: no
  // limit. load_imbalance: tokens of the fullest expert / even share.
  int64_t capacity_factor = 0, load_imbalance = 1000;
  bool pad_to_capacity = false;
  // Images of a sequence; 0: text alone. Pixels of a side, and frames: 1 for an image, more for a video.
  int64_t images = 0, image_size = 1024, frames = 1;
  VisionTraining vision_training = VisionTraining::Train;
  VisionParallel vision_parallel = VisionParallel::Tensor;
  VisionStage vision_stage = VisionStage::First;
  bool vision_recompute = false;  // the backward replays each layer of the tower from its input
  // The training run, for its campaign (core/campaign). tokens: 0 if not known. checkpoint_interval: seconds
  // between checkpoints; 0: the best interval.
  int64_t tokens = 0, checkpoint_interval = 0;
  BatchRamp ramp{};
  friend bool operator==(const WorkloadSpec&, const WorkloadSpec&) = default;
};

// The switches that reduce. Sharp: switches inside and between domains.
enum class InNetworkReduction : uint8_t { Auto, None, Nvls, Sharp };

// The cluster. 0 means the value of the catalogue (design/cluster.h).
struct ClusterSpec {
  std::string accelerator = "h100-sxm-80gb";
  int64_t peak_tflops = 0;       // dense, bfloat16; narrower types keep their ratio to bfloat16
  int64_t memory_capacity = 0;   // GB as sold
  int64_t memory_bandwidth = 0;  // 10^9 bytes per second
  int64_t gpus_per_node = 8;
  std::string network = "auto";   // id in the catalogue; auto: the accelerator's usual network
  int64_t scaleup_domain = 0;     // ranks
  int64_t scaleup_bandwidth = 0;  // 10^9 bytes per second, rank and direction
  int64_t nic_bandwidth = 0;      // 10^9 bits per second, rank and direction
  int64_t scaleup_latency = 0, network_latency = 0, spine_latency = 0;  // ns per hop
  int64_t rails = 0;
  int64_t oversubscription = 0;  // in thousandths
  int64_t pod_size = 0;          // ranks
  InNetworkReduction in_network_reduction = InNetworkReduction::Auto;
  CollectiveAlgorithm collective_algorithm = CollectiveAlgorithm::Auto;
  int64_t tp_max_ctas = 0, cp_max_ctas = 0, dp_max_ctas = 0;  // CtaLimits
  // Training: how unequally fast ranks compute (performance/rank_spread.h), in thousandths of a percent.
  int64_t compute_jitter = 0;      // standard deviation of a rank's compute time in a step / its mean
  int64_t straggler_slowdown = 0;  // how much longer one slow rank computes than the mean of the others
  // Price, energy, failures and checkpoints (hardware/operation.h). No step depends on them.
  int64_t price_per_hour = 0;        // thousandths of a dollar, one accelerator
  int64_t board_power = 0;           // W of one accelerator
  int64_t host_power = 0;            // W of hosts, NICs and switches for one accelerator
  int64_t pue = 0;                   // in thousandths
  int64_t failure_rate = 0;          // interruptions in 1,000 days of 8 accelerators, in thousandths
  int64_t restart_time = 0;          // seconds
  int64_t checkpoint_bandwidth = 0;  // 10^6 bytes per second and rank
  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;
};

struct Design {
  std::string name = "untitled";
  ModelSpec model;
  ParallelSpec parallel;
  WorkloadSpec workload;
  ClusterSpec cluster;
  friend bool operator==(const Design&, const Design&) = default;
  // Number of ranks. Requires a valid design.
  int64_t world() const { return parallel.tp * parallel.pp * parallel.dp * parallel.cp; }
};

inline bool trains(const Design& design) { return design.workload.mode == Mode::Train; }
// The effective design. In inference, values that only training uses are reset to their defaults, only
// forwards are scheduled, and a decode step has one token per sequence. A training design stays the same,
// except that dcp is 1. All functions below validation require an effective design.
Design effective_design(const Design& design);

// Prefill: why a step of the design cannot begin after cached tokens; empty if it can. Compressed keys and
// picked blocks of keys count whole blocks from the start of the sequence, and rings and exchanges of heads
// pass on equal parts of queries and keys.
std::string no_cached_tokens(const Design& design);
// Whether the architecture of the design has a module for multi-token prediction.
bool has_draft_module(const Design& design);
// Whether attention runs in FP8: fp8_attention, and GEMMs in FP8 with a scale per tensor (Transformer
// Engine's delayed and current scaling). Blocks that move round a ring stay in the data type.
bool runs_fp8_attention(const Design& design);
// WorkloadSpec::frozen_dtype where it has an effect, otherwise Same: with adapters, GEMMs in the data type,
// and a gradient sync that keeps parameters whole.
FrozenWeights frozen_weights(const Design& design);

// Whether a sequence of the training design packs several documents that fused kernels of attention tell
// apart by their boundaries (cu_seqlens; THD format of Transformer Engine). Kernels that store whole rows of
// scores mask the pairs between documents instead, at the full cost.
bool packs_documents(const Design& design);
// Why packed documents have no effect on a training design; empty if they have one.
std::string no_packing(const Design& design);
// Why the matrices of a training design have Adam although a code base could run Muon; empty if they can have
// Muon.
std::string no_muon(const Design& design);

// The degrees of a design's mesh, and the only place that says by which numbers the design splits axes.
// bind_symbols binds the symbols of the splits to the same numbers.
MeshDegrees mesh_degrees(const Design& design);
// The mesh of a valid design's ranks.
DeviceMesh device_mesh(const Design& design);

// The type of matrix products with weights inside layers.
DType compute_dtype(const WorkloadSpec& workload);
// The cp ranks that exchange heads by all-to-all (u), and those that pass K and V round a ring (cp/u); 1
// without exchange or ring.
int64_t ulysses_ranks(const Design& design);
int64_t ring_ranks(const Design& design);
// Decode with cp: whether cp splits the sequences of a microbatch outside of attention. This requires that cp
// (times tp under sequence parallelism) divides their number. Otherwise every rank of cp has all sequences.
bool cp_splits_sequences(const Design& design);
// Inference without sequence parallelism whose experts have a tensor parallelism of their own: the ranks of
// tp have the same tokens and share the experts (vLLM and SGLang: ep over tp x dp; core/graph/routing.cpp).
bool experts_share_tp(const Design& design);
// Whether tp splits tokens: in the whole residual stream (sequence parallelism), or before the dispatch to
// experts that share tp.
bool splits_tokens_over_tp(const Design& design);
// The cp ranks that share one group of Mamba-2 mixers; 1 if none do. Above 1 if a tensor-parallel rank has
// several groups, but fewer than cp.
int64_t ranks_per_mixer_group(const Design& design);
// The design that the window opens with: Llama 3 8B on 8 GPUs.
Design default_design();
// Replaces the model and the design's name. All other values stay, except that a table of learned positions
// bounds the sequence.
void apply_model(Design& design, const ModelSpec& model, const std::string& name);
// Replaces the model and the name by those of a preset, as apply_model() does. Returns false if there is no
// such preset.
bool apply_preset(Design& design, const std::string& preset);

}  // namespace shardscape
