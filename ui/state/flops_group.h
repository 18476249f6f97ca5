// The many kinds of op in the few groups that bars and tables show.
#pragma once

#include <cstdint>

#include "graph/op_kind.h"

namespace shardscape::ui {

enum class FlopsGroup : uint8_t { Products, Attention, Activation, Embedding, Loss, Pointwise, Optimizer };

FlopsGroup flops_group(OpKind kind);

}  // namespace shardscape::ui
