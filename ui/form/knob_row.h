// One knob in the form: label, symbol, field, and a line below where something is wrong.
#pragma once

#include <QVector>
#include <QWidget>

#include "design/knobs/knobs.h"
#include "ui/form/knob_field.h"

class QBoxLayout;
class QHBoxLayout;
class QLabel;

namespace shardscape::ui {

class ElidedLabel;
class IssueLine;
class Session;

class KnobRow : public QWidget {
  Q_OBJECT
 public:
  KnobRow(const Knob& knob, Session* session, QWidget* parent);
  const Knob& knob() const { return knob_; }
  QWidget* fieldWidget() const { return field_->widget(); }
  IssueLine* issueLine() const { return issue_; }
  // Takes value and problems from the session; baseline is the value that needs no mark.
  void refresh(const QString& baseline);
  // Pinned designs that have another value: their letters (Comparisons::letter) and values.
  struct Other {
    int member = 0;
    QString value;
    friend bool operator==(const Other&, const Other&) = default;
  };
  void setOthers(const QVector<Other>& others);
  const QVector<Other>& others() const { return others_; }
  void takeDesign();  // a change from elsewhere (undo, preset, fix) replaces even a half-typed text
  enum class Match { None, Help, Name };
  Match match(const QString& filter) const;  // the help text has it; label, symbol or id do
  void focusField();
  const QString& idleReason() const { return idle_; }  // why it has no effect; empty where it has one
  bool usual() const;                                  // the value is the baseline's
  bool hasIssue() const;                               // something is wrong with it, or worth a note
  void setIdleLine(bool shown);                        // the reason below the field

 Q_SIGNALS:
  void focused();

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void edit(const QString& text);
  void followRejected();
  void showIdle();
  void fitField();
  void placeField();
  void showIssue();
  void showProblem(const Problem& problem);
  const Knob knob_;
  Session* session_;
  KnobField* field_;
  ElidedLabel* label_;
  QLabel *idle_line_, *others_mark_;
  QHBoxLayout* names_;  // what stands before the field
  QBoxLayout* line_;
  IssueLine* issue_;
  QString baseline_, idle_;
  QVector<Other> others_;
  bool own_edit_ = false;  // the design changes because of this field
  bool rejected_ = false;  // the field holds a text that the design did not take
};

}  // namespace shardscape::ui
