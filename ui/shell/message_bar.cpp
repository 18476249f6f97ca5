#include "ui/shell/message_bar.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

#include "ui/toolkit/icons.h"

namespace shardscape::ui {

MessageBar::MessageBar(QWidget* parent)
    : QFrame(parent), text_(new QLabel(this)), button_(new QPushButton(tr("Undo"), this)) {
  setObjectName("message_bar");
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  button_->setProperty("link", true);
  button_->setObjectName("message_undo");
  connect(
      button_, &QPushButton::clicked, this,
      [this] {
        if (action_) action_->trigger();
      },
      Qt::QueuedConnection);  // hides this bar
  auto* close = new QToolButton(this);
  setThemedIcon(close, "close");
  close->setAccessibleName(tr("Dismiss"));
  close->setToolTip(close->accessibleName());
  close->setProperty("flat", true);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(20, 6, 12, 6);
  layout->setSpacing(12);
  layout->addWidget(text_, 1);
  layout->addWidget(button_);
  layout->addWidget(close);
  connect(close, &QToolButton::clicked, this, &QWidget::hide);
  hide();
}

void MessageBar::show(const QString& text) {
  action_ = nullptr;
  button_->hide();
  text_->setText(text);
  text_->setAccessibleName(text);
  setVisible(!text.isEmpty());
}

void MessageBar::note(const QString& text, QAction* action, const QString& words) {
  show(text);
  action_ = action;
  button_->setText(words);
  button_->show();
}

void MessageBar::endNote() {
  if (action_) hide();
}

QString MessageBar::text() const { return isHidden() ? QString() : text_->text(); }

}  // namespace shardscape::ui
