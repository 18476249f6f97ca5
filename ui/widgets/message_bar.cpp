#include "ui/widgets/message_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include "ui/theme/icons.h"

namespace shardscape::ui {

MessageBar::MessageBar(QWidget* parent) : QFrame(parent), text_(new QLabel(this)) {
  setObjectName("message_bar");
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* close = new QToolButton(this);
  setThemedIcon(close, "close");
  close->setAccessibleName(tr("Dismiss"));
  close->setToolTip(close->accessibleName());
  close->setProperty("flat", true);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(20, 6, 12, 6);
  layout->addWidget(text_, 1);
  layout->addWidget(close);
  connect(close, &QToolButton::clicked, this, &QWidget::hide);
  hide();
}

void MessageBar::show(const QString& text) {
  text_->setText(text);
  text_->setAccessibleName(text);
  setVisible(!text.isEmpty());
}

QString MessageBar::text() const { return isHidden() ? QString() : text_->text(); }

}  // namespace shardscape::ui
