#include "ui/selection/flops_group.h"

#include <QCoreApplication>

namespace shardscape::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("FlopsGroup", text); }

}  // namespace

FlopsGroup flops_group(OpKind kind) {
  switch (kind) {
    case OpKind::Einsum: return FlopsGroup::MatrixProducts;
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

QString flops_group_label(FlopsGroup group) {
  switch (group) {
    case FlopsGroup::MatrixProducts: return tr("Matrix products");
    case FlopsGroup::Attention: return tr("Attention, scan");
    case FlopsGroup::Activation: return tr("Activation functions");
    case FlopsGroup::Embedding: return tr("Embedding");
    case FlopsGroup::Loss: return tr("Loss");
    case FlopsGroup::Pointwise: return tr("Norms and pointwise");
    case FlopsGroup::Optimizer: return tr("Optimizer");
  }
  return {};
}

}  // namespace shardscape::ui
