// Bytes that an engine adds to the stored weights, because its kernels need sizes in multiples.
#pragma once

#include <cstdint>

#include "design/design.h"
#include "hardware/accelerator.h"

namespace shardscape {

// vLLM pads experts in MXFP4, by the kernel of its mixture of experts
// (vllm/model_executor/layers/quantization/ mxfp4.py, create_weights; utils/mxfp4_utils.py, _swizzle_mxfp4).
// D: hidden size, F: width of an expert on a rank.
//   Marlin             D to multiples of 256, F of 128
//   FlashInfer         D and F to multiples of 256, on accelerators that multiply FP4
//   Triton, otherwise  the summed dimension of each matrix to multiples of 256, without its scales
// gpt-oss-120b takes 65.97 GiB with Marlin and 64.38 GiB with Triton on an H100; its checkpoint has 60.8 GiB.
// Returns bytes of one rank with so many layers of experts; 0 for other formats.
int64_t vllm_padding_bytes(const Design& design, const Accelerator& accelerator, bool marlin,
                           int64_t expert_layers);

}  // namespace shardscape
