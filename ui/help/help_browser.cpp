#include "ui/help/help_browser.h"

#include <QAbstractTextDocumentLayout>
#include <QResizeEvent>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextFrame>
#include <algorithm>

#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kColumn = 820, kEdge = 28, kTop = 18;  // pixels

}  // namespace

HelpBrowser::HelpBrowser(QWidget* parent) : QTextBrowser(parent) {
  setObjectName(QStringLiteral("help_browser"));
  setAccessibleName(tr("Page of the documentation"));
  setOpenLinks(false);
  setFrameShape(QFrame::NoFrame);
}

void HelpBrowser::showPage(QTextDocument* page, const QUrl& folder, int top) {
  if (page != document()) {
    folder_ = folder;
    pictures_.clear();
    setExtraSelections({});
    setDocument(page);
    layOut();
    showMarks();
  }
  goTo(top);
}

void HelpBrowser::leavePage() {
  setExtraSelections({});  // the marks belong to the page
  setDocument(new QTextDocument(this));
}

int HelpBrowser::top() const { return cursorForPosition(QPoint(viewport()->width() / 2, kTop)).position(); }

void HelpBrowser::goTo(int position) {
  document()
      ->documentLayout()
      ->documentSize();  // finishes the layout, which sets the range of the scroll bar
  QTextCursor cursor(document());
  cursor.setPosition(std::clamp(position, 0, document()->characterCount() - 1));
  setTextCursor(cursor);
  verticalScrollBar()->setValue(position == 0 ? 0 : verticalScrollBar()->value() + cursorRect().top() - kTop);
}

void HelpBrowser::mark(const QStringList& words) {
  words_ = words;
  showMarks();
}

void HelpBrowser::showMarks() {
  const Colors& colors = Theme::instance().colors();
  QTextEdit::ExtraSelection mark;
  mark.format.setBackground(mixed(colors.panel, colors.note, 0.4));
  mark.format.setForeground(colors.text);
  QList<QTextEdit::ExtraSelection> marks;
  for (const QString& word : words_) {
    for (mark.cursor = document()->find(word, 0); !mark.cursor.isNull();
         mark.cursor = document()->find(word, mark.cursor))
      marks.push_back(mark);
  }
  std::sort(marks.begin(), marks.end(), [](const auto& a, const auto& b) {
    return a.cursor.selectionStart() < b.cursor.selectionStart();
  });
  setExtraSelections(marks);
}

bool HelpBrowser::findMarked(bool forward) {
  const QList<QTextEdit::ExtraSelection> marks = extraSelections();
  if (marks.isEmpty()) return false;
  const int here = textCursor().selectionStart();
  auto next = marks.end();
  if (forward) {
    next = std::find_if(marks.begin(), marks.end(),
                        [&](const auto& mark) { return mark.cursor.selectionStart() > here; });
    if (next == marks.end()) next = marks.begin();
  } else {
    next = std::find_if(marks.begin(), marks.end(),
                        [&](const auto& mark) { return mark.cursor.selectionStart() >= here; });
    next = next == marks.begin() ? marks.end() - 1 : next - 1;
  }
  const QTextCursor found = next->cursor;
  setTextCursor(found);  // scrolls to the found word
  return true;
}

void HelpBrowser::resizeEvent(QResizeEvent* event) {
  const int before = verticalScrollBar()->value() == 0 ? 0 : top();
  QTextBrowser::resizeEvent(event);
  if (event->size().width() == event->oldSize().width()) return;
  layOut();
  goTo(before);
}

// The column stays in the middle of a wide window.
void HelpBrowser::layOut() {
  const int edge = std::max(kEdge, (viewport()->width() - kColumn + 1) / 2);
  QTextFrame* root = document()->rootFrame();
  QTextFrameFormat format = root->frameFormat();
  format.setLeftMargin(edge);
  format.setRightMargin(edge);
  format.setTopMargin(kTop);
  format.setBottomMargin(2 * kTop);
  root->setFrameFormat(format);
  scalePictures(viewport()->width() - 2 * edge);
  // The changes above interrupt a layout of the page that Qt does in steps, and Qt does not go on with it.
  document()->markContentsDirty(0, document()->characterCount());
}

void HelpBrowser::scalePictures(int width) {
  for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
    for (auto it = block.begin(); !it.atEnd(); ++it) {
      QTextImageFormat format = it.fragment().charFormat().toImageFormat();
      if (!format.isValid()) continue;
      const QString name = format.name();
      QImage& picture = pictures_[name];
      if (picture.isNull()) picture.load(folder_.resolved(QUrl(name)).toLocalFile());
      if (picture.isNull() || width <= 0) continue;
      const double ratio = devicePixelRatioF();
      const int shown = std::min(width, picture.width());
      QImage scaled = picture.scaledToWidth(qRound(shown * ratio), Qt::SmoothTransformation);
      scaled.setDevicePixelRatio(ratio);
      document()->addResource(QTextDocument::ImageResource, QUrl(name), scaled);
      format.setWidth(shown);
      format.setHeight(double(shown) * picture.height() / picture.width());
      QTextCursor cursor(block);
      cursor.setPosition(it.fragment().position());
      cursor.setPosition(it.fragment().position() + it.fragment().length(), QTextCursor::KeepAnchor);
      cursor.setCharFormat(format);
      break;  // the fragments of this block are new; a block has one picture
    }
  }
}

}  // namespace shardscape::ui
