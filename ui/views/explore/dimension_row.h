// A dimension of the search space: a tick, its name, its values, and a line below for a problem.
#pragma once

#include <QWidget>
#include <optional>

#include "base/problem.h"

class QCheckBox;
class QLineEdit;
class QToolButton;

namespace shardscape::ui {

class ElidedLabel;
class IssueLine;

class DimensionRow : public QWidget {
  Q_OBJECT
 public:
  // id: a knob id, "model" or "gpus". A row without a tick is always used.
  DimensionRow(const QString& id, const QString& label, const QString& help, bool ticked_by_person,
               QWidget* parent);
  const QString& id() const { return id_; }
  bool used() const;
  void setUsed(bool used);
  QString values() const;
  void setValues(const QString& values);
  // The values are valid. "Keep" restores these values later.
  void accept();
  void refuse(const Problem& problem);
  bool refused() const;
  QLineEdit* field() const { return field_; }
  QCheckBox* tick() const { return tick_; }
  IssueLine* issue() const { return issue_; }

 Q_SIGNALS:
  void edited();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void showUse();
  void fitField();
  QString id_, accepted_;
  QCheckBox* tick_ = nullptr;
  ElidedLabel* name_ = nullptr;
  QLineEdit* field_;
  IssueLine* issue_;
};

}  // namespace shardscape::ui
