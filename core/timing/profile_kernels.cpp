#include "timing/profile_kernels.h"

#include "model/library.h"

namespace shardscape {

ProfileKernels profile_kernels(const Structure& structure) {
  ProfileKernels out;
  const KernelProfile* profile = ModelLibrary::instance().profile(structure.profile);
  if (profile) out.separate_experts = profile->separate_experts.value_or(false);
  const KernelRule* rule = profile ? profile->rule(std::string(template_name(OpKind::Attention))) : nullptr;
  if (!rule) return out;
  out.attention = rule->kernel;
  const double plain = dtype_bytes(structure.dtype);
  double read = plain;  // bytes that the next kernel reads
  int kernels = 0;
  for (const KernelStat& stat : rule->stats) {
    if (stat.over == "result" || stat.over == "parameter" || stat.over.starts_with("operand "))
      continue;  // not a tensor of scores
    if (stat.over.find('s') == std::string::npos || stat.over.find('t') == std::string::npos ||
        !applies(structure, stat))
      continue;
    const double bytes = stat.dtype == DType::BF16 ? plain : dtype_bytes(stat.dtype);
    out.forward += bytes;
    out.backward += bytes;
    if (stat.dtype == DType::Bool) continue;  // the kernel of the next tensor writes it too
    out.forward += read;
    out.backward += 2 * plain;
    if (++kernels > 1) out.backward -= bytes;  // the gradient does not read the result of a mask or a cast
    read = bytes;
  }
  return out;
}

}  // namespace shardscape
