// What would help where memory is short: changes of the design, each with what it saves and what it costs in time. Made in the
// background.
#pragma once

#include <QObject>
#include <QVector>
#include <memory>
#include <thread>

#include "ui/state/estimate.h"

namespace shardscape::ui {

struct Suggestion {
  QString label;               // "full recompute"
  Fix change;
  int64_t saved = 0;           // bytes of the stage that has most, before and after
  double slower = 0;           // share of the step; below zero: faster
  bool timed = false;
};

// Those that save something, the largest first. Nothing when stopped.
QVector<Suggestion> suggestions(const Estimate& estimate, std::stop_token stop);

class Advice : public QObject {
  Q_OBJECT
 public:
  explicit Advice(QObject* parent = nullptr) : QObject(parent) {}
  ~Advice() override;
  void ask(std::shared_ptr<const Estimate> estimate);          // once for each estimate
  const QVector<Suggestion>& given() const { return given_; }
  bool of(const Estimate* estimate) const { return estimate && estimate == given_for_.get(); }

 Q_SIGNALS:
  void ready();

 private:
  std::shared_ptr<const Estimate> asked_for_, given_for_;
  QVector<Suggestion> given_;
  std::jthread thread_;
};

}  // namespace shardscape::ui
