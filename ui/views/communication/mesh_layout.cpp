#include "ui/views/communication/mesh_layout.h"

#include <algorithm>
#include <cmath>

namespace shardscape::ui {
namespace {

constexpr double kColumnGap = 8, kStageGap = 8, kCellHeight = 22;
constexpr double kMostCellWidth = 84, kMostCellHeight = 40;  // the largest cells, in pixels
constexpr double kLeastBlock = 4, kMostBlock = 12, kBandGap = 2;
constexpr double kOverviewShare = 0.42, kBetween = 14;
constexpr int64_t kMostPerLine = 8;  // cells of a column next to each other

int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t fitting(double room, double each) {
  return std::max<int64_t>(1, static_cast<int64_t>(std::floor(room / each)));
}

// The first shown index: unchanged while `selected` is visible, else `selected` moves to the middle.
int64_t first_shown(int64_t before, int64_t selected, int64_t shown, int64_t all) {
  const bool inside = selected >= before && selected < before + shown;
  return std::clamp<int64_t>(inside ? before : selected - shown / 2, 0, all - shown);
}

}  // namespace

MeshLayout::MeshLayout(const MeshGrid& grid, const QRectF& area, double widest_rank, int64_t selected,
                       const MeshWindow& before)
    : grid_(grid),
      selected_(grid.place(selected)),
      cell_width_(std::ceil(std::max(34.0, widest_rank + 12))),
      cell_height_(kCellHeight),
      window_(before) {
  fitCells(area);
  whole_ = shown_stages_ == grid_.stages() && shown_columns_ == grid_.columns() && shown_lines_ == lines_;
  if (whole_) {
    growCells();
    return;
  }
  fitBlocks({area.left(), area.top(), area.width(), std::floor(area.height() * kOverviewShare)});
  fitCells(area.adjusted(0, overview_.height() + kBetween, 0, 0));
}

double MeshLayout::stageHeight() const {
  return static_cast<double>(shown_lines_) * lineHeight() + kStageGap;
}

void MeshLayout::fitCells(const QRectF& area) {
  detail_ = area;
  const double width = area.width() - kStageLabel, height = area.height() - kHeading;
  per_line_ = std::min({grid_.cells(), kMostPerLine, fitting(width - kColumnGap, cell_width_)});
  lines_ = divided_up(grid_.cells(), per_line_);
  shown_columns_ = std::min(grid_.columns(),
                            fitting(width, static_cast<double>(per_line_) * cell_width_ + kColumnGap));
  shown_lines_ = std::min(lines_, fitting(height - kStageGap, lineHeight()));
  shown_stages_ = std::min(grid_.stages(), fitting(height + kStageGap, stageHeight()));
  window_.stage = first_shown(window_.stage, selected_.stage, shown_stages_, grid_.stages());
  window_.column = first_shown(window_.column, selected_.column, shown_columns_, grid_.columns());
  window_.line = first_shown(window_.line, selected_.cell / per_line_, shown_lines_, lines_);
}

void MeshLayout::growCells() {
  const double columns = static_cast<double>(shown_columns_), lines = static_cast<double>(shown_lines_);
  const double column = (detail_.width() - kStageLabel) / columns - kColumnGap;
  const double stage = (detail_.height() - kHeading) / static_cast<double>(shown_stages_) - kStageGap;
  const double width = std::min(kMostCellWidth, std::floor(column / static_cast<double>(per_line_)));
  const double height = std::min(kMostCellHeight, std::floor(stage / lines) - kNodeStrip);
  cell_width_ = std::max(cell_width_, width);
  cell_height_ = std::max(cell_height_, height);
}

void MeshLayout::fitBlocks(const QRectF& area) {
  const double width = area.width() - kStageLabel, height = area.height() - kHeading;
  const int64_t of_stage = grid_.columns() * grid_.cells();
  stages_per_band_ = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(static_cast<double>(grid_.stages()) *
                                                                         (kLeastBlock + kBandGap) / height)));
  bands_ = divided_up(grid_.stages(), stages_per_band_);
  const double room = height / static_cast<double>(bands_) - kBandGap;
  const int64_t across = fitting(width, kLeastBlock), down = fitting(room, kLeastBlock);
  ranks_per_block_ = divided_up(of_stage, across * down);
  // Blocks end where columns end, or cut a column into equal parts.
  const int64_t cells = grid_.cells();
  if (ranks_per_block_ > cells)
    ranks_per_block_ = divided_up(ranks_per_block_, cells) * cells;
  else
    while (cells % ranks_per_block_ != 0) ++ranks_per_block_;
  blocks_ = divided_up(of_stage, ranks_per_block_);
  blocks_per_line_ = std::min(blocks_, across);
  const int64_t per_column = std::max<int64_t>(1, cells / ranks_per_block_);
  if (blocks_per_line_ > per_column) blocks_per_line_ -= blocks_per_line_ % per_column;
  block_lines_ = divided_up(blocks_, blocks_per_line_);
  block_width_ = std::min(width / static_cast<double>(blocks_per_line_), kMostBlock);
  block_height_ = std::min(room / static_cast<double>(block_lines_), kMostBlock);
  band_height_ = block_height_ * static_cast<double>(block_lines_) + kBandGap;
  overview_ = {area.left(), area.top(), area.width(), kHeading + band_height_ * static_cast<double>(bands_)};
}

QRectF MeshLayout::columnHeading(int64_t column) const {
  const double width = static_cast<double>(per_line_) * cell_width_;
  const double left = detail_.left() + kStageLabel +
                      static_cast<double>(column - window_.column) * (width + kColumnGap);
  return {left, detail_.top(), width, kHeading};
}

QRectF MeshLayout::stageHeading(int64_t stage) const {
  const double top = detail_.top() + kHeading + static_cast<double>(stage - window_.stage) * stageHeight();
  return {detail_.left(), top + kNodeStrip, kStageLabel - 8, cell_height_};
}

QRectF MeshLayout::line(int64_t stage, int64_t line) const {
  const double top = detail_.top() + kHeading + static_cast<double>(stage - window_.stage) * stageHeight() +
                     static_cast<double>(line - window_.line) * lineHeight();
  const double right = columnHeading(window_.column + shown_columns_ - 1).right();
  return {QPointF(detail_.left() + kStageLabel, top), QPointF(right, top + lineHeight())};
}

QRectF MeshLayout::cell(const MeshPlace& place) const {
  const int64_t of_line = place.cell / per_line_;
  const auto shown = [](int64_t at, int64_t first, int64_t count) {
    return at >= first && at < first + count;
  };
  if (!shown(place.stage, window_.stage, shown_stages_) ||
      !shown(place.column, window_.column, shown_columns_) || !shown(of_line, window_.line, shown_lines_))
    return {};
  const double left = columnHeading(place.column).left() +
                      static_cast<double>(place.cell % per_line_) * cell_width_;
  return {left, line(place.stage, of_line).top() + kNodeStrip, cell_width_, cell_height_};
}

std::optional<int64_t> MeshLayout::rankAt(const QPointF& point) const {
  const double width = static_cast<double>(per_line_) * cell_width_ + kColumnGap;
  const double x = point.x() - detail_.left() - kStageLabel, y = point.y() - detail_.top() - kHeading;
  if (x < 0 || y < 0) return std::nullopt;
  const auto column = static_cast<int64_t>(x / width), stage = static_cast<int64_t>(y / stageHeight());
  const auto of_line = static_cast<int64_t>((y - static_cast<double>(stage) * stageHeight()) / lineHeight());
  const auto across = static_cast<int64_t>((x - static_cast<double>(column) * width) / cell_width_);
  const MeshPlace place{window_.stage + stage, window_.column + column,
                        (window_.line + of_line) * per_line_ + across};
  if (across >= per_line_ || place.cell >= grid_.cells() || !cell(place).contains(point)) return std::nullopt;
  return grid_.rank(place);
}

MeshPlace MeshLayout::ordered(int64_t stage, int64_t index) const {
  const int64_t last = grid_.columns() * grid_.cells() - 1;
  return {std::min(stage, grid_.stages() - 1), std::min(index, last) / grid_.cells(),
          std::min(index, last) % grid_.cells()};
}

MeshBlock MeshLayout::blockOf(int64_t rank) const {
  const MeshPlace place = grid_.place(rank);
  return {place.stage / stages_per_band_, (place.column * grid_.cells() + place.cell) / ranks_per_block_};
}

int64_t MeshLayout::firstRank(const MeshBlock& block) const {
  return grid_.rank(ordered(block.band * stages_per_band_, block.index * ranks_per_block_));
}

int64_t MeshLayout::lastRank(const MeshBlock& block) const {
  return grid_.rank(
      ordered((block.band + 1) * stages_per_band_ - 1, (block.index + 1) * ranks_per_block_ - 1));
}

int64_t MeshLayout::ranksIn(const MeshBlock& block) const {
  const int64_t all = grid_.columns() * grid_.cells(), first = block.index * ranks_per_block_;
  const int64_t stages = std::min(stages_per_band_, grid_.stages() - block.band * stages_per_band_);
  return std::min(ranks_per_block_, all - first) * stages;
}

QRectF MeshLayout::bandRect(int64_t band) const {
  return {overview_.left() + kStageLabel,
          overview_.top() + kHeading + static_cast<double>(band) * band_height_,
          static_cast<double>(blocks_per_line_) * block_width_, band_height_ - kBandGap};
}

QRectF MeshLayout::blockRect(const MeshBlock& block) const {
  const QRectF band = bandRect(block.band);
  return {band.left() + static_cast<double>(block.index % blocks_per_line_) * block_width_,
          band.top() + static_cast<double>(block.index / blocks_per_line_) * block_height_, block_width_,
          block_height_};
}

std::optional<MeshBlock> MeshLayout::blockAt(const QPointF& point) const {
  if (whole_) return std::nullopt;
  const double y = point.y() - overview_.top() - kHeading, x = point.x() - overview_.left() - kStageLabel;
  if (x < 0 || y < 0 || x >= static_cast<double>(blocks_per_line_) * block_width_) return std::nullopt;
  const auto band = static_cast<int64_t>(y / band_height_);
  const auto of_line = static_cast<int64_t>((y - static_cast<double>(band) * band_height_) / block_height_);
  const int64_t index = of_line * blocks_per_line_ + static_cast<int64_t>(x / block_width_);
  if (band >= bands_ || of_line >= block_lines_ || index >= blocks_) return std::nullopt;
  return MeshBlock{band, index};
}

}  // namespace shardscape::ui
