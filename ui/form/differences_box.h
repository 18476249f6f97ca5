// The list above the form's groups: the knobs in which pinned designs differ from the present design, with
// all values. A click, Enter or Space on a line goes to the knob.
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
  // pinned: the number of pinned designs. With 0 the box is hidden.
  void show(const QVector<const KnobRow*>& differing, const Design& present, int pinned);
  void setFiltered(bool filtered);  // true: hidden, because the form shows filtered fields only
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
