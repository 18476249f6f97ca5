#include "profile/kernel_class.h"

#include <algorithm>
#include <array>
#include <utility>

namespace shardscape {
namespace {

using Category = ProfileCategory;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

struct Rule {
  std::string_view part;  // of the name in lower case
  Category category;
};

// The first rule whose text is in the name decides. Texts are parts of names in NCCL, RCCL, cuBLAS, cuDNN,
// CUTLASS, hipBLASLt, MIOpen, Composable Kernel, FlashAttention, FlashInfer, TensorRT-LLM, vLLM, SGLang,
// AITER, Apex, FBGEMM, ATen, CUB, Thrust and of Triton kernels that torch.compile makes.
constexpr Rule kKernelRules[] = {
    {"sendrecv", Category::Messages},
    {"nccl", Category::Collectives},
    {"rccl", Category::Collectives},
    {"msccl", Category::Collectives},
    {"cross_device_reduce", Category::Collectives},
    {"allreduce", Category::Collectives},
    {"all_reduce", Category::Collectives},
    {"allgather", Category::Collectives},
    {"all_gather", Category::Collectives},
    {"reduce_scatter", Category::Collectives},
    {"reducescatter", Category::Collectives},
    {"alltoall", Category::Collectives},
    {"nvshmem", Category::Collectives},
    {"deep_ep", Category::Collectives},
    {"adam", Category::Optimizer},
    {"adagrad", Category::Optimizer},
    {"lamb_", Category::Optimizer},
    {"sgd_", Category::Optimizer},
    {"fusedsgd", Category::Optimizer},
    {"muon", Category::Optimizer},
    {"multi_tensor", Category::Optimizer},
    {"triton_poi", Category::MemoryBound},
    {"triton_red", Category::MemoryBound},
    {"triton_per", Category::MemoryBound},
    {"rmsnorm", Category::MemoryBound},
    {"layer_norm", Category::MemoryBound},
    {"layernorm", Category::MemoryBound},
    {"batch_norm", Category::MemoryBound},
    {"batchnorm", Category::MemoryBound},
    {"bn_fw", Category::MemoryBound},
    {"bn_bw", Category::MemoryBound},
    {"at::native::", Category::MemoryBound},
    {"cub::", Category::MemoryBound},
    {"thrust::", Category::MemoryBound},
    {"fbgemm_gpu", Category::MemoryBound},
    {"fmha", Category::Attention},
    {"kvcache", Category::MemoryBound},
    {"kv_cache", Category::MemoryBound},
    {"rotary", Category::MemoryBound},
    {"_rope", Category::MemoryBound},
    {"kv_indices", Category::MemoryBound},
    {"reshape_and_cache", Category::MemoryBound},
    {"routing", Category::MemoryBound},
    {"finalizekernel", Category::MemoryBound},
    {"moe_align", Category::MemoryBound},
    {"softmax", Category::MemoryBound},
    {"nchwtonhwc", Category::MemoryBound},
    {"nhwctonchw", Category::MemoryBound},
    {"_quant_kernel", Category::MemoryBound},
    {"act_and_mul", Category::MemoryBound},
    {"attention", Category::Attention},
    {"attn_fwd", Category::Attention},
    {"attn_bwd", Category::Attention},
    {"bwd_kernel_dk_dv", Category::Attention},
    {"bwd_kernel_dq", Category::Attention},
    {"bwd_preprocess", Category::Attention},
    {"flash_fwd", Category::Attention},
    {"flash_bwd", Category::Attention},
    {"flash::", Category::Attention},
    {"flash_attn", Category::Attention},
    {"flashattn", Category::Attention},
    {"flash_mla", Category::Attention},
    {"sdpa", Category::Attention},
    {"_mla_", Category::Attention},
    {"batchdecode", Category::Attention},
    {"batchprefill", Category::Attention},
    {"selective_scan", Category::Attention},
    {"chunk_scan", Category::Attention},
    {"chunk_state", Category::Attention},
    {"state_passing", Category::Attention},
    {"chunk_gated_delta", Category::Attention},
    {"causal_conv1d", Category::Attention},
    {"gemm", Category::MatrixProducts},
    {"gemv", Category::MatrixProducts},
    {"gemmk", Category::MatrixProducts},
    {"cijk_", Category::MatrixProducts},
    {"nvjet", Category::MatrixProducts},
    {"xmma", Category::MatrixProducts},
    {"cutlass", Category::MatrixProducts},
    {"matmul", Category::MatrixProducts},
    {"bmm_", Category::MatrixProducts},
    {"_mm_", Category::MatrixProducts},
    {"fused_moe", Category::MatrixProducts},
    {"splitkreduce", Category::MatrixProducts},
    {"cublaslt", Category::MatrixProducts},
    {"cublas", Category::MatrixProducts},
    {"dot_kernel", Category::MatrixProducts},
    {"scudnn", Category::MatrixProducts},
    {"convolve", Category::MatrixProducts},
    {"convolution", Category::MatrixProducts},
    {"conv_depthwise", Category::MatrixProducts},
    {"dgrad", Category::MatrixProducts},
    {"wgrad", Category::MatrixProducts},
    {"fprop", Category::MatrixProducts},
    {"winograd", Category::MatrixProducts},
    {"naive_conv", Category::MatrixProducts},
    {"miopensp3asmconv", Category::MatrixProducts},
    {"im2col", Category::MatrixProducts},
    {"col2im", Category::MatrixProducts},
    {"fft2d", Category::MatrixProducts},
    {"cask_cudnn", Category::MatrixProducts},
    {"elementwise", Category::MemoryBound},
    {"reduce", Category::MemoryBound},
    {"copy", Category::MemoryBound},
    {"memset", Category::MemoryBound},
    {"fill", Category::MemoryBound},
    {"transpose", Category::MemoryBound},
    {"permute", Category::MemoryBound},
    {"embedding", Category::MemoryBound},
    {"embs", Category::MemoryBound},
    {"dropout", Category::MemoryBound},
    {"norm", Category::MemoryBound},
    {"pool", Category::MemoryBound},
    {"topk", Category::MemoryBound},
    {"sort", Category::MemoryBound},
    {"scatter", Category::MemoryBound},
    {"gather", Category::MemoryBound},
    {"index", Category::MemoryBound},
    {"indices", Category::MemoryBound},
    {"offsets", Category::MemoryBound},
    {"cast", Category::MemoryBound},
    {"quant", Category::MemoryBound},
    {"scale", Category::MemoryBound},
    {"silu", Category::MemoryBound},
    {"gelu", Category::MemoryBound},
    {"cross_entropy", Category::MemoryBound},
    {"nll", Category::MemoryBound},
    {"finalize", Category::MemoryBound},
    {"compute_cuda_kernel", Category::MemoryBound},
    {"op_tensor", Category::MemoryBound},
    {"optensor", Category::MemoryBound},
    {"bitmatrix", Category::MemoryBound},
    {"position", Category::MemoryBound},
    {"subtensor", Category::MemoryBound},
    {"triton_", Category::MemoryBound},
};

// Ops whose kernels have names of their own making.
constexpr Rule kOpRules[] = {
    {"attention", Category::Attention},   {"flash", Category::Attention},
    {"mm", Category::MatrixProducts},     {"linear", Category::MatrixProducts},
    {"matmul", Category::MatrixProducts}, {"conv", Category::MatrixProducts},
    {"einsum", Category::MatrixProducts}, {"c10d::", Category::Collectives},
    {"nccl:", Category::Collectives},     {"record_param_comms", Category::Collectives},
    {"aten::", Category::MemoryBound},
};

template <size_t N>
std::optional<Category> first_match(const Rule (&rules)[N], std::string_view name) {
  for (const Rule& rule : rules)
    if (name.find(rule.part) != std::string_view::npos) return rule.category;
  return std::nullopt;
}

struct KindName {
  std::string_view part;
  CollectiveKind kind;
};
// Names without "_" and in lower case. Longer names stand in front of their parts.
constexpr KindName kKinds[] = {
    {"reducescatter", CollectiveKind::ReduceScatter},
    {"allreduce", CollectiveKind::AllReduce},
    {"allgather", CollectiveKind::AllGather},
    {"alltoall", CollectiveKind::AllToAll},
    {"broadcast", CollectiveKind::Broadcast},
    {"sendrecv", CollectiveKind::SendRecv},
    {"send", CollectiveKind::SendRecv},
    {"recv", CollectiveKind::SendRecv},
    {"crossdevicereduce", CollectiveKind::AllReduce},
    {"reduce", CollectiveKind::Reduce},
};

std::optional<CollectiveKind> kind_of(std::string_view name) {
  std::string plain = lower(name);
  std::erase(plain, '_');
  // NCCL names its kernels ncclDevKernel_AllReduce_Sum_..., PyTorch its calls _allgather_base.
  for (const KindName& kind : kKinds)
    if (plain.find(kind.part) != std::string::npos) return kind.kind;
  return std::nullopt;
}

struct TypeName {
  std::string_view torch, name;
  int64_t bytes;
};
constexpr TypeName kTypes[] = {
    {"c10::bfloat16", "bfloat16", 2},
    {"bfloat16", "bfloat16", 2},
    {"c10::half", "float16", 2},
    {"half", "float16", 2},
    {"float16", "float16", 2},
    {"float", "float32", 4},
    {"float32", "float32", 4},
    {"double", "float64", 8},
    {"float64", "float64", 8},
    {"c10::float8_e4m3fn", "float8", 1},
    {"float8_e4m3fn", "float8", 1},
    {"float8_e4m3fnuz", "float8", 1},
    {"float8_e5m2", "float8", 1},
    {"byte", "uint8", 1},
    {"char", "int8", 1},
    {"int", "int32", 4},
    {"long", "int64", 8},
    {"long int", "int64", 8},
    {"bool", "bool", 1},
};
const TypeName* find_type(std::string_view type) {
  const std::string small = lower(type);
  const auto at = std::find_if(std::begin(kTypes), std::end(kTypes),
                               [&](const TypeName& t) { return t.torch == small || t.name == small; });
  return at == std::end(kTypes) ? nullptr : &*at;
}

struct CategoryText {
  std::string_view name, label;
};
constexpr std::array<CategoryText, kProfileCategoryCount> kCategories{
    {{"matrix_products", "Matrix products"},
     {"attention", "Attention"},
     {"optimizer", "Optimizer"},
     {"memory_bound", "Memory-bound kernels"},
     {"unknown", "Kernels of unknown kind"},
     {"copies", "Copies and fills"},
     {"collectives", "Exposed collectives"},
     {"messages", "Exposed sends and receives"},
     {"launch_gaps", "Launch gaps"},
     {"other_idle", "Other idle time"}}};

}  // namespace

std::string_view profile_category_name(Category category) {
  return kCategories[static_cast<size_t>(category)].name;
}
std::string_view profile_category_label(Category category) {
  return kCategories[static_cast<size_t>(category)].label;
}

Category kernel_category(std::string_view kernel, std::string_view op, bool in_optimizer) {
  std::optional<Category> found = first_match(kKernelRules, lower(kernel));
  if (!found && !op.empty()) found = first_match(kOpRules, op);
  if (in_optimizer && (!found || *found == Category::MemoryBound)) return Category::Optimizer;
  return found.value_or(Category::Unknown);
}

std::string profiled_dtype(std::string_view type) {
  const TypeName* found = find_type(type);
  return found ? std::string(found->name) : lower(type);
}
int64_t profiled_dtype_bytes(std::string_view type) {
  const TypeName* found = find_type(type);
  return found ? found->bytes : 0;
}

std::optional<ProfiledCollective> profiled_collective(const Profile& profile, const DeviceSpan& span) {
  if (span.work != DeviceWork::Kernel) return std::nullopt;
  if (span.collective < 0) {
    const Category category = kernel_category(profile.name(span), {}, false);
    if (category != Category::Collectives && category != Category::Messages) return std::nullopt;
    const auto kind = kind_of(profile.name(span));
    if (!kind) return std::nullopt;
    ProfiledCollective out;
    out.kind = *kind;
    return out;
  }
  const CollectiveArguments& call = profile.collectives[static_cast<size_t>(span.collective)];
  const auto kind = kind_of(call.name);
  if (!kind) return std::nullopt;
  ProfiledCollective out;
  out.kind = *kind;
  out.group_size = call.group_size;
  out.dtype = call.dtype.empty() ? "" : profiled_dtype(call.dtype);
  out.group = call.group_meaning.empty() ? call.group : call.group_meaning;
  const int64_t full = *kind == CollectiveKind::AllGather ? call.out_elements
                                                          : std::max(call.in_elements, call.out_elements);
  const int64_t elements = *kind == CollectiveKind::ReduceScatter || *kind == CollectiveKind::AllToAll
                               ? call.in_elements
                               : full;
  if (elements < 0) return out;
  out.elements = elements;
  const int64_t size = profiled_dtype_bytes(call.dtype);
  if (size > 0 && elements <= INT64_MAX / 16) out.bytes = elements * size;
  return out;
}

}  // namespace shardscape
