#include "ui/form/choice_field.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QStyleOptionComboBox>
#include <QStylePainter>
#include <QWheelEvent>

namespace shardscape::ui {
namespace {

// The wheel scrolls the form; it changes a choice only where the person is.
class QuietComboBox : public QComboBox {
 public:
  explicit QuietComboBox(QWidget* parent) : QComboBox(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(4);
  }

 protected:
  void wheelEvent(QWheelEvent* event) override {
    hasFocus() ? QComboBox::wheelEvent(event) : event->ignore();
  }
  // Text that is too long ends in "…" instead of being cut.
  void paintEvent(QPaintEvent*) override {
    QStylePainter painter(this);
    QStyleOptionComboBox option;
    initStyleOption(&option);
    const QRect room = style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
    option.currentText = fontMetrics().elidedText(currentText(), Qt::ElideRight, room.width() - 4);
    painter.drawComplexControl(QStyle::CC_ComboBox, option);
    painter.drawControl(QStyle::CE_ComboBoxLabel, option);
  }
  void showPopup() override {
    view()->setMinimumWidth(view()->sizeHintForColumn(0) + 24);
    QComboBox::showPopup();
  }
};

}  // namespace

ChoiceField::ChoiceField(const Knob& knob, QWidget* parent) : KnobField(parent), box_(new QuietComboBox(parent)) {
  for (const KnobChoice& choice : knob.choices) {
    box_->addItem(QString::fromStdString(choice.label), QString::fromStdString(choice.value));
  }
  connect(box_, &QComboBox::activated, this, [this](int index) {
    Q_EMIT edited(box_->itemData(index).toString());
    Q_EMIT finished();
  });
}

QWidget* ChoiceField::widget() const { return box_; }

void ChoiceField::show(const QString& value) {
  int index = box_->findData(value);
  if (index < 0) {  // a design from elsewhere may name what this list lacks
    box_->addItem(value, value);
    index = box_->count() - 1;
  }
  box_->setCurrentIndex(index);
}

}  // namespace shardscape::ui
