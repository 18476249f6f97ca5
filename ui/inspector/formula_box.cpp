#include "ui/inspector/formula_box.h"

#include <QFrame>
#include <QVBoxLayout>

#include "ui/inspector/copy_label.h"
#include "ui/theme/theme.h"

namespace shardscape::ui {

FormulaBox::FormulaBox(const InspectedValue& value, QWidget* parent) : QWidget(parent), value_(value) {
  auto* label = new CopyLabel(value.label, this);
  label->setProperty("role", "small");
  auto* box = new QFrame(this);
  box->setObjectName("formula_box");
  auto* lines = new QVBoxLayout(box);
  lines->setContentsMargins(12, 9, 12, 9);
  lines->setSpacing(3);
  const auto add = [&](const QString& text, QFont::Weight weight, bool pale) {
    auto* line = new CopyLabel(text, box, true);
    QFont font = Theme::instance().monoFont(12);
    font.setWeight(weight);
    line->setFont(font);
    if (pale) line->setProperty("role", "secondary");
    lines->addWidget(line);
  };
  if (!value.formula.isEmpty()) add(value.formula, QFont::Normal, false);
  if (!value.substituted.isEmpty() && value.substituted != value.formula) {
    add("= " + value.substituted, QFont::Normal, true);
  }
  if (!value.value.isEmpty()) add("= " + value.value, QFont::Bold, false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addWidget(label);
  layout->addWidget(box);
}

}  // namespace shardscape::ui
