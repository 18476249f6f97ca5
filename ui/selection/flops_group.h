// The many kinds of op in the few groups that bars and tables show.
#pragma once

#include <QString>
#include <cstdint>

#include "graph/op_kind.h"

namespace shardscape::ui {

enum class FlopsGroup : uint8_t {
  MatrixProducts,
  Attention,
  Activation,
  Embedding,
  Loss,
  Pointwise,
  Optimizer
};

FlopsGroup flops_group(OpKind kind);
QString flops_group_label(FlopsGroup group);  // "Matrix products"

}  // namespace shardscape::ui
