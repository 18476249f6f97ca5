// The figures of a run in lines of words: throughput, goodput, cache, cost.
#pragma once

#include <QVector>
#include <QWidget>

#include "serving/service/service.h"

class QLabel;

namespace shardscape::ui {

class ServiceFigures : public QWidget {
  Q_OBJECT
 public:
  explicit ServiceFigures(QWidget* parent);
  void setRun(const ServiceRun& run);
  QLabel* figure(const QString& name) const;  // "goodput"

 private:
  void add(const QString& name, const QString& caption, const QString& tip);
  void set(const QString& name, const QString& value, bool shown = true);
  QVector<QLabel*> labels_;  // each has its caption as a property
};

}  // namespace shardscape::ui
