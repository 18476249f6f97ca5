// The table of roles: what a colour stands for. One role has one colour in every view. Roles that one chart
// shows together differ by hue, also under deuteranopia, or one of them is hatched
// (tests/ui/toolkit/roles_test.cpp).
#pragma once

#include <QColor>
#include <QString>
#include <bitset>
#include <string>

#include "graph/graph.h"
#include "plan/step_model.h"
#include "timing/simulation.h"

namespace shardscape::ui {

enum class Role : uint8_t {
  Parameters,
  Gradients,
  Optimizer,  // its states in memory, its update in time
  Activations,
  Logits,
  KvCache,
  Buffers,
  Runtime,
  // Work.
  MatrixProducts,
  Attention,
  ActivationFunctions,
  MemoryBound,
  Embedding,
  Loss,
  Routing,
  OtherOps,
  // Communication, by group.
  TensorParallel,
  ContextParallel,
  ExpertParallel,
  Pipeline,
  DataParallel,  // gradient sync
  OtherGroups,
  // Passes.
  Forward,
  Recompute,
  Backward,
  WeightGradient,
  Host,
  Bubble
};
inline constexpr int kRoleCount = static_cast<int>(Role::Bubble) + 1;
using Roles = std::bitset<kRoleCount>;

enum class RoleFill : uint8_t { Solid, Hatched, Dotted };
RoleFill fill_of(Role role);
QColor color_of(Role role);   // in the present theme
QString label_of(Role role);  // in legends: "sync"

Role role_of(MemoryCategory category);
Role role_of(TimeCategory category);
Role role_of(SpanKind kind);
Role role_of(OpKind kind);
Role role_of(const Op& op);                    // collectives by their group
Role role_of_group(const std::string& group);  // "tp", "dp_cp"

}  // namespace shardscape::ui
