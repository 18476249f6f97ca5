// The names of the groups of ops that bars and tables show.
#pragma once

#include <QString>

#include "graph/op_kind.h"

namespace shardscape::ui {

QString flops_group_label(FlopsGroup group);  // "Matrix products"

}  // namespace shardscape::ui
