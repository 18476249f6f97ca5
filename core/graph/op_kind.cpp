#include "graph/op_kind.h"

#include <array>

namespace shardscape {
namespace {

constexpr std::array<std::string_view, kPhaseCount> kPhases{
    "forward", "backward", "recompute", "pipeline", "grad_reduce", "param_gather", "step"};

}  // namespace

std::string_view phase_name(Phase phase) { return kPhases[static_cast<size_t>(phase)]; }

}  // namespace shardscape
