#include "ui/help/help_tree.h"

#include <QPainter>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QTextLayout>
#include <algorithm>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kPageRole = Qt::UserRole, kPositionRole = Qt::UserRole + 1, kWordsRole = Qt::UserRole + 2;
constexpr int kRowHeight = 26, kBefore = 18;  // pixels; characters of a line before its first match

// Paints a row with the found words in bold.
class MatchDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return {QStyledItemDelegate::sizeHint(option, index).width(), kRowHeight};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& given, const QModelIndex& index) const override {
    QStyleOptionViewItem option = given;
    initStyleOption(&option, index);
    const QStringList words = index.data(kWordsRole).toStringList();
    if (words.isEmpty()) return QStyledItemDelegate::paint(painter, given, index);
    const QRect room = option.widget->style()->subElementRect(QStyle::SE_ItemViewItemText, &option,
                                                              option.widget);
    const QString text = option.fontMetrics.elidedText(option.text, Qt::ElideRight, room.width() - 4);
    option.text.clear();
    option.widget->style()->drawControl(QStyle::CE_ItemViewItem, &option, painter, option.widget);
    QTextLayout layout(text, option.font);
    layout.setFormats(boldWords(text, words));
    layout.beginLayout();
    QTextLine line = layout.createLine();
    layout.endLayout();
    const double y = room.top() + (room.height() - line.height()) / 2;
    painter->setPen(option.palette.color(QPalette::Text));
    layout.draw(painter, QPointF(room.left() + 2, y));
  }

 private:
  static QList<QTextLayout::FormatRange> boldWords(const QString& text, const QStringList& words) {
    QTextLayout::FormatRange range;
    range.format.setFontWeight(QFont::Bold);
    QList<QTextLayout::FormatRange> ranges;
    for (const QString& word : words) {
      range.length = static_cast<int>(word.size());
      for (qsizetype at = text.indexOf(word, 0, Qt::CaseInsensitive); at >= 0;
           at = text.indexOf(word, at + word.size(), Qt::CaseInsensitive)) {
        range.start = static_cast<int>(at);
        ranges.push_back(range);
      }
    }
    return ranges;
  }
};

// The part of a line that starts shortly before the first found word.
QString excerpt(const QString& line, const QStringList& words) {
  qsizetype first = line.size();
  for (const QString& word : words) {
    const qsizetype at = line.indexOf(word, 0, Qt::CaseInsensitive);
    if (at >= 0) first = std::min(first, at);
  }
  if (first <= kBefore) return line;
  const qsizetype space = line.indexOf(' ', first - kBefore);
  return QStringLiteral("… ") + line.mid(space >= 0 && space < first ? space + 1 : first);
}

}  // namespace

HelpTree::HelpTree(HelpLibrary* library, QWidget* parent) : QTreeWidget(parent), library_(library) {
  setObjectName(QStringLiteral("help_tree"));
  setAccessibleName(tr("Pages of the documentation"));
  setHeaderHidden(true);
  setRootIsDecorated(false);
  setIndentation(16);
  setUniformRowHeights(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setTextElideMode(Qt::ElideRight);
  setItemDelegate(new MatchDelegate(this));
  connect(this, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) { choose(item); });
  // A click on the current row scrolls to its place again.
  connect(this, &QTreeWidget::itemClicked, this, [this](QTreeWidgetItem* item) { choose(item); });
  connect(this, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* item) { choose(item); });
}

void HelpTree::choose(QTreeWidgetItem* item) {
  if (item) Q_EMIT chosen(item->data(0, kPageRole).toInt(), item->data(0, kPositionRole).toInt());
}

QTreeWidgetItem* HelpTree::addPage(int page, const QString& text) {
  auto* item = new QTreeWidgetItem(this, {text});
  item->setData(0, kPageRole, page);
  item->setData(0, kPositionRole, 0);
  return item;
}

QTreeWidgetItem* HelpTree::addPlace(QTreeWidgetItem* page, const HelpPlace& place, const QString& text) {
  auto* item = new QTreeWidgetItem(page, {text});
  item->setData(0, kPageRole, place.page);
  item->setData(0, kPositionRole, place.position);
  return item;
}

void HelpTree::showContents() {
  const QSignalBlocker quiet(this);
  clear();
  matches_.clear();
  for (int page = 0; page < library_->size(); ++page) addPage(page, library_->title(page));
}

void HelpTree::showMatches(const QVector<HelpMatch>& matches, const QStringList& words) {
  const QSignalBlocker quiet(this);
  clear();
  matches_.clear();
  QTreeWidgetItem* page = nullptr;
  for (const HelpMatch& match : matches) {
    if (!page || page->data(0, kPageRole).toInt() != match.place.page) {
      page = addPage(match.place.page, library_->title(match.place.page));
      QFont font = Theme::instance().uiFont(13, QFont::DemiBold);
      page->setFont(0, font);
      page->setExpanded(true);
    }
    QTreeWidgetItem* item = addPlace(page, match.place, excerpt(match.text, words));
    item->setData(0, kWordsRole, words);
    item->setToolTip(0, match.text);
    matches_.push_back(item);
  }
}

void HelpTree::selectPage(int page) {
  const QSignalBlocker quiet(this);
  if (!matches_.isEmpty() || page >= topLevelItemCount()) return;
  QTreeWidgetItem* item = topLevelItem(page);
  if (item->childCount() == 0) {
    for (const HelpSection& section : library_->sections(page)) {
      if (section.level == 2) addPlace(item, {page, section.position}, section.title);
    }
  }
  for (int i = 0; i < topLevelItemCount(); ++i) topLevelItem(i)->setExpanded(i == page);
  if (!currentItem() || currentItem()->data(0, kPageRole).toInt() != page) setCurrentItem(item);
}

void HelpTree::selectMatch(int match) {
  const QSignalBlocker quiet(this);
  setCurrentItem(matches_[match]);
}

}  // namespace shardscape::ui
