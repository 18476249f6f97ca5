#include "ui/form/boolean_field.h"

#include <QCheckBox>

namespace shardscape::ui {

BooleanField::BooleanField(QWidget* parent) : KnobField(parent), box_(new QCheckBox(parent)) {
  connect(box_, &QCheckBox::clicked, this, [this](bool on) {
    Q_EMIT edited(on ? "true" : "false");
    Q_EMIT finished();
  });
}

QWidget* BooleanField::widget() const { return box_; }

void BooleanField::show(const QString& value) { box_->setChecked(value == "true"); }

}  // namespace shardscape::ui
