// Seconds of a segment as a layer of some class runs it: its forward, the replay of it, its backward, and
// where that is split what makes gradients of weights.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "timing/op_seconds.h"

namespace shardscape {

struct PartSeconds {
  double seconds = 0;
  CategorySeconds categories{};  // add up to seconds
  double communication = 0;      // hidden or not
  double host = 0;               // seconds that the host takes to launch it
  LinkShare links{};             // that its collectives take, times the seconds that they do
};

struct LayerSeconds {
  PartSeconds parts[4];
  double host_bytes = 0;  // where offloaded: what goes to the host and comes back
  const PartSeconds& of(Part part) const { return parts[static_cast<size_t>(part)]; }
};

// What crosses from one stage to the next in a microbatch (plan/stage_boundary.h).
struct Boundary {
  double message_bytes = 0, stream_bytes = 0;
  MeshAxes gathered;
};

Part part_of(const Structure& structure, const Segment& segment, OpId op);

// Made once for each segment and class of its layers.
class LayerTable {
 public:
  LayerTable(const Report& report, const Machine& machine);
  // One that was made for a report with the same numbers, all of it.
  explicit LayerTable(std::shared_ptr<const LayerTable> made) : made_(std::move(made)) {}
  void make_all();                                     // and forgets the report, and the ops
  const LayerSeconds& at(int segment, LayerClass of);  // stays where it is
  const Boundary& boundary();
  const OpSeconds& ops() const { return ops_; }
  size_t bytes() const { return sizeof *this + layers_.size() * (sizeof(LayerSeconds) + 64); }

 private:
  std::shared_ptr<const LayerTable> made_;
  const Report* report_ = nullptr;
  OpSeconds ops_;
  double launch_ = 0;  // of one op
  std::map<std::pair<int, LayerClass>, LayerSeconds> layers_;
  std::optional<Boundary> boundary_;
};

}  // namespace shardscape
