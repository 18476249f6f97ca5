// Seconds of a layer: a segment under one layer class (checkpoint policy, offload). Parts are forward,
// replay, backward and, in a split backward, weight gradients.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "timing/concurrent_ops.h"
#include "timing/expert_phases.h"
#include "timing/op_seconds.h"

namespace shardscape {

struct PartSeconds {
  double seconds = 0;
  CategorySeconds categories{};  // add up to seconds
  double communication = 0;      // seconds of collectives, hidden or not
  double hidden = 0;             // of collectives of concurrent blocks: seconds that compute hides
  double launches = 0;           // seconds that the host needs to launch the part
  bool host_waits = false;       // the host reads the routing during the part: it is busy until the part ends
  double host() const { return host_waits ? std::max(launches, seconds) : launches; }
  // Share of the links that the collectives take, times their seconds.
  LinkShare links{};
  ExpertPhases phases{};
};

struct LayerSeconds {
  PartSeconds parts[4];
  double host_bytes = 0;  // offloaded bytes, in each direction
  const PartSeconds& of(Part part) const { return parts[static_cast<size_t>(part)]; }
};

// The message between two stages, for one microbatch (plan/stage_boundary.h): bytes of the message and of the
// residual stream, and the axes of the all-gather.
struct Boundary {
  double message_bytes = 0, stream_bytes = 0;
  MeshAxes gathered;
  double image_bytes = 0;  // of the message of a tower on a stage of its own
};

// Entries are made on first use, one per segment and layer class.
class LayerTable {
 public:
  LayerTable(const Report& report, const Machine& machine);
  // Wraps a complete table that was made for a report with equal numbers.
  explicit LayerTable(std::shared_ptr<const LayerTable> made) : made_(std::move(made)) {}
  // Makes all entries, then releases the report and the ops.
  void fill_all();
  const LayerSeconds& at(int segment, LayerClass of);  // the reference stays valid
  const Boundary& boundary();
  // The ops of a part of a layer whose segment has concurrent blocks. Not of a table that wraps another one.
  ConcurrentPart concurrent(int segment, LayerClass of, Part part) const;
  const OpSeconds& ops() const { return ops_; }
  size_t bytes() const { return sizeof *this + layers_.size() * (sizeof(LayerSeconds) + 64); }

 private:
  // The ops of a part, in the order of the segment.
  std::vector<OpId> ops_of(int segment, LayerClass of, Part part) const;

  std::shared_ptr<const LayerTable> made_;
  const Report* report_ = nullptr;
  OpSeconds ops_;
  double launch_ = 0;          // seconds of one kernel launch on the host
  double exchanges_slow_ = 0;  // slower_share() of dispatch_sms
  std::map<std::pair<int, LayerClass>, LayerSeconds> layers_;
  std::optional<Boundary> boundary_;
};

}  // namespace shardscape
