// A dimension of the search space: a tick, its name, its values, and a line below for a problem. Values are
// chips to choose from, or typed: a list, a range.
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
class ValueChips;
struct OfferedValues;

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
  // The values to choose from; none: they are typed.
  void offer(const OfferedValues& offered);
  // The values are valid. "Keep" restores these values later.
  void accept();
  void refuse(const Problem& problem);
  bool refused() const;
  void focusValues();
  QLineEdit* field() const { return field_; }
  QCheckBox* tick() const { return tick_; }
  ValueChips* chips() const { return chips_; }
  QToolButton* typeButton() const { return type_; }
  IssueLine* issue() const { return issue_; }

 Q_SIGNALS:
  void edited();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void showUse();
  void showValues();
  void choose();  // the chips changed
  void use();     // the person edits the values of a dimension that was not used
  QString id_, accepted_;
  QCheckBox* tick_ = nullptr;
  ElidedLabel* name_ = nullptr;
  QLineEdit* field_;
  ValueChips* chips_;
  QToolButton* type_;
  IssueLine* issue_;
  bool typed_ = false;  // the person types values although there are chips
};

}  // namespace shardscape::ui
