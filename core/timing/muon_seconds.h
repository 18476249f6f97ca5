// Seconds of Muon's Newton-Schulz iterations.
#pragma once

#include "grad_sync/muon.h"
#include "performance/machine.h"
#include "symbolic/binding.h"

namespace shardscape {

// Of the matrices that a rank orthogonalizes in a step, one after another: matrix products of bfloat16, each
// in a kernel of its own, as Muon's loop over parameters launches them.
double newton_schulz_seconds(const Machine& machine, const MuonWork& muon, const Binding& stage);

}  // namespace shardscape
