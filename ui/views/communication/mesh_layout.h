// The layout of the mesh: labelled cells for the ranks around the selected rank, and blocks for all ranks if
// not all fit as cells.
#pragma once

#include <QRectF>
#include <optional>

#include "ui/views/communication/mesh_grid.h"

namespace shardscape::ui {

// The first stage, column and line that are drawn as cells. Unchanged while the selected rank is visible.
struct MeshWindow {
  int64_t stage = 0, column = 0, line = 0;
};

// A block of the overview. It represents consecutive ranks (in the order of the table) of the stages of one
// band.
struct MeshBlock {
  int64_t band = 0, index = 0;
  friend bool operator==(const MeshBlock&, const MeshBlock&) = default;
};

class MeshLayout {
 public:
  MeshLayout(const MeshGrid& grid, const QRectF& area, double widest_rank, int64_t selected,
             const MeshWindow& before);

  bool whole() const { return whole_; }  // every rank has a cell; there is no overview
  const MeshWindow& window() const { return window_; }
  int64_t shownStages() const { return shown_stages_; }
  int64_t shownColumns() const { return shown_columns_; }
  int64_t shownLines() const { return shown_lines_; }  // of cells, in each stage
  int64_t cellsPerLine() const { return per_line_; }
  int64_t linesOfStage() const { return lines_; }
  QRectF detail() const { return detail_; }
  QRectF columnHeading(int64_t column) const;
  QRectF stageHeading(int64_t stage) const;
  QRectF line(int64_t stage, int64_t line) const;  // of cells, over all shown columns
  QRectF cell(const MeshPlace& place) const;       // null: the cell is not shown
  std::optional<int64_t> rankAt(const QPointF& point) const;

  QRectF overview() const { return overview_; }
  int64_t bands() const { return bands_; }
  int64_t stagesPerBand() const { return stages_per_band_; }
  int64_t blocks() const { return blocks_; }                  // of one band
  int64_t ranksPerBlock() const { return ranks_per_block_; }  // of one stage
  MeshBlock blockOf(int64_t rank) const;
  QRectF bandRect(int64_t band) const;
  QRectF blockRect(const MeshBlock& block) const;
  std::optional<MeshBlock> blockAt(const QPointF& point) const;
  int64_t firstRank(const MeshBlock& block) const;
  int64_t lastRank(const MeshBlock& block) const;
  int64_t ranksIn(const MeshBlock& block) const;

  static constexpr double kStageLabel = 62, kHeading = 16, kNodeStrip = 14;

 private:
  void fitCells(const QRectF& area);
  void fitBlocks(const QRectF& area);
  void growCells();
  MeshPlace ordered(int64_t stage, int64_t index) const;
  double lineHeight() const { return kNodeStrip + cell_height_; }
  double stageHeight() const;
  MeshGrid grid_;
  MeshPlace selected_;
  double cell_width_, cell_height_;
  MeshWindow window_;
  QRectF detail_, overview_;
  bool whole_ = true;
  int64_t per_line_ = 1, lines_ = 1, shown_stages_ = 1, shown_columns_ = 1, shown_lines_ = 1;
  int64_t bands_ = 0, stages_per_band_ = 1, blocks_ = 0, ranks_per_block_ = 1, blocks_per_line_ = 1,
          block_lines_ = 1;
  double block_width_ = 0, block_height_ = 0, band_height_ = 0;
};

}  // namespace shardscape::ui
