#include "ui/form/choice_field.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QStandardItemModel>
#include <QStyleOptionComboBox>
#include <QWheelEvent>
#include <algorithm>

#include "ui/toolkit/elided_combo.h"
#include "ui/toolkit/searchable_combo.h"

namespace shardscape::ui {
namespace {

constexpr int kTextEdge = 4;

// The wheel scrolls the form. It changes a choice only in the focused field.
class QuietComboBox : public SearchableCombo {
 public:
  QuietComboBox(QWidget* parent, std::function<void()> before_choice)
      : SearchableCombo(parent), before_choice_(std::move(before_choice)) {
    setFocusPolicy(Qt::StrongFocus);
    setSizeAdjustPolicy(QComboBox::AdjustToContents);
  }

  // Qt's size hint is too narrow for the longest text under the style sheet.
  QSize sizeHint() const override {
    QSize size = QComboBox::sizeHint();
    int longest = 0;
    for (int i = 0; i < count(); ++i)
      longest = std::max(longest, fontMetrics().horizontalAdvance(itemText(i)));
    QStyleOptionComboBox option;
    initStyleOption(&option);
    option.rect = QRect(QPoint(), size);
    size.rwidth() += std::max(0, longest + kTextEdge - textRoom(*this, option));
    return size;
  }

 protected:
  void wheelEvent(QWheelEvent* event) override {
    if (!hasFocus()) return event->ignore();
    before_choice_();
    QComboBox::wheelEvent(event);
  }
  void paintEvent(QPaintEvent*) override {
    QStyleOptionComboBox option;
    initStyleOption(&option);
    paintElided(*this, option);
  }
  void keyPressEvent(QKeyEvent* event) override {
    before_choice_();
    SearchableCombo::keyPressEvent(event);
  }
  void showPopup() override {
    before_choice_();
    view()->setMinimumWidth(view()->sizeHintForColumn(0) + 24);
    SearchableCombo::showPopup();
  }

 private:
  std::function<void()> before_choice_;
};

}  // namespace

ChoiceField::ChoiceField(const Knob& knob, QWidget* parent)
    : KnobField(parent), box_(new QuietComboBox(parent, [this] { greyInvalidChoices(); })) {
  for (const KnobChoice& choice : knob.choices) {
    box_->addItem(QString::fromStdString(choice.label), QString::fromStdString(choice.value));
  }
  connect(box_, &QComboBox::activated, this, [this](int index) {
    Q_EMIT edited(box_->itemData(index).toString());
    Q_EMIT finished();
  });
}

QWidget* ChoiceField::widget() const { return box_; }

void ChoiceField::setInvalidReason(std::function<QString(const QString& value)> invalid_reason) {
  invalid_reason_ = std::move(invalid_reason);
}

// Arrow keys skip greyed choices. The current choice stays enabled even if invalid; its problem and fix are
// shown.
void ChoiceField::greyInvalidChoices() {
  const auto* model = qobject_cast<QStandardItemModel*>(box_->model());
  if (!invalid_reason_ || !model) return;
  for (int i = 0; i < box_->count(); ++i) {
    const QString why = i == box_->currentIndex() ? QString() : invalid_reason_(box_->itemData(i).toString());
    QStandardItem* item = model->item(i);
    item->setEnabled(why.isEmpty());
    item->setToolTip(why.isEmpty() ? why : "<p>" + why.toHtmlEscaped() + "</p>");  // rich text wraps
    item->setAccessibleDescription(why);
  }
}

void ChoiceField::show(const QString& value) {
  int index = box_->findData(value);
  if (index < 0) {  // a loaded design may name a choice that the list lacks
    box_->addItem(value, value);
    index = box_->count() - 1;
  }
  box_->setCurrentIndex(index);
}

}  // namespace shardscape::ui
