// One knob in the form: label, symbol, field, and a line below for a problem. The widgets of a row are made
// when the row is first shown: most rows of a form are folded, and every widget costs time in each change of
// theme.
#pragma once

#include <QVector>
#include <QWidget>

#include "design/knobs/knobs.h"
#include "design/knobs/zero_value.h"
#include "ui/form/knob_field.h"

class QBoxLayout;
class QHBoxLayout;
class QLabel;
class QToolButton;

namespace shardscape::ui {

class ElidedLabel;
class IssueLine;
class Session;

class KnobRow : public QWidget {
  Q_OBJECT
 public:
  KnobRow(const Knob& knob, Session* session, QWidget* parent);
  const Knob& knob() const { return knob_; }
  QWidget* fieldWidget();
  IssueLine* issueLine();
  // Shows value and problems of the session. baseline: the value that needs no mark.
  void refresh(const QString& baseline);
  // What zero stands for, of a knob whose zero means "not set".
  void setZero(const ZeroValue& zero);
  // A line below the field: what the value amounts to, "4,194,304 tokens per step". Empty: none.
  void setDetail(const QString& detail);
  void reset();  // back to the baseline
  QToolButton* resetButton();
  // Pinned designs with another value: their members (Comparisons::letter) and values.
  struct Other {
    int member = 0;
    QString value;
    friend bool operator==(const Other&, const Other&) = default;
  };
  void setOthers(const QVector<Other>& others);
  const QVector<Other>& others() const { return others_; }
  void takeDesign();  // after undo, a preset or a fix: replaces also a half-typed text
  enum class Match { None, Help, Name };
  // Help: the help text matches. Name: label, symbol or id matches.
  Match match(const QString& filter) const;
  void focusField();
  // Why the knob has no effect; empty if it has an effect.
  const QString& idleReason() const { return idle_; }
  bool isBaseline() const;       // the value equals the baseline
  bool hasIssue() const;         // the knob has a problem or a note
  bool isQuiet() const;          // without effect, and nothing needs to be seen
  void setIdleLine(bool shown);  // shows the idle reason below the field
  void setVisible(bool visible) override;

 Q_SIGNALS:
  void focused();
  void grown();  // the row has new widgets

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void build();
  void addNames();
  void connectField();
  const Problem* problem() const;
  void edit(const QString& text);
  void followRejected();
  void showIdle();
  void showDetail();
  void fitField();
  void placeField();
  void showIssue();
  void showReset();
  void showOthers();
  void showProblem(const Problem& problem);
  const Knob knob_;
  Session* session_;
  // nullptr until the row is shown; the issue line: until the knob has a problem.
  KnobField* field_ = nullptr;
  ElidedLabel* label_ = nullptr;
  QLabel *idle_line_ = nullptr, *others_mark_ = nullptr, *detail_line_ = nullptr;
  QToolButton* reset_ = nullptr;
  QHBoxLayout* names_ = nullptr;  // label, symbol and marks before the field
  QBoxLayout* line_ = nullptr;
  IssueLine* issue_ = nullptr;
  QString baseline_, idle_, detail_;
  std::optional<Problem> note_;  // about the typed text, until the design changes otherwise
  ZeroValue zero_;
  QVector<Other> others_;
  bool own_edit_ = false;  // this field is changing the design
  bool rejected_ = false;  // the field holds an invalid text, which the design lacks
};

}  // namespace shardscape::ui
