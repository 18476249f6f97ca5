#include "ui/toolkit/copy_label.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QPainter>

#include "ui/toolkit/glossary.h"

namespace shardscape::ui {
namespace {

constexpr QChar kBreak(0x200B);  // zero width space

QString with_breaks(const QString& text) {
  QString broken;
  for (const QChar c : text) {
    const bool sign = c == '+' && (broken.isEmpty() || broken.back().isSpace());  // "+31.9 %" stays together
    broken += c;
    if (c == QChar(0xB7) || (c == '+' && !sign) || c == '/') broken += kBreak;
  }
  return broken;
}

}  // namespace

CopyLabel::CopyLabel(const QString& text, QWidget* parent, bool breakable)
    : QLabel(parent), breakable_(breakable) {
  setTextFormat(Qt::PlainText);
  setWordWrap(true);
  setTextInteractionFlags(Qt::TextSelectableByMouse);
  setContextMenuPolicy(Qt::NoContextMenu);  // the panel has a menu with more commands
  setWords(text);
}

void CopyLabel::setWords(const QString& text) {
  if (const QString shown = breakable_ ? with_breaks(text) : text; shown != QLabel::text()) setText(shown);
}

void CopyLabel::setTerm(bool term) {
  if (term == is_term_) return;
  is_term_ = term;
  update();
}

void CopyLabel::paintEvent(QPaintEvent* event) {
  QLabel::paintEvent(event);
  if (!is_term_) return;
  QPainter painter(this);
  painter.setPen(palette().color(foregroundRole()));
  underlineTerm(painter, contentsRect(), alignment(), text());
}

QString CopyLabel::cleanSelection() const { return selectedText().remove(kBreak); }

bool CopyLabel::event(QEvent* event) {
  // Without selected text the panel handles the key and copies everything.
  if (event->type() == QEvent::ShortcutOverride && !hasSelectedText()) {
    event->ignore();
    return false;
  }
  return QLabel::event(event);
}

void CopyLabel::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy) && hasSelectedText()) {
    QGuiApplication::clipboard()->setText(cleanSelection());
    return;
  }
  QLabel::keyPressEvent(event);
}

}  // namespace shardscape::ui
