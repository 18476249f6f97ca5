// A named group of knob rows with its total.
#pragma once

#include <QVector>
#include <QWidget>

#include "design/knobs.h"

class QLabel;

namespace shardscape::ui {

class KnobRow;
class Session;

class KnobGroupBox : public QWidget {
  Q_OBJECT
 public:
  KnobGroupBox(KnobGroup group, Session* session, QWidget* parent);
  KnobGroup group() const { return group_; }
  const QVector<KnobRow*>& rows() const { return rows_; }
  void setTotal(const QString& total);
  int filter(const QString& text);  // rows left

 private:
  KnobGroup group_;
  QLabel* total_;
  QVector<KnobRow*> rows_;
};

}  // namespace shardscape::ui
