#include "ui/form/issue_line.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace shardscape::ui {

IssueLine::IssueLine(QWidget* parent) : QFrame(parent), text_(new QLabel(this)), fix_(new QPushButton(this)) {
  setObjectName("issue_line");
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  fix_->setProperty("link", true);
  fix_->setObjectName("fix_button");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 5, 4, 5);
  layout->setSpacing(2);
  layout->addWidget(text_);
  layout->addWidget(fix_, 0, Qt::AlignRight);
  // The mended problem removes this very line: leave the button's own handler first.
  connect(fix_, &QPushButton::clicked, this, [this] { if (mend_) mend_(); }, Qt::QueuedConnection);
}

void IssueLine::show(const QString& what, const QString& accepted, const QString& fix_label,
                     std::function<void()> fix) {
  QString text = what;
  if (!accepted.isEmpty()) text += tr("; accepted: %1").arg(accepted);
  text_->setText(text);
  fix_->setText(fix_label);
  fix_->setVisible(!fix_label.isEmpty());
  fix_->setAccessibleDescription(what);
  mend_ = std::move(fix);
  setVisible(true);
}

QString IssueLine::text() const { return text_->text(); }

}  // namespace shardscape::ui
