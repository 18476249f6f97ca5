// The changes that save memory (MemoryAdvice), each with its effect, whether the changed design fits, and a
// button that applies it. Up and Down go from button to button.
#pragma once

#include <QScrollArea>
#include <QVector>
#include <vector>

#include "base/problem.h"
#include "base/units.h"
#include "memory/memory_advice.h"

class QPushButton;

namespace shardscape::ui {

class AdviceList : public QScrollArea {
  Q_OBJECT
 public:
  explicit AdviceList(QWidget* parent);
  // nullptr: the advice is not computed yet.
  void setAdvice(const std::vector<MemoryAdvice>* advice, UnitSystem units);
  const QVector<QPushButton*>& applyButtons() const { return buttons_; }
  QSize sizeHint() const override;  // the height of all rows

 Q_SIGNALS:
  void applied(const shardscape::Fix& change);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QVector<QPushButton*> buttons_;
};

}  // namespace shardscape::ui
