// What runs on one stage, a row for each box of the timeline; in a comparison, how long they take for the
// same. Texts are made when they are looked at.
#pragma once

#include <array>
#include <optional>

#include "ui/plot/comparison_cells.h"
#include "ui/views/timeline/lanes.h"

namespace shardscape::ui {

class SpansModel : public TableModel {
  Q_OBJECT
 public:
  static constexpr int kAllStages = -1;
  enum Column { Stage, Stream, What, Microbatch, Chunk, Begin, Takes, Critical, WaitsFor };

  using TableModel::TableModel;
  struct OtherDesign {
    int member = 1;  // as Comparisons::letter counts
    std::shared_ptr<const Lanes> lanes;
  };
  // Of a compared design, counted from 0: what it takes, the difference and that in percent.
  static int takes(int others) { return WaitsFor + 1 + kComparisonCells * others; }
  static int difference(int others) { return takes(others) + 1; }
  static int percent(int others) { return takes(others) + 2; }
  void setLanes(std::shared_ptr<const Lanes> lanes, int stage);
  void setLanes(std::shared_ptr<const Lanes> lanes, int stage,
                const std::vector<OtherDesign>& others);  // of one stage
  ItemRef at(int row) const { return rows_[static_cast<size_t>(row)]; }
  int rowOf(const ItemRef& ref) const;  // -1: another stage's

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  std::shared_ptr<const Lanes> lanes_;
  const TableCell& comparisonCell(int row, int column) const;
  struct Compared {
    int member = 1;
    std::vector<std::optional<double>> takes;  // of the same, per row
    mutable std::vector<std::optional<std::array<TableCell, kComparisonCells>>>
        cells;  // per row, once it is looked at
  };
  std::vector<Compared> others_;
  std::vector<ItemRef> rows_;  // by begin, stage by stage
};

}  // namespace shardscape::ui
