// The amber border of a field whose text the design does not accept.
#pragma once

#include <QStyle>
#include <QVariant>
#include <QWidget>

namespace shardscape::ui {

inline void markInvalid(QWidget* field, bool wrong) {
  const QVariant value = wrong ? QVariant(QStringLiteral("wrong")) : QVariant();
  if (field->property("knob") == value) return;
  field->setProperty("knob", value);
  field->style()->unpolish(field);
  field->style()->polish(field);
}

}  // namespace shardscape::ui
