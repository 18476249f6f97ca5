#include "ui/toolkit/roles.h"

#include <QCoreApplication>
#include <algorithm>
#include <iterator>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

struct RoleRow {
  Role role;
  QColor Colors::*colour;
  RoleFill fill;
  const char* label;
  const char* own = nullptr;  // a colour of this role alone
};
constexpr RoleRow kRoles[] = {
    {Role::Parameters, &Colors::parameters, RoleFill::Solid, "parameters"},
    {Role::Gradients, &Colors::gradients, RoleFill::Solid, "gradients"},
    {Role::Optimizer, &Colors::optimizer, RoleFill::Solid, "optimizer"},
    {Role::Activations, &Colors::activations, RoleFill::Solid, "activations"},
    {Role::Logits, &Colors::logits, RoleFill::Solid, "logits"},
    {Role::KvCache, &Colors::kv_cache, RoleFill::Hatched, "KV cache"},
    {Role::Buffers, &Colors::buffers, RoleFill::Solid, "buffers"},
    {Role::Runtime, &Colors::runtime, RoleFill::Solid, "runtime"},
    {Role::MatrixProducts, &Colors::parameters, RoleFill::Solid, "GEMMs"},
    {Role::Attention, &Colors::buffers, RoleFill::Solid, "attention"},
    {Role::ActivationFunctions, &Colors::gradients, RoleFill::Solid, "activation functions"},
    {Role::MemoryBound, &Colors::gradients, RoleFill::Solid, "memory-bound"},
    {Role::Embedding, &Colors::weight_gradient, RoleFill::Solid, "embedding"},
    {Role::Loss, &Colors::logits, RoleFill::Solid, "loss"},
    {Role::Routing, &Colors::runtime, RoleFill::Solid, "routing", "#8C5A3C"},
    {Role::OtherOps, &Colors::runtime, RoleFill::Solid, "norms and other ops"},
    {Role::TensorParallel, &Colors::communication, RoleFill::Solid, "tp"},
    {Role::ContextParallel, &Colors::parameters, RoleFill::Hatched, "cp"},
    {Role::ExpertParallel, &Colors::logits, RoleFill::Solid, "ep"},
    {Role::Pipeline, &Colors::weight_gradient, RoleFill::Hatched, "messages"},
    {Role::DataParallel, &Colors::gradient_sync, RoleFill::Hatched, "sync"},
    {Role::OtherGroups, &Colors::runtime, RoleFill::Solid, "other groups"},
    {Role::Forward, &Colors::gradients, RoleFill::Solid, "forward"},
    {Role::Recompute, &Colors::parameters, RoleFill::Dotted, "recompute"},
    {Role::Backward, &Colors::parameters, RoleFill::Solid, "backward"},
    {Role::WeightGradient, &Colors::weight_gradient, RoleFill::Solid, "weight grad (w)"},
    {Role::Host, &Colors::runtime, RoleFill::Hatched, "host"},
    {Role::Bubble, &Colors::idle, RoleFill::Solid, "bubble"},
};
static_assert(std::size(kRoles) == kRoleCount, "every role has a row");

const RoleRow& row_of(Role role) { return kRoles[static_cast<size_t>(role)]; }

bool starts(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

}  // namespace

RoleFill fill_of(Role role) { return row_of(role).fill; }

QColor color_of(Role role) {
  const RoleRow& row = row_of(role);
  return row.own ? QColor(QLatin1String(row.own)) : Theme::instance().colors().*row.colour;
}

QString label_of(Role role) { return QCoreApplication::translate("Roles", row_of(role).label); }

Role role_of(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::Parameters: return Role::Parameters;
    case MemoryCategory::Gradients: return Role::Gradients;
    case MemoryCategory::Optimizer: return Role::Optimizer;
    case MemoryCategory::Activations: return Role::Activations;
    case MemoryCategory::Logits: return Role::Logits;
    case MemoryCategory::KvCache: return Role::KvCache;
    case MemoryCategory::Buffers: return Role::Buffers;
    case MemoryCategory::Runtime: return Role::Runtime;
  }
  return Role::Runtime;
}

Role role_of(TimeCategory category) {
  switch (category) {
    case TimeCategory::MatrixProducts: return Role::MatrixProducts;
    case TimeCategory::Attention: return Role::Attention;
    case TimeCategory::MemoryBound: return Role::MemoryBound;
    case TimeCategory::TensorComm: return Role::TensorParallel;
    case TimeCategory::ContextComm: return Role::ContextParallel;
    case TimeCategory::ExpertComm: return Role::ExpertParallel;
    case TimeCategory::PipelineComm: return Role::Pipeline;
    case TimeCategory::DataComm: return Role::DataParallel;
    case TimeCategory::Host: return Role::Host;
    case TimeCategory::Optimizer: return Role::Optimizer;
    case TimeCategory::Bubble: return Role::Bubble;
  }
  return Role::Bubble;
}

Role role_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::Forward: return Role::Forward;
    case SpanKind::Recompute: return Role::Recompute;
    case SpanKind::Backward:
    case SpanKind::BackwardInput: return Role::Backward;
    case SpanKind::BackwardWeight: return Role::WeightGradient;
    case SpanKind::Collective: return Role::DataParallel;
    case SpanKind::Send:
    case SpanKind::Receive: return Role::Pipeline;
    case SpanKind::Store:
    case SpanKind::Load: return Role::Host;
    case SpanKind::Optimizer: return Role::Optimizer;
  }
  return Role::OtherOps;
}

Role role_of(OpKind kind) {
  if (is_redistribution(kind)) return Role::TensorParallel;
  if (is_routing(kind) && !is_relabelling(kind)) return Role::Routing;
  switch (flops_group(kind)) {
    case FlopsGroup::MatrixProducts: return Role::MatrixProducts;
    case FlopsGroup::Attention: return Role::Attention;
    case FlopsGroup::Activation: return Role::ActivationFunctions;
    case FlopsGroup::Embedding: return Role::Embedding;
    case FlopsGroup::Loss: return Role::Loss;
    case FlopsGroup::Pointwise:
    case FlopsGroup::Optimizer: return Role::OtherOps;
  }
  return Role::OtherOps;
}

Role role_of(const Op& op) {
  return is_collective(op.kind) ? role_of_group(group_name(redistribution(op).group)) : role_of(op.kind);
}

Role role_of_group(const std::string& group) {
  if (starts(group, "dp") || group == "edp" || starts(group, "edp_") || group == "embedding" ||
      group == "mirror")
    return Role::DataParallel;
  if (('_' + group).find("_ep") != std::string::npos || group.find("etp") != std::string::npos)
    return Role::ExpertParallel;
  if (starts(group, "cp")) return Role::ContextParallel;
  if (starts(group, "tp")) return Role::TensorParallel;
  return group == "pp" ? Role::Pipeline : Role::OtherGroups;
}

}  // namespace shardscape::ui
