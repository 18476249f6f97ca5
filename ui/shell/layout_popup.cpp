#include "ui/shell/layout_popup.h"

#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "base/units.h"
#include "ui/session/comparisons.h"
#include "ui/session/layout_finder.h"
#include "ui/session/session.h"
#include "ui/toolkit/change_row.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kWidth = 580, kMostHelp = 8;

QString gpus_text(int64_t gpus) {
  return gpus == 1 ? LayoutPopup::tr("1 GPU") : LayoutPopup::tr("%1 GPUs").arg(text_of(grouped(gpus)));
}

// "4.03 s · 65.1 K tokens/s · 53.3 GiB"
QString figures(const Evaluation& e, UnitSystem units) {
  return QStringLiteral("%1 · %2 · %3")
      .arg(text_of(format_seconds(e.step_seconds)),
           LayoutPopup::tr("%1 tokens/s").arg(text_of(format_count(static_cast<Wide>(e.tokens_per_second)))),
           text_of(format_bytes(e.memory, units)));
}

// A reason whose percentages stay on one line.
QString reason_text(const std::string& reason) {
  return text_of(reason).replace(QStringLiteral(" %"), QStringLiteral("\u00A0%"));
}

// "tp 8 · pp 16 · dp 4": the degrees, without the name of the model.
QString degrees(Design design) {
  design.name.clear();
  const QString name = Comparisons::nameOf(design);
  return name.startsWith(QStringLiteral(" · ")) ? name.mid(3) : name;
}

}  // namespace

LayoutPopup::LayoutPopup(Session* session, LayoutFinder* finder, QWidget* owner)
    : QFrame(owner, Qt::Popup),
      session_(session),
      finder_(finder),
      owner_(owner),
      heading_(new QLabel(this)),
      summary_(new QLabel(this)),
      scroll_(new QScrollArea(this)) {
  setObjectName(QStringLiteral("layout_popup"));
  setAccessibleName(tr("Layouts"));
  setAttribute(Qt::WA_NoMouseReplay);  // a click on the button closes the list without opening it again
  heading_->setProperty("role", "title");
  summary_->setProperty("role", "small");
  summary_->setTextFormat(Qt::PlainText);
  summary_->setWordWrap(true);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setFocusPolicy(Qt::NoFocus);
  scroll_->viewport()->setAutoFillBackground(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(16, 14, 6, 12);
  layout->setSpacing(4);
  layout->addWidget(heading_);
  layout->addWidget(summary_);
  layout->addWidget(scroll_);
  setFixedWidth(kWidth);
  connect(finder, &LayoutFinder::changed, this, [this] {
    if (isVisible()) refresh();
  });
}

void LayoutPopup::open() {
  finder_->search();
  refresh();
  show();
  refresh();  // fonts and heights of a shown list are final
}

QString LayoutPopup::heading() const {
  return tr("Layouts for %1").arg(gpus_text(session_->design().world()));
}

QString LayoutPopup::summary() const {
  if (finder_->searching()) return tr("Searching...");
  const auto layouts = finder_->layouts();
  if (!layouts) return tr("The design has changed. Open the list again to search.");
  if (layouts->unavailable) return text_of(to_string(*layouts->unavailable));
  const QString tried = tr("%1 designs tried in %2. Model, batch, types and cluster stay.")
                            .arg(text_of(grouped(layouts->evaluated)),
                                 text_of(format_seconds(finder_->seconds())));
  if (layouts->found.empty())
    return tr("No layout fits on %1. %2").arg(gpus_text(session_->design().world()), tried);
  return finder_->distance().isEmpty() ? tried
                                       : tr("The current design is %1. %2").arg(finder_->distance(), tried);
}

QString LayoutPopup::text() const { return heading_->text() + u'\n' + summary_->text(); }

void LayoutPopup::refresh() {
  qsizetype focused = -1;
  for (qsizetype i = 0; i < apply_.size(); ++i)
    if (apply_[i]->hasFocus()) focused = i;
  heading_->setText(heading());
  summary_->setText(summary());
  apply_.clear();
  content_ = new QWidget;
  content_->setAutoFillBackground(false);
  rows_ = new QVBoxLayout(content_);
  rows_->setContentsMargins(0, 6, 10, 0);
  rows_->setSpacing(8);
  if (finder_->layouts() && !finder_->searching()) {
    addFound();
    addHelp();
  }
  scroll_->setWidget(content_);
  scroll_->setVisible(!apply_.isEmpty());
  place();
  const auto first = std::find_if(apply_.begin(), apply_.end(),
                                  [](QPushButton* b) { return b->isEnabled(); });
  if (focused >= 0 && focused < apply_.size()) {
    apply_[focused]->setFocus(Qt::PopupFocusReason);
  } else if (first != apply_.end()) {
    (*first)->setFocus(Qt::PopupFocusReason);
  }
}

// Aims that the same design serves share a row.
void LayoutPopup::addFound() {
  const Layouts& layouts = *finder_->layouts();
  std::vector<Row> rows;
  for (const FoundLayout& found : layouts.found) {
    const QString aim = text_of(layout_aim_label(found.aim));
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const Row& row) { return *row.design == found.design; });
    if (same != rows.end()) {
      same->name += QStringLiteral(", ") + aim.toLower();
      same->reason += u' ' + reason_text(found.reason);
      continue;
    }
    rows.push_back({aim,
                    figures(found.evaluation, session_->units()),
                    reason_text(found.reason),
                    {},
                    true,
                    &found.design,
                    tr("the layout \"%1\"").arg(aim.toLower())});
  }
  for (const Row& row : rows) addRow(row);
  if (!layouts.at_fewest) return;
  const FoundLayout& fewest = *layouts.at_fewest;
  const QString gpus = gpus_text(layouts.fewest_gpus);
  addRow({tr("The fewest GPUs that fit: %1").arg(text_of(grouped(layouts.fewest_gpus))),
          figures(fewest.evaluation, session_->units()), reason_text(fewest.reason), tr("fits"), true,
          &fewest.design, tr("a layout for %1").arg(gpus)});
}

void LayoutPopup::addHelp() {
  const Layouts& layouts = *finder_->layouts();
  if (layouts.help.empty() || !finder_->helps()) return;
  addSection(tr("What would help the current layout"));
  for (size_t i = 0; i < std::min<size_t>(layouts.help.size(), kMostHelp); ++i) {
    const LayoutHelp& help = layouts.help[i];
    const QString name = capitalized(text_of(help.what));
    const QString saved = tr("saves %1").arg(text_of(format_bytes(help.saved, session_->units())));
    addRow({name,
            figures(help.evaluation, session_->units()) + QStringLiteral(" · ") + saved,
            {},
            help.fits ? tr("fits") : tr("does not fit"),
            help.fits,
            &help.design,
            name.toLower()});
  }
}

void LayoutPopup::addSection(const QString& title) {
  auto* label = new QLabel(title.toUpper(), content_);
  label->setProperty("role", "group");
  label->setContentsMargins(0, apply_.isEmpty() ? 0 : 8, 0, 0);
  rows_->addWidget(label);
}

void LayoutPopup::addRow(const Row& row) {
  QStringList details{degrees(*row.design)};
  if (!row.reason.isEmpty()) details << row.reason;
  QString badge = row.badge;
  bool fits = row.fits;
  for (const Problem& note : finder_->notesOf(*row.design)) {
    details << capitalized(reason_text(note.what)) + u'.';
    if (note.code != ProblemCode::MemoryMayNotFit) continue;
    badge = tr("may not fit");
    fits = false;
  }
  auto* frame = new ChangeRow({row.name, badge, fits, row.figures, details.join(u'\n'),
                               (QStringList{row.figures} + details.mid(1)).join(QStringLiteral(". "))},
                              content_);
  Design same = *row.design;
  same.name = session_->design().name;
  QPushButton* button = frame->button();
  if (same == session_->design()) frame->setCurrent();
  button->setProperty("primary", apply_.isEmpty());
  button->installEventFilter(this);
  const auto& design = *row.design;
  connect(button, &QPushButton::clicked, this,
          [this, design, undo_text = row.undo_text] { apply(design, undo_text); });
  apply_ << button;
  rows_->addWidget(frame);
}

void LayoutPopup::apply(const Design& design, const QString& undo_text) {
  hide();
  Design next = design;
  next.name = session_->design().name;
  session_->setDesign(next, undo_text);
}

void LayoutPopup::place() {
  const QRect screen = owner_->screen()->availableGeometry();
  const int room = std::max(120, screen.height() * 3 / 4 - 90);
  const int inner = kWidth - 22;
  const int wanted = rows_->hasHeightForWidth() ? rows_->totalHeightForWidth(inner)
                                                : rows_->sizeHint().height();
  scroll_->setFixedHeight(std::min(room, wanted));
  adjustSize();
  QPoint at = owner_->mapToGlobal(QPoint(owner_->width() - width() - 20, owner_->height() + 2));
  at.setX(std::clamp(at.x(), screen.left(), std::max(screen.left(), screen.right() - width())));
  at.setY(std::max(screen.top(), std::min(at.y(), screen.bottom() - height())));
  QFrame::move(at);
}

void LayoutPopup::move(int rows) {
  const auto focused = std::find_if(apply_.begin(), apply_.end(),
                                    [](QPushButton* b) { return b->hasFocus(); });
  qsizetype at = focused == apply_.end() ? -1 : focused - apply_.begin();
  do {
    at += rows;
  } while (at >= 0 && at < apply_.size() && !apply_[at]->isEnabled());
  if (at < 0 || at >= apply_.size()) return;
  apply_[at]->setFocus(Qt::TabFocusReason);
  scroll_->ensureWidgetVisible(apply_[at]->parentWidget(), 0, 8);
}

bool LayoutPopup::eventFilter(QObject*, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return false;
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down: move(1); return true;
    case Qt::Key_Up: move(-1); return true;
    case Qt::Key_Return:
    case Qt::Key_Enter: qobject_cast<QPushButton*>(focusWidget())->click(); return true;
    default: return false;
  }
}

}  // namespace shardscape::ui
