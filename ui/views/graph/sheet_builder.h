// Lays out the unfolded nodes of a graph tree. Equal units share one sheet, which the cache keeps between
// calls.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <vector>

#include "base/units.h"
#include "ui/selection/graph_tree.h"
#include "ui/toolkit/graph_text.h"
#include "ui/views/graph/flow_layout.h"
#include "ui/views/graph/sheet.h"

namespace shardscape::ui {

struct SheetOptions {
  Passes passes = Passes::Forward;
  bool numbers = false;
  bool rightwards = false;  // stages follow each other from left to right
  UnitSystem units = UnitSystem::Binary;
};

using Expanded = std::set<NodeId>;

// Sheets of units by segment and unfolded blocks; valid for one graph tree and one set of options.
using SheetCache = std::map<std::pair<int, std::vector<NodeId>>, std::shared_ptr<const Sheet>>;

class SheetBuilder {
 public:
  SheetBuilder(const GraphTree& tree, const SheetOptions& options, const SheetFonts& fonts,
               const Expanded& expanded, SheetCache& cache, std::stop_token stop);
  // The sheet of the whole graph; null if stopped.
  std::shared_ptr<const Sheet> root();

 private:
  std::shared_ptr<const Sheet> stage_sheet(int stage);
  std::shared_ptr<const Sheet> unit_sheet(int stage, int unit);
  std::shared_ptr<const Sheet> lane_sheet(int segment, bool backward, const std::set<int>& open_blocks);
  // The sheet of one block's ops, or of a lane's blocks and ops. children: the ops of each piece.
  std::shared_ptr<Sheet> flow_sheet(int segment, bool backward, const std::vector<LaneChild>& children,
                                    std::vector<Piece> pieces);
  std::vector<Link> chain_links(const std::vector<Piece>& chain, bool before, bool after,
                                bool transfer) const;
  std::shared_ptr<const Sheet> chain_sheet(std::vector<Piece> pieces, bool before, bool after, bool transfer,
                                           double gap);

  Piece op_piece(int segment, bool backward, int block, OpId op) const;
  Piece block_piece(int segment, bool backward, const LaneChild& child, bool open);
  Piece unit_piece(int stage, int unit, int count);
  Piece stage_piece(int stage, int count);
  std::shared_ptr<const Sheet> stage_row(std::vector<Piece> stages) const;
  void make_card(Piece& piece, const QString& title, const QString& detail, double min_width,
                 double height) const;
  void make_frame(Piece& piece, const QString& title, const QString& detail,
                  std::shared_ptr<const Sheet> inside) const;

  const GraphTree& tree_;
  const SheetOptions options_;
  const SheetFonts& fonts_;
  const Expanded& expanded_;
  SheetCache& cache_;
  std::stop_token stop_;
  NodeText text_;
};

}  // namespace shardscape::ui
