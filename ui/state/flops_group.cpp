#include "ui/state/flops_group.h"

namespace shardscape::ui {

FlopsGroup flops_group(OpKind kind) {
  switch (kind) {
    case OpKind::Einsum: return FlopsGroup::Products;
    case OpKind::SelectiveScan:
    case OpKind::Ssd:
    case OpKind::Attention: return FlopsGroup::Attention;
    case OpKind::SwiGlu:
    case OpKind::GeGlu:
    case OpKind::CausalConv:
    case OpKind::GroupRmsNorm:
    case OpKind::SigmoidGate:
    case OpKind::SoftmaxTopK:
    case OpKind::SigmoidTopK:
    case OpKind::Dropout:
    case OpKind::Gelu: return FlopsGroup::Activation;
    case OpKind::Embed:
    case OpKind::PositionAdd: return FlopsGroup::Embedding;
    case OpKind::SoftCap:
    case OpKind::ReduceMax:
    case OpKind::SumExp:
    case OpKind::Pick:
    case OpKind::Nll: return FlopsGroup::Loss;
    case OpKind::Optimizer: return FlopsGroup::Optimizer;
    default: return FlopsGroup::Pointwise;
  }
}

}  // namespace shardscape::ui
