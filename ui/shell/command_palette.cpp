#include "ui/shell/command_palette.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kLongestText = 200;  // letters; each gap is compared with all fields
constexpr int kGroupWidth = 64, kGap = 12;

class CommandDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  // The list sets the width, which depends on the scroll bar.
  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {1, 32}; }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Colors& colors = Theme::instance().colors();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (option.state & QStyle::State_Selected) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(colors.accent_soft);
      painter->drawRoundedRect(QRectF(option.rect).adjusted(6, 1, -6, -1), 6, 6);
    }
    const QRect line = option.rect.adjusted(16, 0, -16, 0);
    const QFont small = Theme::instance().uiFont(12);
    const QString group = index.data(CommandModel::GroupRole).toString();
    // A long hint leaves the title its half of the line.
    const QFontMetrics of_hint(small);
    const int all = line.width() - kGroupWidth;
    const int of_title = QFontMetrics(Theme::instance().uiFont()).horizontalAdvance(index.data().toString());
    const int hint_room = std::max(all / 2, all - of_title - kGap);
    const QString hint = of_hint.elidedText(index.data(CommandModel::HintRole).toString(), Qt::ElideRight,
                                            hint_room);
    const int hint_width = of_hint.horizontalAdvance(hint);
    painter->setFont(small);
    painter->setPen(colors.secondary);
    painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter, group);
    painter->drawText(line, Qt::AlignRight | Qt::AlignVCenter, hint);
    painter->setFont(Theme::instance().uiFont());
    painter->setPen(colors.text);
    const QRect room = line.adjusted(kGroupWidth, 0, -hint_width - kGap, 0);
    painter->drawText(
        room, Qt::AlignLeft | Qt::AlignVCenter,
        painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, room.width()));
    painter->restore();
  }
};

constexpr int kRows = 11;

}  // namespace

CommandPalette::CommandPalette(QWidget* window)
    : QFrame(window),
      line_(new QLineEdit(this)),
      list_(new QListView(this)),
      no_match_(new QLabel(tr("No match."), this)),
      model_(new CommandModel(this)) {
  setObjectName("command_palette");
  setAutoFillBackground(true);
  line_->setPlaceholderText(tr("Find a command, model or field"));
  line_->setAccessibleName(line_->placeholderText());
  list_->setModel(model_);
  list_->setItemDelegate(new CommandDelegate(list_));
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setUniformItemSizes(true);
  list_->setAccessibleName(tr("Commands"));
  no_match_->setProperty("role", "secondary");
  no_match_->setContentsMargins(16, 8, 16, 12);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 8);
  layout->setSpacing(4);
  layout->addWidget(line_);
  layout->addWidget(list_);
  layout->addWidget(no_match_);
  line_->setMaxLength(kLongestText);
  line_->installEventFilter(this);
  window->installEventFilter(this);
  connect(line_, &QLineEdit::textChanged, this, [this](const QString& text) {
    model_->setFilter(text);
    move(0);
    place();
  });
  connect(list_, &QListView::clicked, this, [this] { run(); });
  hide();
}

void CommandPalette::open(QVector<Command> commands) {
  focus_before_ = QApplication::focusWidget();
  model_->setCommands(std::move(commands));
  line_->clear();
  move(0);
  place();
  show();
  raise();
  line_->setFocus(Qt::PopupFocusReason);
}

void CommandPalette::place() {
  const QWidget* window = parentWidget();
  const int rows = std::min(kRows, model_->rowCount());
  list_->setVisible(rows > 0);
  no_match_->setVisible(rows == 0);
  list_->setFixedHeight(std::max(1, rows) * 32);
  const int width = std::min(600, window->width() - 40);
  setFixedWidth(width);
  adjustSize();
  QFrame::move((window->width() - width) / 2, std::min(96, window->height() / 8));
}

void CommandPalette::move(int rows) {
  const int last = model_->rowCount() - 1;
  const int row = rows == 0 ? 0 : std::clamp(list_->currentIndex().row() + rows, 0, std::max(0, last));
  list_->setCurrentIndex(model_->index(row, 0));
}

void CommandPalette::run() {
  const QModelIndex index = list_->currentIndex();
  if (!index.isValid()) return;
  const std::function<void()> chosen = model_->command(index.row()).run;
  dismiss();
  chosen();
}

void CommandPalette::dismiss() {
  if (isHidden()) return;
  hide();
  if (focus_before_ && focus_before_->isVisible()) focus_before_->setFocus();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parentWidget()) {
    if (event->type() == QEvent::Resize && isVisible()) place();
    return false;
  }
  if (event->type() == QEvent::FocusOut && QApplication::activePopupWidget() == nullptr) hide();
  if (event->type() != QEvent::KeyPress) return false;
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down: move(1); return true;
    case Qt::Key_Up: move(-1); return true;
    case Qt::Key_PageDown: move(kRows); return true;
    case Qt::Key_PageUp: move(-kRows); return true;
    case Qt::Key_Return:
    case Qt::Key_Enter: run(); return true;
    case Qt::Key_Escape: dismiss(); return true;
    default: return false;
  }
}

}  // namespace shardscape::ui
