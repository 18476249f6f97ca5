#include "timing/profile_kernels.h"

#include "model/library.h"

namespace shardscape {

ProfileKernels profile_kernels(const Structure& structure) {
  ProfileKernels out;
  const KernelProfile* profile = ModelLibrary::instance().profile(structure.profile);
  if (profile) out.separate_experts = profile->separate_experts.value_or(false);
  if (profile) out.expert_bias = profile->expert_bias.value_or(std::array<double, 2>{});
  const KernelRule* rule = profile ? profile->rule(std::string(template_name(OpKind::Attention))) : nullptr;
  if (!rule) return out;
  out.attention = rule->kernel;
  const double plain = dtype_bytes(structure.dtype);
  double read = plain;  // by the kernel that writes the next one
  int kernels = 0;
  for (const KernelStat& stat : rule->stats) {
    if (stat.over == "result" || stat.over == "parameter" || stat.over.starts_with("operand "))
      continue;  // no letters of scores
    if (stat.over.find('s') == std::string::npos || stat.over.find('t') == std::string::npos ||
        !applies(structure, stat))
      continue;
    const double bytes = stat.dtype == DType::BF16 ? plain : dtype_bytes(stat.dtype);
    out.forward += bytes;
    out.backward += bytes;
    if (stat.dtype == DType::Bool) continue;  // written beside the next one
    out.forward += read;
    out.backward += 2 * plain;
    if (++kernels > 1) out.backward -= bytes;  // of what a mask or a cast made, the gradient does not ask
    read = bytes;
  }
  return out;
}

}  // namespace shardscape
