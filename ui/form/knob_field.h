// The editor of one knob: a line, a list of choices or a check box behind one interface.
#pragma once

#include <QObject>
#include <QString>
#include <functional>

#include "design/knobs/knobs.h"

class QWidget;

namespace shardscape::ui {

class KnobField : public QObject {
  Q_OBJECT
 public:
  enum class Mark { None, Differs, Wrong };
  using QObject::QObject;
  virtual QWidget* widget() const = 0;
  virtual void show(const QString& value) = 0;  // canonical text of the knob
  // True while the person types: show() must not replace the text.
  virtual bool editing() const { return false; }
  // The placeholder of an empty field, which stands for zero; empty: zero is a number like any other. unit:
  // shown after a typed value; may be empty.
  virtual void setZero(const QString& /*placeholder*/, const QString& /*unit*/) {}
  // What the choice "auto" stands for: "DGX H100, 8 x NDR InfiniBand"; empty: its own label.
  virtual void setAuto(const QString&) {}
  // invalid_reason: the reason why a choice is invalid, empty for a valid choice. Called when the list opens.
  virtual void setInvalidReason(std::function<QString(const QString& value)>) {}
  void setMark(Mark mark);
  void setIdle(bool idle);  // greyed: no value has an effect

 Q_SIGNALS:
  void edited(const QString& text);
  void finished();  // Enter, or the field lost the focus
  void reverted();  // Escape
};

// Owned by the parent widget.
KnobField* makeKnobField(const Knob& knob, QWidget* parent);

}  // namespace shardscape::ui
