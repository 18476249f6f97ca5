// Texts of the mesh: the sentence above the mesh, tool tips, the inspector, the CSV of all ranks.
#pragma once

#include "ui/selection/inspection.h"
#include "ui/views/communication/mesh_layout.h"
#include "ui/views/communication/rank_groups.h"

namespace shardscape::ui {

QString members_text(const MeshGrid& grid, const RankGroup& group);  // "tp group of 8 inside node 588"
QString mesh_sentence(const MeshGrid& grid, int64_t rank, const std::vector<RankGroup>& groups);
QString rank_tip(const Report& report, const MeshGrid& grid, int64_t rank, int64_t selected,
                 const std::vector<RankGroup>& groups);
QString block_tip(const MeshGrid& grid, const MeshLayout& layout, const MeshBlock& block, int64_t members,
                  const QString& group);
Inspection inspect_rank_group(const Report& report, const MeshGrid& grid, int64_t rank,
                              const RankGroup& group);
Inspection inspect_lone_rank(const Report& report, const MeshGrid& grid, int64_t rank);
// One line per rank: its coordinates, and the first rank of each of its groups as an identifier of the group.
QString mesh_csv(const Report& report, const MeshGrid& grid);

}  // namespace shardscape::ui
