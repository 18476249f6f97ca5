// A row of joined buttons of which one is chosen.
#pragma once

#include <QWidget>

class QButtonGroup;

namespace shardscape::ui {

class Segments : public QWidget {
  Q_OBJECT
 public:
  Segments(const QString& accessible_name, const QStringList& labels, QWidget* parent = nullptr);
  int current() const;
  void setCurrent(int index);
  void setLabel(int index, const QString& label);

 Q_SIGNALS:
  void chosen(int index);

 private:
  QButtonGroup* group_;
};

}  // namespace shardscape::ui
