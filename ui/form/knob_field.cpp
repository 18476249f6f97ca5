#include "ui/form/knob_field.h"

#include <QStyle>
#include <QWidget>

#include "ui/form/boolean_field.h"
#include "ui/form/choice_field.h"
#include "ui/form/line_field.h"

namespace shardscape::ui {

void KnobField::setMark(Mark mark) {
  static constexpr const char* names[] = {"", "differs", "wrong"};
  const QString name = QLatin1String(names[static_cast<int>(mark)]);
  QWidget* field = widget();
  if (field->property("knob").toString() == name) return;
  field->setProperty("knob", name);
  field->style()->unpolish(field);
  field->style()->polish(field);
}

void KnobField::setIdle(bool idle) {
  QWidget* field = widget();
  if (field->property("idle").toBool() == idle) return;
  field->setProperty("idle", idle);
  field->style()->unpolish(field);
  field->style()->polish(field);
}

KnobField* makeKnobField(const Knob& knob, QWidget* parent) {
  switch (knob.type) {
    case KnobType::Boolean: return new BooleanField(parent);
    case KnobType::Choice: return new ChoiceField(knob, parent);
    case KnobType::Integer:
    case KnobType::Decimal:
    case KnobType::IntegerList:
    case KnobType::ChoiceList:
    case KnobType::Text: break;
  }
  return new LineField(knob, parent);
}

}  // namespace shardscape::ui
