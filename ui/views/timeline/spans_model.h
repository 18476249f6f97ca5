// The table of one stage's boxes in the timeline. In a comparison also the durations of matching boxes. Texts
// are made on demand.
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
    int member = 1;  // 1 is the first pinned design, see Comparisons::letter
    std::shared_ptr<const Lanes> lanes;
  };
  // The columns of a compared design (index from 0): duration, difference, difference in percent.
  static int takes(int others) { return WaitsFor + 1 + kComparisonCells * others; }
  static int difference(int others) { return takes(others) + 1; }
  static int percent(int others) { return takes(others) + 2; }
  void setLanes(std::shared_ptr<const Lanes> lanes, int stage);
  void setLanes(std::shared_ptr<const Lanes> lanes, int stage,
                const std::vector<OtherDesign>& others);  // stage: not kAllStages
  ItemRef at(int row) const { return rows_[static_cast<size_t>(row)]; }
  int rowOf(const ItemRef& ref) const;  // -1: a box of another stage

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  std::shared_ptr<const Lanes> lanes_;
  const TableCell& comparisonCell(int row, int column) const;
  struct Compared {
    int member = 1;
    std::vector<std::optional<double>> takes;  // duration of the matching box, per row
    mutable std::vector<std::optional<std::array<TableCell, kComparisonCells>>>
        cells;  // per row, made on demand
  };
  std::vector<Compared> others_;
  std::vector<ItemRef> rows_;  // by begin, stage by stage
};

}  // namespace shardscape::ui
