// Above the groups of the form: the knobs in which pinned designs differ from the present one, each with all
// values. One is gone to by a click, Enter or Space.
#pragma once

#include <QVector>
#include <QWidget>

#include "design/design.h"

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace shardscape::ui {

class KnobRow;

class DifferencesBox : public QWidget {
  Q_OBJECT
 public:
  explicit DifferencesBox(QWidget* parent);
  // pinned: how many designs are compared with the present one; without any the box is not there.
  void show(const QVector<const KnobRow*>& differing, const Design& present, int pinned);
  void setFiltered(bool filtered);  // the form shows what was searched for, and nothing else
  QStringList texts() const;        // "Tensor parallel: 8, B 4"

 Q_SIGNALS:
  void chosen(const QString& knob);

 private:
  void place();
  QLabel* count_;
  QVBoxLayout* rows_;
  QPushButton* more_;
  QVector<QWidget*> lines_;
  bool pinned_ = false, filtered_ = false, open_ = false;
};

}  // namespace shardscape::ui
