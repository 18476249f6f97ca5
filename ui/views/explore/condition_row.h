// A condition that designs must meet: a line of text, a button that removes the condition, and a line below
// for a problem.
#pragma once

#include <QWidget>

class QLineEdit;

namespace shardscape::ui {

class IssueLine;

class ConditionRow : public QWidget {
  Q_OBJECT
 public:
  explicit ConditionRow(const QString& text, QWidget* parent);
  QString text() const;
  bool refused() const;
  QLineEdit* field() const { return field_; }
  IssueLine* issue() const { return issue_; }

 Q_SIGNALS:
  void edited();
  void dropped();

 private:
  void check();
  QLineEdit* field_;
  IssueLine* issue_;
};

}  // namespace shardscape::ui
