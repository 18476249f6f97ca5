// Sizes of the kinds of layers: one row per size, one column for the model and one per kind. A cell of a kind
// that has the model's size is empty; an entered number becomes the kind's own size.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <functional>
#include <vector>

#include "model/model_spec.h"
#include "plan/architecture_check.h"

namespace shardscape::ui {

class SizesModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  // edit(row of kModelSizes, kind, text): the kind is empty for the whole model. Returns what is wrong;
  // empty: nothing.
  using Edit = std::function<QString(int row, const QString& kind, const QString& text)>;
  explicit SizesModel(Edit edit, QObject* parent);
  void setModel(const ModelSpec& model, const std::vector<KindNumbers>& kinds);
  int sizeOf(int row) const { return rows_[static_cast<size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;

 Q_SIGNALS:
  void refused(const QString& why);

 private:
  const LayerVariant* variant(int column) const;
  bool has(int row, int column) const;  // whether layers of the kind have the size
  Edit edit_;
  ModelSpec model_;
  QStringList kinds_;
  std::vector<int> rows_;                // of kModelSizes
  std::vector<std::vector<bool>> uses_;  // by kind, by row
};

}  // namespace shardscape::ui
