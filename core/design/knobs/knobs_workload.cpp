// The rows of the knob table: the workload.
#include "design/knobs/knob_writer.h"
#include "design/limits.h"
#include "model/library.h"

namespace shardscape {
namespace {

using W = WorkloadSpec;
constexpr auto workload = &Design::workload;

// Access to a field of BatchRamp.
template <auto Field>
constexpr KnobAccess batch_ramp() {
  return {[](const Design& d) { return KnobValue(std::in_place_type<int64_t>, d.workload.ramp.*Field); },
          [](Design& d, const KnobValue& value) { d.workload.ramp.*Field = std::get<int64_t>(value); },
          [](const Design& d) -> int64_t { return d.workload.ramp.*Field; }};
}

inline constexpr Named<Mode> kModes[] = {{Mode::Train, "train", "Training"},
                                         {Mode::Prefill, "prefill", "Inference: prefill"},
                                         {Mode::Decode, "decode", "Inference: decode"}};
static_assert(names_all(kModes));
inline constexpr Named<DType> kCacheDtypes[] = {{DType::BF16, "bf16", "Same as the data type (bfloat16)"},
                                                {DType::FP8, "fp8", "float8"}};
inline constexpr Named<DType> kDtypes[] = {
    {DType::BF16, "bf16", "bfloat16"}, {DType::FP16, "fp16", "float16"}, {DType::FP32, "fp32", "float32"}};
inline constexpr Named<DType> kStateDtypes[] = {
    {DType::FP32, "fp32", "float32"}, {DType::BF16, "bf16", "bfloat16"}, {DType::FP16, "fp16", "float16"}};
inline constexpr Named<DType> kGradDtypes[] = {
    {DType::FP32, "fp32", "float32"}, {DType::BF16, "bf16", "bfloat16"}, {DType::FP16, "fp16", "float16"}};
inline constexpr Named<OptimizerKind> kOptimizers[] = {{OptimizerKind::Adam, "adam", "Adam"},
                                                       {OptimizerKind::Muon, "muon", "Muon"}};
static_assert(names_all(kOptimizers));
inline constexpr Named<DType> kMomentDtypes[] = {
    {DType::FP32, "fp32", "float32"},
    {DType::BF16, "bf16", "bfloat16"},
    {DType::FP16, "fp16", "float16"},
    {DType::FP8, "fp8", "float8"},
    {DType::Int8Block, "int8-blockwise", "8 bits, blocks of 256"}};
inline constexpr Named<ComputePrecision> kComputes[] = {
    {ComputePrecision::Storage, "storage", "Same as the data type"},
    {ComputePrecision::FP8, "fp8", "FP8, one scale per tensor"},
    {ComputePrecision::FP8Block, "fp8-blockwise", "FP8, blocks of 128"},
    {ComputePrecision::MXFP8, "mxfp8", "MXFP8, blocks of 32"},
    {ComputePrecision::NVFP4, "nvfp4", "NVFP4, blocks of 16"},
    {ComputePrecision::Int8, "int8", "INT8, one scale per channel (AQT)"}};
static_assert(names_all(kComputes));
inline constexpr Named<DispatchPrecision> kDispatchDtypes[] = {
    {DispatchPrecision::Same, "same", "Same as the activations"}, {DispatchPrecision::FP8, "fp8", "FP8"}};
static_assert(names_all(kDispatchDtypes));
inline constexpr Named<ActivationCache> kActivationCaches[] = {
    {ActivationCache::Same, "same", "As computed"},
    {ActivationCache::FP8, "fp8", "FP8 and E5M6 (DeepSeek-V3)"},
    {ActivationCache::FP8Inputs, "fp8-inputs", "FP8, inputs of activation functions"}};
static_assert(names_all(kActivationCaches));
inline constexpr Named<CudaGraphs> kCudaGraphs[] = {
    {CudaGraphs::None, "none", "None"},
    {CudaGraphs::Attention, "attention", "Attention"},
    {CudaGraphs::Router, "router", "Router"},
    {CudaGraphs::AttentionRouter, "attention-router", "Attention and router"},
    {CudaGraphs::Layer, "layer", "Whole layers"},
    {CudaGraphs::Iteration, "iteration", "Whole iteration"}};
static_assert(names_all(kCudaGraphs));
inline constexpr Named<FrozenWeights> kFrozenWeights[] = {
    {FrozenWeights::Same, "same", "As for GEMMs"},
    {FrozenWeights::NF4, "nf4", "4 bits, blocks of 64"},
    {FrozenWeights::NF4Double, "nf4-double", "4 bits, double quantization"}};
static_assert(names_all(kFrozenWeights));
inline constexpr Named<Recompute> kRecompute[] = {{Recompute::None, "none", "None"},
                                                  {Recompute::Selective, "selective", "Selective (modules)"},
                                                  {Recompute::Full, "full", "Full"}};
static_assert(names_all(kRecompute));
inline constexpr Named<RecomputeMethod> kRecomputeMethods[] = {
    {RecomputeMethod::Uniform, "uniform", "Uniform (groups of layers)"},
    {RecomputeMethod::Block, "block", "Block (first layers of a stage)"}};
static_assert(names_all(kRecomputeMethods));

inline constexpr Named<VisionTraining> kVisionTraining[] = {{VisionTraining::Train, "train", "Trained"},
                                                            {VisionTraining::Frozen, "frozen", "Frozen"}};
static_assert(names_all(kVisionTraining));
inline constexpr Named<VisionParallel> kVisionParallel[] = {
    {VisionParallel::Tensor, "tensor", "Tensor: over tp"},
    {VisionParallel::Data, "data", "Data: images over tp and cp"}};
static_assert(names_all(kVisionParallel));
inline constexpr Named<VisionStage> kVisionStage[] = {
    {VisionStage::First, "first", "First stage, with the embedding"}, {VisionStage::Own, "own", "Own stage"}};
static_assert(names_all(kVisionStage));

constexpr KnobAccess kRecomputeModules{
    [](const Design& d) {
      std::vector<std::string> names;
      for (int i = 0; i < kRecomputeModuleCount; ++i)
        if (const auto module = static_cast<RecomputeModule>(i); d.workload.recompute_modules.has(module))
          names.emplace_back(recompute_module_name(module));
      return KnobValue(std::move(names));
    },
    [](Design& d, const KnobValue& value) {
      d.workload.recompute_modules = {};
      for (const std::string& name : std::get<std::vector<std::string>>(value))
        if (const auto module = recompute_module_from_name(name)) d.workload.recompute_modules.add(*module);
    }};

std::vector<KnobChoice> recompute_module_choices() {
  std::vector<KnobChoice> choices;
  for (int i = 0; i < kRecomputeModuleCount; ++i) {
    const auto module = static_cast<RecomputeModule>(i);
    choices.push_back(
        {std::string(recompute_module_name(module)), std::string(recompute_module_label(module))});
  }
  return choices;
}

constexpr KnobAccess kLoraModules{[](const Design& d) {
                                    std::vector<std::string> names;
                                    for (int i = 0; i < kLoraModuleCount; ++i)
                                      if (const auto module = static_cast<LoraModule>(i);
                                          d.workload.lora_modules.has(module))
                                        names.emplace_back(lora_module_name(module));
                                    return KnobValue(std::move(names));
                                  },
                                  [](Design& d, const KnobValue& value) {
                                    d.workload.lora_modules = {};
                                    for (const std::string& name : std::get<std::vector<std::string>>(value))
                                      if (const auto module = lora_module_from_name(name))
                                        d.workload.lora_modules.add(*module);
                                  }};

std::vector<KnobChoice> lora_module_choices() {
  std::vector<KnobChoice> choices;
  for (int i = 0; i < kLoraModuleCount; ++i) {
    const auto module = static_cast<LoraModule>(i);
    choices.push_back({std::string(lora_module_name(module)), std::string(lora_module_label(module))});
  }
  return choices;
}

std::vector<KnobChoice> profiles() {
  std::vector<KnobChoice> choices;
  for (const KernelProfile& profile : ModelLibrary::instance().profiles())
    choices.push_back({profile.id, profile.label});
  return choices;
}

void add_batch(TableWriter& table) {
  table.section("Batch");
  table.choice(named<workload, &W::mode, kModes>(), "mode", "Mode", choices_of(kModes),
               "Kind of step. train: forward, backward and optimizer. prefill: the forward of prompts of seq "
               "tokens, which fills the KV cache and computes the logits of each last token. The step time "
               "is the time to first token of the last prompt. decode: one more token for every sequence, "
               "with attention over the cache. The step time is the time per output token.");
  table.number(member<workload, &W::seq>(), "seq", "Sequence length", "S", "tokens", 1, kMaxSeq,
               "Tokens per sequence in training, and per prompt in prefill; decode uses the context "
               "length. Activations and GEMMs grow linearly, attention scores quadratically.");
  table.number(member<workload, &W::context_length>(), "context_length", "Context length", "C", "tokens", 1,
               kMaxSeq,
               "For decode: tokens that the attention of a new token sees, including the new token. After "
               "the step, the cache holds keys and values of this many tokens; layers with a window hold "
               "only those of the window. Independent of the sequence length.");
  table.number(
      member<workload, &W::cached_tokens>(), "cached_tokens", "Cached tokens", "", "tokens", 0, kMaxSeq,
      "For prefill: tokens of each sequence that the cache holds before the step, computed in earlier "
      "chunks of its prompt or for another prompt with the same prefix. Attention of the new tokens "
      "reads them. 0: the whole prompt is new.");
  table.flag(
      member<workload, &W::draft_module>(), "draft_module", "Draft module",
      "For inference: the step is a pass of the module for multi-token prediction, which proposes a draft "
      "token in speculative decoding. The module projects the hidden state and the embedding of the last "
      "token, and has one layer; its cache holds one layer. It shares embedding and head with the model, "
      "unless the architecture says otherwise (DeepSeek-V3, arXiv 2412.19437, section 2.2).");
  table.number(member<workload, &W::batch>(), "batch", "Global batch", "B", "sequences", 1, kMaxBatch,
               "Sequences per step over all replicas: per optimizer step in training, or served concurrently "
               "in inference. Must be a multiple of microbatch x dp.");
  table.number(member<workload, &W::microbatch>(), "microbatch", "Microbatch", "b", "sequences", 1,
               kMaxMicrobatch,
               "Sequences that pass a stage at once. Larger microbatches have larger kernels and more "
               "activation memory. They leave fewer microbatches m = B / (b dp) to fill the pipeline.");
  table.number(
      member<workload, &W::packed_length>(), "packed_length", "Packed length", "Ld", "tokens", 0, kMaxSeq,
      "Training on packed sequences: mean length of the documents in a sequence. Attention reads keys "
      "of the query's document alone (cu_seqlens, THD format); all else stays. With cp, every "
      "document is split over the ranks. Microbatches with a budget of tokens (max_tokens) are "
      "sequences of this many tokens with the mean document here. 0: a sequence is one document.");
}

void add_images(TableWriter& table) {
  table.section("Images");
  table.number(
      member<workload, &W::images>(), "images", "Images per sequence", "I", "images", 0, kMaxImages,
      "Images or videos in every sequence. The vision tower turns each into tokens, which replace text "
      "tokens. 0: text only; the tower then holds its weights, without gradients and optimizer states.");
  table.number(member<workload, &W::image_size>(), "image_size", "Image size", "", "pixels", 1, kMaxImageSize,
               "Pixels along each side of an image. An image has (image size / patch size)^2 patches. Its "
               "tokens are the patches divided by the patches per token. Attention inside the tower grows "
               "with the square of the patches.");
  table.number(member<workload, &W::frames>(), "frames", "Frames", "", "frames", 1, kMaxFrames,
               "Frames of each image: 1, or those of a video. A video counts as frames / frames per patch "
               "images, rounded up.");
  table.choice(named<workload, &W::vision_training, kVisionTraining>(), "vision_training", "Vision training",
               choices_of(kVisionTraining),
               "Whether gradients train the vision tower and its projector. frozen: forward only, without "
               "saved activations, gradients and optimizer states.");
  table.choice(named<workload, &W::vision_parallel, kVisionParallel>(), "vision_parallel",
               "Vision parallelism", choices_of(kVisionParallel),
               "tensor: tp splits the heads and MLPs of the tower; every rank of cp encodes all images. "
               "data: every rank holds the whole tower and encodes some images of its microbatch (vLLM "
               "--mm-encoder-tp-mode data); an all-gather over tp and cp collects the image tokens.");
  table.choice(named<workload, &W::vision_stage, kVisionStage>(), "vision_stage", "Vision stage",
               choices_of(kVisionStage),
               "first: the first pipeline stage runs the tower before the embedding. own: the first stage "
               "holds only the tower and its projector and sends image tokens to the second stage, where the "
               "language model begins with the embedding. Decode and steps without images run no tower; its "
               "weights are then on the first stage with the embedding.");
  table.flag(member<workload, &W::vision_recompute>(), "vision_recompute", "Vision recompute",
             "The backward runs each layer of the tower again from its saved input. The setting recompute "
             "concerns only the language model.");
}

void add_optimizer(TableWriter& table) {
  table.choice(named<workload, &W::grad_dtype, kGradDtypes>(), "grad_dtype", "Gradient type",
               choices_of(kGradDtypes),
               "Type in which gradients are accumulated over microbatches and reduced over replicas. "
               "bf16 halves both memory and traffic, at a loss of precision.");
  table.flag(member<workload, &W::master_weights>(), "master_weights", "Master weights",
             "Float32 copies of 16-bit parameters that the optimizer updates, 4 bytes per parameter. Without "
             "them, the optimizer updates the parameters directly. Megatron's --main-params-dtype. FSDP and "
             "float32 training have float32 parameters anyway.");
  table.choice(named<workload, &W::optimizer, kOptimizers>(), "optimizer", "Optimizer",
               choices_of(kOptimizers),
               "Rule of the update. muon: matrices of layers, each expert's among them, have one momentum, "
               "which five Newton-Schulz iterations in bfloat16 orthogonalize (arXiv 2502.16982). Embedding, "
               "head, norms, biases and routers have Adam. Each rank of tp orthogonalizes its part of a "
               "matrix. Under a distributed optimizer, ranks gather the momentum and share the matrices.");
  table.choice(named<workload, &W::moment_dtype, kMomentDtypes>(), "moment_dtype", "Moment type",
               choices_of(kMomentDtypes),
               "Type of the optimizer's two moments: 8 bytes per parameter in fp32, 4 in bf16 or fp16 "
               "(bf16 in DeepSeek-V3), 2 in fp8 with one scale per tensor. Megatron's --exp-avg-dtype "
               "and --exp-avg-sq-dtype. int8-blockwise: a byte per element and a float32 scale per 256 "
               "elements (8-bit Adam of bitsandbytes, Dettmers et al., arXiv 2110.02861).");
}

void add_adapters(TableWriter& table) {
  table.number(
      member<workload, &W::lora_rank>(), "lora_rank", "LoRA rank", "Ra", "", 0, kMaxHidden,
      "Rank of low-rank adapters (LoRA, Hu et al., arXiv 2106.09685). Gradients and optimizer states "
      "belong to adapters alone. All other parameters are frozen: their GEMMs have input gradients, "
      "but no weight gradients. FSDP and ZeRO-3 shard and gather them without reducing anything. "
      "Adapters compute in the data type. 0: no adapters; gradients train all parameters.");
  table.choices(
      kLoraModules, "lora_modules", "LoRA modules", lora_module_choices(),
      "Matrices with an adapter, as target_modules of PEFT without the ending _proj. Experts, routers, "
      "embedding and head have none.");
  table.flag(
      member<workload, &W::lora_packed>(), "lora_packed", "Shared LoRA A",
      "Matrices with the same input share one matrix A, as the packed linear_qkv and linear_fc1 of NeMo "
      "and Megatron Bridge do. Otherwise each matrix has its own A, as in PEFT.");
  table.flag(
      member<workload, &W::lora_dropout>(), "lora_dropout", "LoRA dropout",
      "The input of every adapter goes through a dropout (lora_dropout of PEFT, dropout_position pre of "
      "NeMo). Saves the dropped input and a mask of one byte per element for each matrix A.");
  table.choice(
      named<workload, &W::frozen_dtype, kFrozenWeights>(), "frozen_dtype", "Frozen weight type",
      choices_of(kFrozenWeights),
      "Type of the frozen linear layers next to adapters (QLoRA, Dettmers et al., arXiv 2305.14314, as "
      "bitsandbytes stores them). nf4: half a byte per weight, and a float32 scale per 64 weights. "
      "nf4-double: a byte of scale per 64 weights, and a float32 scale per 256 of these bytes. Every "
      "GEMM first dequantizes its weights to the data type, in the forward and again in the backward. "
      "Embedding and head stay in the data type. Needs compute storage, and a gradient sync that does "
      "not shard parameters.");
}

void add_precision(TableWriter& table) {
  table.section("Precision");
  table.choice(named<workload, &W::dtype, kDtypes>(), "dtype", "Data type", choices_of(kDtypes),
               "Type of parameters and activations. The optimizer keeps a float32 master copy of the "
               "parameters and two moments, 12 bytes per parameter.");
  table.choice(named<workload, &W::compute, kComputes>(), "compute", "GEMM precision", choices_of(kComputes),
               "Precision of GEMMs with weights inside layers. Embedding, head, router and attention core "
               "stay in the data type. Inputs are quantized. Only the quantized copies are saved for the "
               "weight gradient and gathered under sequence parallelism. fp8: one scale per tensor "
               "(Transformer Engine, delayed or current scaling). fp8-blockwise: float32 scales, 1x128 for "
               "activations, 128x128 for weights (DeepSeek-V3, arXiv 2412.19437, section 3.3). mxfp8: an "
               "E8M0 scale per 32. nvfp4: half a byte per number, an E4M3 scale per 16. Weights have two "
               "quantized copies, for the forward and for the input gradient.");
  table.flag(
      member<workload, &W::fp8_params>(), "fp8_params", "FP8 parameters",
      "For Megatron's gradient sync with quantized GEMMs: the weights of these GEMMs exist only in their "
      "quantized type, without a copy in the data type (Megatron's --fp8-param-gather). With fp8 and "
      "fp8-blockwise, the distributed optimizer also gathers updated weights in 8 bits, and buckets "
      "hold parameters of one type. With mxfp8 and nvfp4, it gathers them in the data type, in the "
      "memory of the gradients (--reuse-grad-buf-for-mxfp8-param-ag).");
  table.flag(member<workload, &W::transposed_weights>(), "transposed_weights", "Transposed weights",
             "For GEMM precision fp8: every weight has a second, transposed copy for the input gradient. "
             "GEMMs of Hopper read FP8 operands only in this layout. Blackwell reads both layouts, and "
             "Transformer Engine then makes no transposed copy. Types with a scale per block always have two "
             "copies.");
  table.choice(named<workload, &W::kv_cache_dtype, kCacheDtypes>(), "kv_cache_dtype", "KV cache type",
               choices_of(kCacheDtypes),
               "Type in which inference caches keys and values, or latents. Mixer states have a type of "
               "their own. fp8, with one scale per tensor, halves the cache and its traffic. The GEMMs of "
               "attention stay in the data type.");
  table.choice(named<workload, &W::ssm_state_dtype, kStateDtypes>(), "ssm_state_dtype", "Mixer state type",
               choices_of(kStateDtypes),
               "Type in which inference keeps the states of state-space mixers and of linear attention from "
               "token to token (mamba_ssm_dtype of vLLM). The last inputs of convolutions keep the data "
               "type. Decode reads and writes the whole state for every token.");
  table.choice(named<workload, &W::dispatch_dtype, kDispatchDtypes>(), "dispatch_dtype", "Dispatch type",
               choices_of(kDispatchDtypes),
               "Type in which tokens are sent to their experts. fp8 halves this all-to-all. The "
               "results of experts return in the data type (DeepSeek-V3, arXiv 2412.19437, section "
               "3.3.3).");
  table.choice(
      named<workload, &W::activation_cache, kActivationCaches>(), "activation_cache", "Saved activations",
      choices_of(kActivationCaches),
      "Type in which the forward saves tensors for the backward. fp8: inputs of activation functions "
      "in FP8 with a scale per 128 elements, and outputs of attention in E5M6 (12 bits), from which "
      "the weight gradient of the projection behind attention quantizes again (DeepSeek-V3, arXiv "
      "2412.19437, section 3.3.3). Casts cost time. Other inputs of GEMMs are saved in the type of "
      "compute. Recompute mlp_act and moe_act to save no outputs of activation functions. fp8-inputs: "
      "inputs of activation functions alone, in FP8 without scales (Megatron-core's "
      "activation_func_fp8_input_store).");
  table.flag(
      member<workload, &W::fp8_attention>(), "fp8_attention", "FP8 attention",
      "GEMMs of attention read queries, keys and values in FP8. The backward reads these copies and the "
      "result in FP8, so that the forward saves half the bytes (fp8_dpa of Transformer Engine's "
      "recipes, with NVTE_FP8_DPA_BWD). Needs compute fp8. Not in a ring.");
  add_optimizer(table);
  add_adapters(table);
}

void add_logits_and_slots(TableWriter& table) {
  table.section("Kernels");
  table.number(member<workload, &W::vocab_multiple>(), "vocab_multiple", "Vocabulary multiple", "", "entries",
               1, kMaxVocabMultiple,
               "The vocabulary is padded to a multiple of this number times tp, so that every rank holds the "
               "same number of well-aligned rows. 1: padded only to a multiple of tp.");
  table.flag(
      member<workload, &W::gathered_logits>(), "gathered_logits", "Gather logits",
      "Gathers the logits of the whole vocabulary on every tensor-parallel rank and computes the loss there, "
      "as code without a vocabulary-parallel loss does. Stores b S V float32 values instead of b S V / tp.");
  table.section("Experts");
  table.decimal(member<workload, &W::capacity_factor>(), "capacity_factor", "Capacity factor", 0, 1000000,
                "Slots of an expert as a multiple of its even share of the tokens. Tokens beyond the slots "
                "are dropped. 0: no limit, so no token is dropped.");
  table.flag(member<workload, &W::pad_to_capacity>(), "pad_to_capacity", "Pad to capacity",
             "Every expert computes all slots of its capacity, filled or not. Sizes never change, "
             "but empty slots cost time.");
  table.decimal(member<workload, &W::load_imbalance>(), "load_imbalance", "Load imbalance", 1000, 1000000,
                "Tokens of the busiest expert / even share. Results then describe a rank whose experts all "
                "receive this many tokens; dispatch and combine send the same number.");
  table.section("Kernels");
  table.flag(member<workload, &W::dropout>(), "dropout", "Dropout",
             "Drops activations at random where the architecture has dropout (embedding, residual "
             "branches, attention scores). Saves a mask of one byte per element for the backward.");
  table.flag(member<workload, &W::gradient_accumulation_fusion>(), "gradient_accumulation_fusion",
             "Gradient accumulation fusion",
             "GEMMs of weight gradients add to the gradient buffer, and Transformer Engine keeps one dummy "
             "gradient per shape of weights. Off (Megatron's --no-gradient-accumulation-fusion): every "
             "backward allocates the gradient in the data type and then adds it to the buffer. Changes only "
             "memory, and only with the kernel profiles of Megatron-LM and of Transformer Engine.");
  table.choice(
      named<workload, &W::cuda_graphs, kCudaGraphs>(), "cuda_graphs", "CUDA graphs", choices_of(kCudaGraphs),
      "Kernels that the host replays as CUDA graphs instead of launching one by one (Megatron-core's "
      "--cuda-graph-impl and --cuda-graph-scope). attention: attention with its norm. router: router, top-k "
      "and shared experts (moe_router, moe_preprocess). layer: whole layers. iteration: all forwards and "
      "backwards of a step (full_iteration). A replay costs one launch. layer and iteration need experts "
      "whose numbers of tokens the host does not read: pad_to_capacity, or the dispatcher flex. Tensors of "
      "graphs have a memory pool of their own. The step time changes only if the time of a launch on the "
      "host is known.");
  table.number(
      member<workload, &W::cublas_workspace>(), "cublas_workspace", "cuBLAS workspace", "", "MiB", 0,
      kMaxWorkspace,
      "Workspace of one cuBLAS handle of PyTorch. Training has two handles, because the backward runs "
      "on a thread of its own; inference has one. 0: PyTorch's default, 32 MiB on AMD, Hopper and Blackwell, "
      "8.1 MiB on other GPUs. CUBLAS_WORKSPACE_CONFIG=:4096:8, which deterministic runs set, is 32.");
}

void add_recompute_and_offload(TableWriter& table) {
  table.section("Recompute and offload");
  table.choice(named<workload, &W::recompute, kRecompute>(), "recompute", "Recompute", choices_of(kRecompute),
               "Tensors that the backward recomputes instead of reading saved copies. Selective: chosen "
               "modules run again, by default the attention core. Full: only the inputs of layers are saved, "
               "and the forward of layers runs again, including collectives.");
  table.choices(kRecomputeModules, "recompute_modules", "Recompute modules", recompute_module_choices(),
                "Modules that selective recompute runs again, as in Megatron-core. core_attn, mlp, moe and "
                "shared_experts are checkpointed: input and result stay saved. layernorm, mlp_act, moe_act "
                "and mla_up_proj also discard their result and recompute it for the backward of the ops that "
                "read the result.");
  table.choice(named<workload, &W::recompute_method, kRecomputeMethods>(), "recompute_method",
               "Recompute method", choices_of(kRecomputeMethods),
               "Layers that full recompute runs again. uniform: all layers, in groups of "
               "recompute_num_layers that save one input each. The backward of a group holds the "
               "activations of all its layers. block: the first recompute_num_layers layers of each "
               "virtual stage one by one; the other layers save everything.");
  table.number(
      member<workload, &W::recompute_num_layers>(), "recompute_num_layers", "Recompute layers", "", "layers",
      1, kMaxLayers,
      "For full recompute: layers per group (uniform), or recomputed layers per virtual stage (block).");
  table.flag(member<workload, &W::distribute_saved_activations>(), "distribute_saved_activations",
             "Distribute checkpoints",
             "Under full recompute without sequence parallelism, every tensor-parallel rank saves "
             "1/tp of a layer's input and gathers it before the replay: one more all-gather of b S D "
             "per layer.");
  table.flag(member<workload, &W::offload_optimizer>(), "offload_optimizer", "Offload optimizer",
             "The host stores the optimizer states and updates the parameters (ZeRO-Offload, arXiv "
             "2101.06840; Megatron's --optimizer-cpu-offload). Every step, gradients move to the "
             "host and updated parameters move back.");
  table.decimal(
      member<workload, &W::optimizer_offload_fraction>(), "optimizer_offload_fraction", "Offload fraction", 0,
      1000,
      "Share of the optimizer states and updates that the host takes with offload_optimizer "
      "(Megatron's --optimizer-offload-fraction). The device stores and updates the others. 1: all.");
  table.number(member<workload, &W::offload_activations>(), "offload_activations", "Offload activations", "",
               "layers", 0, kMaxLayers,
               "Number of first layers of each virtual stage whose saved tensors are in host memory. "
               "They are stored after the forward of the layer and loaded before its backward, one "
               "layer ahead (Transformer Engine, CPU offloading). The device holds the tensors of two "
               "layers in transfer.");
}

void add_campaign(TableWriter& table) {
  table.section("Training run", true);
  table.outside_of_steps();
  table.number(member<workload, &W::tokens>(), "tokens", "Training tokens", "", "tokens", 0, kMaxTokens,
               "Tokens of the whole training run. They determine its days, dollars, energy and "
               "interruptions. 0: not set.");
  table.number(member<workload, &W::checkpoint_interval>(), "checkpoint_interval", "Checkpoint interval", "",
               "s", 0, kMaxDuration,
               "Seconds of training between two checkpoints. Short intervals spend more time on saves; long "
               "intervals lose more steps at an interruption. 0: the interval that gives the shortest run.");
  table.number(
      batch_ramp<&BatchRamp::start>(), "batch_ramp_start", "Batch ramp start", "", "sequences", 0, kMaxBatch,
      "Sequences of the first steps of the run. The batch grows from here to the global batch, as with "
      "Megatron's --rampup-batch-size START INCREMENT SAMPLES. Memory and the step time are those of the "
      "global batch; days, dollars and energy count the smaller steps. 0: no ramp.");
  table.number(
      batch_ramp<&BatchRamp::increment>(), "batch_ramp_increment", "Batch ramp increment", "", "sequences", 0,
      kMaxBatch,
      "Sequences that each increase of a batch ramp adds. A whole number of increments leads from the "
      "start to the global batch.");
  table.number(batch_ramp<&BatchRamp::samples>(), "batch_ramp_samples", "Batch ramp length", "", "sequences",
               0, kMaxTokens,
               "Sequences of the run over which the increases of a batch ramp are spread evenly. After them, "
               "steps have the global batch.");
}

}  // namespace

void add_workload(TableWriter& table) {
  table.group(KnobGroup::Workload);
  add_batch(table);
  add_images(table);
  add_precision(table);
  add_logits_and_slots(table);
  add_recompute_and_offload(table);
  table.section("Kernels");
  table.choice(member<workload, &W::profile>(), "profile", "Kernel profile", profiles(),
               "Code base whose kernels run. It decides how ops are fused and which tensors each op saves "
               "for its backward, and therefore the activation memory. In prefill and decode, flash stands "
               "for vllm.");
  add_campaign(table);
}

}  // namespace shardscape
