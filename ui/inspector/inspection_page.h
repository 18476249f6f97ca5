// An inspection as widgets. Another inspection with the same parts, such as the same one after an edit, is
// shown by the same widgets.
#pragma once

#include <QList>
#include <QWidget>
#include <array>

#include "ui/selection/inspection.h"

class QVBoxLayout;

namespace shardscape::ui {

class CopyLabel;
class FactRow;
class FormulaBox;

class InspectionPage : public QWidget {
  Q_OBJECT
 public:
  // whole: long formulas show all their terms.
  InspectionPage(const Inspection& inspection, bool whole);
  bool fits(const Inspection& inspection) const { return parts_of(inspection) == parts_; }
  void set(const Inspection& inspection);  // one that fits

 Q_SIGNALS:
  void linkFollowed(int index);  // in Inspection::links
  void wholeWanted(bool whole);

 private:
  // Numbers of labels, rows and boxes of each kind.
  using Parts = std::array<qsizetype, 8>;
  static Parts parts_of(const Inspection& inspection);
  CopyLabel* addLabel(QVBoxLayout* to, const char* role);
  QList<FactRow*> addRows(QVBoxLayout* to, qsizetype count);
  void addWhy(QVBoxLayout* to, const Inspection& inspection);
  FormulaBox* makeBox(const InspectedValue& value);

  const Parts parts_;
  const bool whole_;
  CopyLabel *title_ = nullptr, *subtitle_ = nullptr, *more_title_ = nullptr, *why_title_ = nullptr,
            *why_ = nullptr;
  QList<FactRow*> figures_, rows_, links_, more_;
  QList<FormulaBox*> boxes_;
};

}  // namespace shardscape::ui
