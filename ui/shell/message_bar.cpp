#include "ui/shell/message_bar.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

#include "ui/toolkit/icons.h"

namespace shardscape::ui {

MessageBar::MessageBar(QWidget* parent)
    : QFrame(parent), text_(new QLabel(this)), way_out_(new QPushButton(tr("Undo"), this)) {
  setObjectName("message_bar");
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  way_out_->setProperty("link", true);
  way_out_->setObjectName("message_undo");
  connect(
      way_out_, &QPushButton::clicked, this,
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
  layout->addWidget(way_out_);
  layout->addWidget(close);
  connect(close, &QToolButton::clicked, this, &QWidget::hide);
  hide();
}

void MessageBar::show(const QString& text) {
  action_ = nullptr;
  way_out_->hide();
  text_->setText(text);
  text_->setAccessibleName(text);
  setVisible(!text.isEmpty());
}

void MessageBar::note(const QString& text, QAction* way_out, const QString& words) {
  show(text);
  action_ = way_out;
  way_out_->setText(words);
  way_out_->show();
}

void MessageBar::endNote() {
  if (action_) hide();
}

QString MessageBar::text() const { return isHidden() ? QString() : text_->text(); }

}  // namespace shardscape::ui
