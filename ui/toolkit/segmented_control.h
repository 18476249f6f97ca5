// A row of joined buttons of which one is chosen.
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
  void setLabels(const QStringList&
                     labels);  // in the place of those before; the chosen index stays where it is still there
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
