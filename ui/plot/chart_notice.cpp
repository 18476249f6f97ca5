#include "ui/plot/chart_notice.h"

#include <QApplication>
#include <QBoxLayout>
#include <QEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <algorithm>

#include "ui/session/session.h"
#include "ui/session/staleness.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kCardWidth = 460, kCardMargin = 16;
constexpr int kLeastGap = 12;  // between the card and the edges of what it covers
constexpr int kMostFixes = 2;

}  // namespace

ChartNotice::ChartNotice(Session* session, QWidget* covered) : QWidget(covered), session_(session) {
  setAttribute(Qt::WA_TransparentForMouseEvents);  // the last result stays usable under the dimming
  setFocusPolicy(Qt::NoFocus);
  hide();
  // A sibling of the notice, not a child: the notice ignores the mouse, but the card's buttons need clicks.
  card_ = new QFrame(covered);
  card_->setObjectName(QStringLiteral("chart_notice"));
  card_->hide();
  auto* layout = new QVBoxLayout(card_);
  layout->setContentsMargins(kCardMargin, 14, kCardMargin, 14);
  layout->setSpacing(8);
  headline_ = new QLabel(card_);
  headline_->setProperty("role", "heading");
  count_ = new QLabel(card_);
  count_->setProperty("role", "caption");
  layout->addWidget(count_);
  sentence_ = new QLabel(card_);
  for (QLabel* label : {headline_, sentence_}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    layout->addWidget(label);
  }
  fix_buttons_ = new QBoxLayout(QBoxLayout::LeftToRight);
  fix_buttons_->setSpacing(8);
  layout->addLayout(fix_buttons_);

  staleness_ = new Staleness(session, Staleness::Of::Report, this);
  connect(staleness_, &Staleness::changed, this, &ChartNotice::veil);
  connect(session_, &Session::reportChanged, this, &ChartNotice::refresh);
  connect(session_, &Session::computingChanged, this, &ChartNotice::refresh);
  connect(&Theme::instance(), &Theme::changed, this, &ChartNotice::refresh);
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget* old, QWidget* now) {
    if (now && card_->isAncestorOf(now) && old && !card_->isAncestorOf(old)) focus_before_ = old;
  });
  covered->installEventFilter(this);
  card_->installEventFilter(this);
  refresh();
}

void ChartNotice::refresh() {
  if (session_->current()) {
    dismissed_ = false;
    hideCard();
  } else if (!session_->computing() && !dismissed_ && parentWidget()->isVisible())
    fillCard();  // while computing, a shown card stays until the result arrives
  veil();
}

// Qt would hand the focus of a hidden button to the next widget of the window, where keys would edit.
void ChartNotice::hideCard() {
  const QWidget* focus = QApplication::focusWidget();
  const bool inside = focus && card_->isAncestorOf(focus);
  if (inside && focus_before_ && focus_before_->isVisible())
    focus_before_->setFocus(Qt::OtherFocusReason);
  else if (inside)
    parentWidget()->setFocus(Qt::OtherFocusReason);
  card_->hide();
}

void ChartNotice::veil() {
  setVisible(staleness_->stale());
  if (!isHidden()) {
    place();
    raise();
    card_->raise();
  }
  update();
}

void ChartNotice::fillCard() {
  const std::vector<Problem>& problems = session_->problems();
  const auto found = std::find_if(problems.begin(), problems.end(),
                                  [](const Problem& p) { return p.severity == Severity::Error; });
  while (QLayoutItem* item = fix_buttons_->takeAt(0)) {
    if (QWidget* old = item->widget()) {
      old->setParent(nullptr);  // off the card at once
      old->deleteLater();       // the button may still be handling its click
    }
    delete item;
  }
  const bool has_result = session_->report() && session_->report()->valid();
  headline_->setText(has_result ? tr("These numbers belong to the last design that could be computed")
                                : tr("This design cannot be computed yet"));
  const auto errors = std::count_if(problems.begin(), problems.end(),
                                    [](const Problem& p) { return p.severity == Severity::Error; });
  count_->setText(errors > 1 ? tr("Problem 1 of %1").arg(errors) : QString());
  count_->setVisible(errors > 1);
  if (found != problems.end()) {
    const QString accepted = text_of(found->accepted);
    sentence_->setText(text_of(found->what) +
                       (accepted.isEmpty() ? tr(".") : tr("; accepted: %1.").arg(accepted)));
    const size_t fixes = std::min<size_t>(kMostFixes, found->fixes.size());
    for (size_t i = 0; i < fixes; ++i) {
      auto* button = new QPushButton(capitalized(text_of(found->fixes[i].label)), card_);
      if (i == 0) button->setProperty("primary", true);
      connect(button, &QPushButton::clicked, this,
              [this, fix = found->fixes[i]] { session_->applyFix(fix); });
      fix_buttons_->addWidget(button);
    }
  } else {
    sentence_->setText(tr("The marked fields on the left show the problem."));
  }
  if (session_->undoStack()->canUndo()) {
    auto* button = new QPushButton(tr("Undo the last edit"), card_);
    connect(button, &QPushButton::clicked, session_->undoStack(), &QUndoStack::undo);
    fix_buttons_->addWidget(button);
  }
  fix_buttons_->addStretch(1);
  auto* hide = new QPushButton(tr("Hide"), card_);
  hide->setObjectName(QStringLiteral("hide_notice"));
  hide->setProperty("link", true);
  hide->setToolTip(tr("Hides this card until the next design that can be computed"));
  connect(hide, &QPushButton::clicked, this, [this] {
    dismissed_ = true;
    hideCard();
  });
  fix_buttons_->addWidget(hide);
  // Widgets added to a visible card have no size until control returns to Qt.
  for (QPushButton* button : card_->findChildren<QPushButton*>()) button->show();
  card_->show();  // show() polishes the card first, so that wrapped text is measured with its real font
  place();
  card_->raise();
}

void ChartNotice::place(bool anew) {
  const QRect area = parentWidget()->rect();
  setGeometry(area);
  int buttons = 0;
  for (int i = 0; i < fix_buttons_->count(); ++i)
    buttons += fix_buttons_->itemAt(i)->sizeHint().width() + fix_buttons_->spacing();
  buttons += 2 * kCardMargin;
  const int most = area.width() - 2 * kLeastGap;
  const int width = std::min(std::max(kCardWidth, buttons), most);
  fix_buttons_->setDirection(buttons > most ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  if (anew) card_->layout()->invalidate();  // asks for a layout itself
  const int height = card_->layout()->totalHeightForWidth(width);
  card_->setGeometry((area.width() - width) / 2, std::max(kLeastGap, area.height() / 4 - height / 2), width,
                     height);
}

void ChartNotice::paintEvent(QPaintEvent*) {
  QColor veil = Theme::instance().colors().ground;
  const bool has_result = session_->report() && session_->report()->valid();
  veil.setAlphaF(has_result ? 0.6f : 1.0f);
  QPainter(this).fillRect(rect(), veil);
}

bool ChartNotice::eventFilter(QObject* watched, QEvent* event) {
  const QEvent::Type type = event->type();
  if (type == QEvent::Resize && watched == parentWidget()) place();
  if (type == QEvent::Show && watched == parentWidget()) refresh();  // hidden views have no card
  // Qt posts this event after texts, fonts or buttons changed. Only now are their sizes final.
  if ((type == QEvent::LayoutRequest || type == QEvent::Show) && watched == card_) place(false);
  return QWidget::eventFilter(watched, event);
}

}  // namespace shardscape::ui
