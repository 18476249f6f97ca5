#include "ui/state/display_text.h"

#include "base/units.h"

namespace shardscape::ui {

QString displayText(const Knob& knob, const QString& value) {
  bool number = false;
  const qlonglong parsed = value.toLongLong(&number);
  return number && knob.type == KnobType::Integer ? QString::fromStdString(grouped(parsed)) : value;
}

}  // namespace shardscape::ui
