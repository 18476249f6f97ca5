#include "ui/shell/preset_popup.h"

#include <QCheckBox>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QScreen>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include "base/units.h"
#include "design/knobs/published_layout.h"
#include "model/library.h"
#include "ui/shell/settings.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kIdRole = Qt::UserRole, kHintRole = Qt::UserRole + 1;
constexpr int kImportedRole = Qt::UserRole + 2;  // index of an imported model, which has no id
constexpr int kRowHeight = 26, kRows = 16, kWidth = 380;
constexpr int kOtherHeight = 90;  // of the search field, the check box and the margins

bool is_heading(const QModelIndex& index) {
  return index.data(kIdRole).toString().isEmpty() && !index.data(kImportedRole).isValid();
}

class PresetDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
    return {option.rect.width(), kRowHeight};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Colors& colors = Theme::instance().colors();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRect line = option.rect.adjusted(12, 0, -12, 0);
    if (is_heading(index)) {
      QFont font = Theme::instance().uiFont(11);
      font.setWeight(QFont::DemiBold);
      painter->setFont(font);
      painter->setPen(colors.secondary);
      painter->drawText(line.adjusted(0, 6, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, index.data().toString());
      painter->restore();
      return;
    }
    if (option.state & QStyle::State_Selected) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(colors.accent_soft);
      painter->drawRoundedRect(QRectF(option.rect).adjusted(4, 1, -4, -1), 5, 5);
    }
    const QString hint = index.data(kHintRole).toString();
    painter->setFont(Theme::instance().uiFont(12));
    painter->setPen(colors.secondary);
    painter->drawText(line, Qt::AlignRight | Qt::AlignVCenter, hint);
    const QRect room = line.adjusted(8, 0, -painter->fontMetrics().horizontalAdvance(hint) - 12, 0);
    painter->setFont(Theme::instance().uiFont());
    painter->setPen(colors.text);
    painter->drawText(
        room, Qt::AlignLeft | Qt::AlignVCenter,
        painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, room.width()));
    painter->restore();
  }
};

QString yours() { return PresetPopup::tr("Yours"); }

bool matches(const QString& text, const QStringList& words) {
  return std::all_of(words.begin(), words.end(),
                     [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

QString search_text(const Preset& preset) {
  return QString::fromStdString(preset.maker + " " + preset.name + " " + preset.id + " " + preset.released);
}

}  // namespace

PresetPopup::PresetPopup(QWidget* owner)
    : QFrame(owner, Qt::Popup),
      line_(new QLineEdit(this)),
      list_(new QListView(this)),
      no_match_(new QLabel(tr("No match."), this)),
      layout_(new QCheckBox(tr("With the published layout, if there is one"), this)),
      model_(new QStandardItemModel(this)) {
  setObjectName("preset_popup");
  setAttribute(Qt::WA_NoMouseReplay);  // a click on the box closes the list without opening it again
  line_->setObjectName("preset_search");
  line_->setPlaceholderText(tr("Find a model"));
  line_->setAccessibleName(line_->placeholderText());
  list_->setModel(model_);
  list_->setItemDelegate(new PresetDelegate(list_));
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  list_->setUniformItemSizes(true);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setAccessibleName(tr("Models"));
  no_match_->setProperty("role", "secondary");
  no_match_->setContentsMargins(12, 6, 12, 10);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->setSpacing(4);
  layout->addWidget(line_);
  layout->addWidget(list_);
  layout->addWidget(no_match_);
  layout_->setObjectName("published_layout");
  layout_->setToolTip(
      tr("Sets the parallelism, the batch and the cluster in which people have trained the model. "
         "The tooltip of a model names the source."));
  layout_->setFocusPolicy(Qt::NoFocus);
  layout_->setChecked(settings::publishedLayouts());
  connect(layout_, &QCheckBox::toggled, this, &settings::setPublishedLayouts);
  layout->addWidget(layout_);
  line_->installEventFilter(this);
  connect(line_, &QLineEdit::textChanged, this, [this](const QString& words) {
    fill(words);
    select({});
    place();
  });
  connect(list_, &QListView::clicked, this, &PresetPopup::choose);
}

void PresetPopup::open(const QString& current, const QStringList& imported, int current_imported) {
  imported_ = imported;
  line_->clear();
  fill({});
  select(current, current_imported);
  place();
  show();
  line_->setFocus(Qt::PopupFocusReason);
  list_->scrollTo(list_->currentIndex(), QAbstractItemView::PositionAtCenter);
}

void PresetPopup::fill(const QString& text) {
  model_->clear();
  const QStringList words = text.split(' ', Qt::SkipEmptyParts);
  addImported(words);
  // Saved presets of the person come first in the library and join the imported models.
  QString maker = model_->rowCount() > 0 ? yours() : QString();
  for (const Preset& preset : ModelLibrary::instance().presets()) {
    if (!matches(search_text(preset), words)) continue;
    const QString own = is_own(preset.place)   ? yours()
                        : preset.maker.empty() ? tr("Others")
                                               : QString::fromStdString(preset.maker);
    if (own != maker) addHeading(own);
    maker = own;
    auto* item = new QStandardItem(QString::fromStdString(preset.name));
    item->setData(QString::fromStdString(preset.id), kIdRole);
    QStringList hint;
    if (preset.published_parameters > 0)
      hint << QString::fromStdString(format_count(preset.published_parameters));
    if (!preset.released.empty()) hint << QString::fromStdString(preset.released);
    item->setData(hint.join(QStringLiteral(" · ")), kHintRole);
    QString sources = QString::fromStdString(preset.source);
    if (!preset.layout.empty())
      sources += tr("\nPublished: %1\n%2")
                     .arg(QString::fromStdString(published_layout_text(preset)),
                          QString::fromStdString(preset.layout.source));
    item->setToolTip(sources);
    model_->appendRow(item);
  }
}

void PresetPopup::addHeading(const QString& text) {
  auto* heading = new QStandardItem(text);
  heading->setFlags(Qt::NoItemFlags);
  model_->appendRow(heading);
}

void PresetPopup::addImported(const QStringList& words) {
  const QString hint = tr("imported");
  for (int i = 0; i < imported_.size(); ++i) {
    if (!matches(QStringList{yours(), hint, imported_[i]}.join(' '), words)) continue;
    if (model_->rowCount() == 0) addHeading(yours());
    auto* item = new QStandardItem(imported_[i]);
    item->setData(i, kImportedRole);
    item->setData(hint, kHintRole);
    item->setToolTip(tr("A model without a preset that was imported or opened in this session"));
    model_->appendRow(item);
  }
}

void PresetPopup::select(const QString& id, int imported) {
  QModelIndexList found;
  if (imported >= 0)
    found = model_->match(model_->index(0, 0), kImportedRole, imported, 1, Qt::MatchExactly);
  else if (!id.isEmpty())
    found = model_->match(model_->index(0, 0), kIdRole, id, 1, Qt::MatchExactly);
  list_->setCurrentIndex(found.isEmpty() ? model_->index(1, 0) : found.front());  // row 0 is a heading
}

void PresetPopup::move(int rows) {
  const int last = model_->rowCount() - 1, step = rows < 0 ? -1 : 1;
  int row = std::clamp(list_->currentIndex().row() + rows, 0, std::max(0, last));
  if (row <= last && is_heading(model_->index(row, 0))) row += row == 0 ? 1 : step;
  if (row > last) return;
  list_->setCurrentIndex(model_->index(row, 0));
  if (row == 1) list_->scrollToTop();  // shows the first heading too
}

void PresetPopup::choose() {
  const QModelIndex index = list_->currentIndex();
  if (!index.isValid() || is_heading(index)) return;
  hide();
  if (const QVariant imported = index.data(kImportedRole); imported.isValid()) {
    Q_EMIT importedChosen(imported.toInt());
    return;
  }
  Q_EMIT chosen(index.data(kIdRole).toString(), layout_->isChecked());
}

void PresetPopup::place() {
  const QWidget* owner = parentWidget();
  const QRect screen = owner->screen()->availableGeometry();
  const int room = (screen.height() - kOtherHeight) / kRowHeight;
  const int rows = std::min({kRows, std::max(1, room), model_->rowCount()});
  list_->setVisible(rows > 0);
  no_match_->setVisible(rows == 0);
  list_->setFixedHeight(std::max(1, rows) * kRowHeight + 2);
  setFixedWidth(std::max(kWidth, owner->width()));
  adjustSize();
  QPoint at = owner->mapToGlobal(QPoint(0, owner->height() + 4));
  at.setY(std::max(screen.top(), std::min(at.y(), screen.bottom() - height())));
  QFrame::move(at);
}

bool PresetPopup::eventFilter(QObject*, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return false;
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down: move(1); return true;
    case Qt::Key_Up: move(-1); return true;
    case Qt::Key_PageDown: move(kRows - 1); return true;
    case Qt::Key_PageUp: move(1 - kRows); return true;
    case Qt::Key_Return:
    case Qt::Key_Enter: choose(); return true;
    case Qt::Key_Escape: hide(); return true;
    default: return false;
  }
}

}  // namespace shardscape::ui
