#include "ui/toolkit/issue_line.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

namespace shardscape::ui {

IssueLine::IssueLine(QWidget* parent) : QFrame(parent), text_(new QLabel(this)), fix_(new QPushButton(this)) {
  setObjectName("issue_line");
  text_->setTextFormat(Qt::PlainText);
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  fix_->setProperty("link", true);
  fix_->setSizePolicy(QSizePolicy::Ignored,
                      QSizePolicy::Fixed);  // a long fix must not make the form wider than its panel
  fix_->setObjectName("fix_button");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 5, 4, 5);
  layout->setSpacing(2);
  layout->addWidget(text_);
  layout->addWidget(fix_, 0, Qt::AlignRight);
  // The fix removes this line. Therefore the fix runs after the button's handler has returned.
  connect(
      fix_, &QPushButton::clicked, this,
      [this] {
        if (apply_fix_) apply_fix_();
      },
      Qt::QueuedConnection);
}

void IssueLine::show(const QString& what, const QString& accepted, const QString& fix_label,
                     std::function<void()> fix) {
  QString text = what;
  if (!accepted.isEmpty()) text += tr("; accepted: %1").arg(accepted);
  text_->setText(text);
  fix_label_ = fix_label;
  fix_->setText(fix_label);
  fix_->setVisible(!fix_label.isEmpty());
  fix_->setAccessibleDescription(what);
  apply_fix_ = std::move(fix);
  setVisible(true);
  fitFix();
}

void IssueLine::fitFix() {
  constexpr int kAround = 26;  // the line's margins and the button's own
  if (!isVisible()) return;
  const QString shown = fix_->fontMetrics().elidedText(fix_label_, Qt::ElideMiddle,
                                                       std::max(0, width() - kAround));
  if (fix_->text() != shown) fix_->setText(shown);
  fix_->setToolTip(shown == fix_label_ ? QString() : fix_label_);
}

void IssueLine::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  fitFix();
}

QString IssueLine::text() const { return text_->text(); }

}  // namespace shardscape::ui
