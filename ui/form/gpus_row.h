// The number of GPUs in the form. dp follows: GPUs / (tp cp pp). ep, the microbatch and the batch of
// inference follow where the design is invalid otherwise (Session::setGpus()).
#pragma once

#include <QTimer>
#include <QWidget>

#include "base/problem.h"
#include "design/design.h"

class QLineEdit;

namespace shardscape::ui {

class IssueLine;
class Session;

class GpusRow : public QWidget {
  Q_OBJECT
 public:
  GpusRow(Session* session, QWidget* parent);
  QLineEdit* field() const { return line_; }
  IssueLine* issueLine() const { return issue_; }
  void enter(const QString& text);  // as if a person had typed it
  // Numbers that tp, cp and pp do not divide change these degrees too, instead of being refused: for a person
  // who then searches for a layout.
  void setChangesLayout(bool changes) { changes_layout_ = changes; }
  void refresh();  // shows the number of the design, unless the person types
  // Whether a filter of the form finds this field.
  bool matches(const QString& filter) const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void apply();
  void accept();
  void refuse(const Problem& problem);
  Session* session_;
  QLineEdit* line_;
  IssueLine* issue_;
  QTimer pause_;  // a number may be half typed
  bool typing_ = false, changes_layout_ = false;
  bool refused_ = false;       // the session knows that this field refuses its text
  int64_t refused_world_ = 0;  // ranks of the design when it was refused
  bool applying_ = false;      // the change of the design is this field's
};

}  // namespace shardscape::ui
