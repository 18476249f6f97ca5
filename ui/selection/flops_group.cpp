#include "ui/selection/flops_group.h"

#include <QCoreApplication>

namespace shardscape::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("FlopsGroup", text); }

}  // namespace

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
