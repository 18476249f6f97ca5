// The device mesh as a table: a row per pipeline stage, a column per replica (dp x cp), a cell per tp rank in
// a column.
#pragma once

#include "mesh/mesh.h"

namespace shardscape::ui {

struct MeshPlace {
  int64_t stage = 0, column = 0, cell = 0;
  friend bool operator==(const MeshPlace&, const MeshPlace&) = default;
};

class MeshGrid {
 public:
  // domain: ranks of a scale-up domain. A domain of several nodes is a rack.
  MeshGrid(const DeviceMesh& mesh, int64_t gpus_per_node, int64_t domain = 0)
      : mesh_(mesh),
        gpus_per_node_(gpus_per_node),
        ranks_per_rack_(domain > gpus_per_node ? domain : 0),
        // Neighbouring columns are neighbouring ranks: the axis that varies faster is the minor one.
        minor_(mesh.with(0, MeshAxis::Dp, 1) < mesh.with(0, MeshAxis::Cp, 1) ? MeshAxis::Dp : MeshAxis::Cp),
        major_(minor_ == MeshAxis::Dp ? MeshAxis::Cp : MeshAxis::Dp) {}

  const DeviceMesh& mesh() const { return mesh_; }
  int64_t ranks() const { return mesh_.ranks(); }
  int64_t stages() const { return mesh_.degree(MeshAxis::Pp); }
  int64_t columns() const { return mesh_.degree(MeshAxis::Dp) * mesh_.degree(MeshAxis::Cp); }
  int64_t cells() const { return mesh_.degree(MeshAxis::Tp); }
  int64_t gpusPerNode() const { return gpus_per_node_; }
  int64_t node(int64_t rank) const { return rank / gpus_per_node_; }
  bool hasRacks() const { return ranks_per_rack_ > 0; }
  int64_t ranksPerRack() const { return ranks_per_rack_; }
  int64_t rack(int64_t rank) const { return rank / ranks_per_rack_; }  // only with racks
  // The number whose parity colours the ground: of the rack, else of the node.
  int64_t ground(int64_t rank) const { return hasRacks() ? rack(rank) : node(rank); }

  MeshPlace place(int64_t rank) const {
    return {mesh_.coordinate(rank, MeshAxis::Pp),
            mesh_.coordinate(rank, major_) * mesh_.degree(minor_) + mesh_.coordinate(rank, minor_),
            mesh_.coordinate(rank, MeshAxis::Tp)};
  }
  int64_t rank(const MeshPlace& place) const {
    const int64_t at_stage = mesh_.with(0, MeshAxis::Pp, place.stage);
    const int64_t at_major = mesh_.with(at_stage, major_, place.column / mesh_.degree(minor_));
    return mesh_.with(mesh_.with(at_major, minor_, place.column % mesh_.degree(minor_)), MeshAxis::Tp,
                      place.cell);
  }

 private:
  DeviceMesh mesh_;
  int64_t gpus_per_node_, ranks_per_rack_;
  MeshAxis minor_, major_;
};

}  // namespace shardscape::ui
