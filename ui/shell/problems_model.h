// The problems of a design as a table: place, problem, accepted values, and the first fix.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "base/problem.h"

namespace shardscape::ui {

// The label of a knob, "Tensor parallel (tp)"; the name of any other place (a file).
QString problemPlace(const Problem& problem);
// One line with the code at the end: "tp: 32 heads do not split over tp = 5; accepted: ...
// [heads-indivisible-by-tp]".
QString problemText(const Problem& problem);

class ProblemsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Where, What, Accepted, FixColumn, ColumnCount };
  using QAbstractTableModel::QAbstractTableModel;
  void setProblems(const std::vector<Problem>& problems);
  const Problem& problem(int row) const { return problems_[static_cast<size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<Problem> problems_;
};

}  // namespace shardscape::ui
