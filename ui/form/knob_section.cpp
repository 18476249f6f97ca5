#include "ui/form/knob_section.h"

#include <QKeyEvent>
#include <QPushButton>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/form/knob_row.h"

namespace shardscape::ui {

KnobSection::KnobSection(const QString& name, QWidget* parent)
    : QWidget(parent), name_(name), header_(new QPushButton(this)) {
  setAccessibleName(name);
  header_->setObjectName("section_header");
  header_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);  // no wider than the form
  header_->installEventFilter(this);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addWidget(header_);
  connect(header_, &QPushButton::clicked, this, [this] { setFolded(!folded_); });
}

void KnobSection::add(KnobRow* row) {
  rows_ << row;
  layout()->addWidget(row);
}

void KnobSection::setHeading(bool shown) {
  heading_ = shown;
  showRows();
}

void KnobSection::setFolded(bool folded) {
  folded_ = folded;
  showRows();
}

void KnobSection::setShown(bool idle, bool open) {
  idle_shown_ = idle;
  group_open_ = open;
  showRows();
}

void KnobSection::refresh() {
  const auto all = [&](auto fits) { return std::all_of(rows_.begin(), rows_.end(), fits); };
  const bool idle = all([](const KnobRow* row) { return !row->idleReason().isEmpty(); });
  const bool rare = all(
      [](const KnobRow* row) { return row->knob().rare && row->isBaseline() && row->others().isEmpty(); });
  const bool quiet = all([](const KnobRow* row) { return !row->hasIssue(); });
  const bool model = rows_.front()->knob().group == KnobGroup::Model;
  reason_ = idle   ? (model ? tr("not in this model") : rows_.front()->idleReason())
            : rare ? tr("defaults")
                   : QString();
  const bool fold = (idle || rare) && quiet;
  if (fold != fold_) folded_ = fold;
  fold_ = fold;
}

bool KnobSection::shows(const KnobRow* row) const {
  if (filter_.isEmpty() && !idle_shown_ && row->isQuiet()) return false;
  return row->match(filter_) >= (helps_ ? KnobRow::Match::Help : KnobRow::Match::Name);
}

int KnobSection::filter(const QString& text, bool helps) {
  filter_ = text.trimmed();
  helps_ = helps;
  showRows();
  const auto shown = std::count_if(rows_.begin(), rows_.end(),
                                   [&](const KnobRow* row) { return shows(row); });
  return static_cast<int>(shown);
}

void KnobSection::showRows() {
  const bool open = group_open_ && (!folded_ || !filter_.isEmpty() || !heading_);
  // Consecutive rows that are idle for the same reason show the reason once, below the last shown row.
  KnobRow* before = nullptr;
  for (KnobRow* row : rows_) {
    const bool shown = shows(row);
    row->setVisible(open && shown);
    if (!shown) continue;
    if (before) before->setIdleLine(before->idleReason() != row->idleReason());
    before = row;
  }
  if (before) before->setIdleLine(true);
  setVisible(before);
  header_->setVisible(heading_);
  showHeader();
}

void KnobSection::showHeader() {
  const QString mark = folded_ && filter_.isEmpty() ? QStringLiteral("▸  ") : QStringLiteral("▾  ");
  const QString text = reason_.isEmpty() ? name_ : tr("%1: %2").arg(name_, reason_);
  const QString shown = header_->fontMetrics().elidedText(mark + text, Qt::ElideRight,
                                                          std::max(0, header_->width() - 6));
  if (header_->text() != shown) header_->setText(shown);
  const QString& why = rows_.isEmpty() ? QString() : rows_.front()->idleReason();
  header_->setToolTip(reason_.isEmpty() || why.isEmpty() ? QString()
                                                         : tr("%1: without effect, %2.").arg(name_, why));
  header_->setAccessibleName(text);
  if (const bool pale = !reason_.isEmpty(); header_->property("idle").toBool() != pale) {
    header_->setProperty("idle", pale);
    header_->style()->unpolish(header_);
    header_->style()->polish(header_);
  }
  header_->setAccessibleDescription(folded_ ? tr("folded, press Space to open")
                                            : tr("open, press Space to fold"));
}

void KnobSection::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  showHeader();
}

// Left folds and Right opens, as in a tree; Enter does what Space does.
bool KnobSection::eventFilter(QObject* watched, QEvent* event) {
  if (watched == header_ && event->type() == QEvent::KeyPress) {
    switch (static_cast<QKeyEvent*>(event)->key()) {
      case Qt::Key_Left: setFolded(true); return true;
      case Qt::Key_Right: setFolded(false); return true;
      case Qt::Key_Return:
      case Qt::Key_Enter: setFolded(!folded_); return true;
      default: break;
    }
  }
  if (watched == header_ && event->type() == QEvent::Resize) showHeader();
  return QWidget::eventFilter(watched, event);
}

}  // namespace shardscape::ui
