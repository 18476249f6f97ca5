#include "ui/toolkit/display_text.h"

#include <QCoreApplication>

#include "base/units.h"

namespace shardscape::ui {

QString knobName(const Knob& knob) {
  const QString label = QString::fromStdString(knob.label);
  return knob.symbol.empty() ? label
                             : QStringLiteral("%1 (%2)").arg(label, QString::fromStdString(knob.symbol));
}

QString displayText(const Knob& knob, const QString& value) {
  if (knob.type == KnobType::Boolean)
    return QCoreApplication::translate("form", value == QLatin1String("true") ? "on" : "off");
  if (knob.type == KnobType::Choice)
    for (const KnobChoice& choice : knob.choices)
      if (value == QString::fromStdString(choice.value)) return QString::fromStdString(choice.label);
  bool number = false;
  const qlonglong parsed = value.toLongLong(&number);
  return number && knob.type == KnobType::Integer ? QString::fromStdString(grouped(parsed)) : value;
}

QString capitalized(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

QString stepHeading(Mode mode) {
  return mode == Mode::Decode    ? QStringLiteral("TPOT")
         : mode == Mode::Prefill ? QStringLiteral("TTFT")
                                 : QStringLiteral("Step");
}

QString stepLabel(Mode mode) {
  return mode == Mode::Decode    ? QStringLiteral("Time per output token")
         : mode == Mode::Prefill ? QStringLiteral("Time to first token")
                                 : QStringLiteral("Step time");
}

}  // namespace shardscape::ui
