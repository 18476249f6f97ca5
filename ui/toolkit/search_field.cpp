#include "ui/toolkit/search_field.h"

#include <QKeyEvent>
#include <QLabel>
#include <algorithm>

namespace shardscape::ui {
namespace {

constexpr int kRoomy = 200;  // a narrower field shows "3/17" and has no clear button
constexpr int kClearButton = 24, kEdge = 9, kPadding = 20;

}  // namespace

SearchField::SearchField(const QStringList& hints, QWidget* parent)
    : QLineEdit(parent), hints_(hints), count_label_(new QLabel(this)) {
  count_label_->setObjectName(QStringLiteral("match_count"));
  count_label_->setProperty("role", QStringLiteral("small"));
  count_label_->setAttribute(Qt::WA_TransparentForMouseEvents);
  count_label_->hide();
  setToolTip(tr("Enter goes to the next match, Shift+Enter to the previous match"));
  connect(this, &QLineEdit::textChanged, this, [this] {
    at_ = -1;
    matches_ = 0;
    Q_EMIT searched();
    showCount();
  });
}

void SearchField::setMatches(int count) {
  matches_ = count;
  if (at_ >= count) at_ = -1;
  showCount();
}

QString SearchField::matchesText() const { return count_label_->text(); }

void SearchField::activate() {
  setFocus(Qt::ShortcutFocusReason);
  selectAll();
}

void SearchField::go(int step) {
  if (matches_ == 0) return;
  at_ = at_ < 0 ? (step > 0 ? 0 : matches_ - 1) : (at_ + step + matches_) % matches_;
  showCount();
  Q_EMIT entered(at_);
}

void SearchField::showCount() {
  const bool roomy = width() >= kRoomy;
  QString words;
  if (text().trimmed().isEmpty())
    words.clear();
  else if (at_ >= 0)
    words = (roomy ? tr("%L1 of %L2") : tr("%L1/%L2")).arg(at_ + 1).arg(matches_);
  else if (!roomy)
    words = QStringLiteral("%L1").arg(matches_);
  else if (matches_ == 0)
    words = tr("no match");
  else
    words = matches_ == 1 ? tr("1 match") : tr("%L1 matches").arg(matches_);
  count_label_->setText(words);
  count_label_->setVisible(!words.isEmpty());
  if (isClearButtonEnabled() != roomy) setClearButtonEnabled(roomy);  // Escape also clears
  const QSize size = count_label_->sizeHint();
  const int right = width() - kEdge - (roomy ? kClearButton : 0);
  count_label_->setGeometry(right - size.width(), (height() - size.height()) / 2, size.width(),
                            size.height());
  const int taken = words.isEmpty() ? 0 : size.width() + 4;
  if (textMargins().right() != taken) setTextMargins(0, 0, taken, 0);
}

void SearchField::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter: return go(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
    case Qt::Key_Escape:
      clear();
      Q_EMIT left();
      return;
    default: QLineEdit::keyPressEvent(event);
  }
}

void SearchField::resizeEvent(QResizeEvent* event) {
  QLineEdit::resizeEvent(event);
  const int room = width() - kPadding - (width() >= kRoomy ? kClearButton : 0);
  const auto fits = [&](const QString& hint) { return fontMetrics().horizontalAdvance(hint) <= room; };
  const auto hint = std::find_if(hints_.begin(), hints_.end(), fits);
  setPlaceholderText(hint == hints_.end() ? hints_.value(hints_.size() - 1) : *hint);
  showCount();
}

}  // namespace shardscape::ui
