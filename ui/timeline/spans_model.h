// What runs on one stage, a row for each box of the timeline; beside others, how long they take for the same. Texts are made when they
// are looked at.
#pragma once

#include "ui/models/beside_cells.h"
#include "ui/timeline/lanes.h"

namespace shardscape::ui {

class SpansModel : public TableModel {
  Q_OBJECT
 public:
  static constexpr int kAllStages = -1;
  enum Column { Stage, Stream, What, Microbatch, Chunk, Begin, Takes, Critical, WaitsFor };

  using TableModel::TableModel;
  struct Beside {
    int member = 1;                // as Comparisons::letter counts
    std::shared_ptr<const Lanes> lanes;
  };
  // Of a design beside the present one, counted from 0: what it takes, the difference and that in percent.
  static int takes(int beside) { return WaitsFor + 1 + kBesideCells * beside; }
  static int difference(int beside) { return takes(beside) + 1; }
  static int percent(int beside) { return takes(beside) + 2; }
  void setLanes(std::shared_ptr<const Lanes> lanes, int stage, std::vector<Beside> beside = {});
  ItemRef at(int row) const { return rows_[static_cast<size_t>(row)]; }
  int rowOf(const ItemRef& ref) const;  // -1: another stage's

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  std::shared_ptr<const Lanes> lanes_;
  QVariant besideData(const ItemRef& ref, int column, bool raw, bool sort) const;
  std::vector<Beside> beside_;
  std::vector<ItemRef> rows_;  // by begin, stage by stage
};

}  // namespace shardscape::ui
