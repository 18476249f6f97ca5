// A row of joined buttons; one of them is active.
#pragma once

#include <QWidget>

class QButtonGroup;
class QHBoxLayout;
class QPushButton;

namespace shardscape::ui {

class SegmentedControl : public QWidget {
  Q_OBJECT
 public:
  SegmentedControl(const QString& accessible_name, const QStringList& labels, QWidget* parent = nullptr);
  // Replaces all buttons; the current index stays if it still exists.
  void setLabels(const QStringList& labels);
  QPushButton* button(int index) const;
  int current() const;
  void setCurrent(int index);
  void setLabel(int index, const QString& label);

 Q_SIGNALS:
  void chosen(int index);

 private:
  QButtonGroup* group_;
  QHBoxLayout* row_;
};

}  // namespace shardscape::ui
