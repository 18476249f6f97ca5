#include "ui/toolkit/combo_popup.h"

#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QScreen>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>
#include <algorithm>

namespace shardscape::ui {
namespace {

constexpr int kRows = 14, kRowHeight = 26, kMargin = 6;

bool choosable(const QModelIndex& index) {
  return index.isValid() && index.flags().testFlag(Qt::ItemIsEnabled) &&
         index.data(Qt::AccessibleDescriptionRole).toString() != QStringLiteral("separator");
}

}  // namespace

// The entries whose text or data contains every word.
class ComboPopup::Matching : public QSortFilterProxyModel {
 public:
  using QSortFilterProxyModel::QSortFilterProxyModel;
  void setWords(const QString& words) {
    words_ = words.split(u' ', Qt::SkipEmptyParts);
    invalidateFilter();
  }

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override {
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    const bool separator = index.data(Qt::AccessibleDescriptionRole).toString() ==
                           QStringLiteral("separator");
    if (separator) return words_.isEmpty();
    const QString all = index.data().toString() + u' ' + index.data(Qt::UserRole).toString();
    return std::all_of(words_.begin(), words_.end(),
                       [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
  }

 private:
  QStringList words_;
};

ComboPopup::ComboPopup(QComboBox* box)
    : QFrame(box, Qt::Popup),
      box_(box),
      shown_(new Matching(this)),
      line_(new QLineEdit(this)),
      list_(new QListView(this)),
      no_match_(new QLabel(tr("No match."), this)) {
  setObjectName(QStringLiteral("combo_popup"));
  setAttribute(Qt::WA_NoMouseReplay);  // a click on the box closes the list without opening it again
  line_->setObjectName(QStringLiteral("combo_search"));
  line_->setPlaceholderText(tr("Type to find"));
  line_->setAccessibleName(tr("Find in %1").arg(box->accessibleName()));
  shown_->setSourceModel(box->model());
  list_->setModel(shown_);
  list_->setAccessibleName(box->accessibleName());
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  list_->setMouseTracking(true);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setTextElideMode(Qt::ElideMiddle);
  no_match_->setProperty("role", "secondary");
  no_match_->setContentsMargins(10, 4, 10, 8);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
  layout->setSpacing(4);
  layout->addWidget(line_);
  layout->addWidget(list_);
  layout->addWidget(no_match_);
  line_->installEventFilter(this);
  connect(line_, &QLineEdit::textChanged, this, &ComboPopup::find);
  connect(list_, &QListView::clicked, this, &ComboPopup::choose);
}

QAbstractItemModel* ComboPopup::model() const { return shown_; }

void ComboPopup::open(const QString& words) {
  line_->clear();
  find({});
  const QModelIndex now = shown_->mapFromSource(box_->model()->index(box_->currentIndex(), 0));
  list_->setCurrentIndex(now);
  show();
  line_->setFocus(Qt::PopupFocusReason);
  list_->scrollTo(now, QAbstractItemView::PositionAtCenter);
  if (!words.isEmpty()) line_->setText(words);
}

void ComboPopup::find(const QString& words) {
  shown_->setWords(words);
  list_->setCurrentIndex({});
  move(1);
  place();
}

void ComboPopup::move(int rows) {
  const int last = shown_->rowCount() - 1, step = rows < 0 ? -1 : 1;
  int row = std::clamp(list_->currentIndex().row() + rows, 0, std::max(0, last));
  while (row >= 0 && row <= last && !choosable(shown_->index(row, 0))) row += step;
  if (row >= 0 && row <= last) list_->setCurrentIndex(shown_->index(row, 0));
}

void ComboPopup::choose() {
  const QModelIndex index = list_->currentIndex();
  if (!choosable(index)) return;
  hide();
  Q_EMIT chosen(shown_->mapToSource(index).row());
}

void ComboPopup::place() {
  const int rows = std::min(kRows, shown_->rowCount());
  list_->setVisible(rows > 0);
  no_match_->setVisible(rows == 0);
  const int each = std::max(kRowHeight, list_->sizeHintForRow(0));
  list_->setFixedHeight(std::max(1, rows) * each + 2);
  const QRect screen = box_->screen()->availableGeometry();
  int wide = box_->width();
  for (int row = 0; row < box_->count(); ++row)
    wide = std::max(wide, list_->fontMetrics().horizontalAdvance(box_->itemText(row)) + 56);
  setFixedWidth(std::min(wide, screen.width()));
  adjustSize();
  QPoint at = box_->mapToGlobal(QPoint(0, box_->height() + 2));
  at.setX(std::clamp(at.x(), screen.left(), std::max(screen.left(), screen.right() - width())));
  at.setY(std::clamp(at.y(), screen.top(), std::max(screen.top(), screen.bottom() - height())));
  QFrame::move(at);
}

bool ComboPopup::eventFilter(QObject*, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return false;
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down: move(1); return true;
    case Qt::Key_Up: move(-1); return true;
    case Qt::Key_PageDown: move(kRows - 1); return true;
    case Qt::Key_PageUp: move(1 - kRows); return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Tab: choose(); return true;
    case Qt::Key_Escape: hide(); return true;
    default: return false;
  }
}

}  // namespace shardscape::ui
