// What runs on one stage, a row for each box of the timeline. Texts are made when they are looked at.
#pragma once

#include "ui/models/table_model.h"
#include "ui/timeline/lanes.h"

namespace shardscape::ui {

class SpansModel : public TableModel {
  Q_OBJECT
 public:
  static constexpr int kAllStages = -1;
  enum Column { Stage, Stream, What, Microbatch, Chunk, Begin, Takes, Critical, WaitsFor };

  using TableModel::TableModel;
  void setLanes(std::shared_ptr<const Lanes> lanes, int stage);
  ItemRef at(int row) const { return rows_[static_cast<size_t>(row)]; }
  int rowOf(const ItemRef& ref) const;  // -1: another stage's

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  std::shared_ptr<const Lanes> lanes_;
  std::vector<ItemRef> rows_;  // by begin, stage by stage
};

}  // namespace shardscape::ui
