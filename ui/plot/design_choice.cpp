#include "ui/plot/design_choice.h"

#include <QIcon>
#include <QPainter>
#include <QPixmap>
#include <QPushButton>

#include "ui/session/comparisons.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

QIcon swatch(int member, double scale) {
  QPixmap pixmap(QSize(10, 10) * scale);
  pixmap.setDevicePixelRatio(scale);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(Theme::instance().designColor(member));
  painter.drawRoundedRect(QRectF(0, 0, 10, 10), 2, 2);
  return QIcon(pixmap);
}

}  // namespace

DesignChoice::DesignChoice(Session* session, const QString& accessible_name, QWidget* parent)
    : SegmentedControl(accessible_name, {Comparisons::letter(0)}, parent), session_(session) {
  setObjectName(QStringLiteral("design_choice"));
  connect(this, &SegmentedControl::chosen, this, [this](int at) { setMember(place(at)); });
  connect(session_->comparisons(), &Comparisons::changed, this, &DesignChoice::follow);
  connect(&Theme::instance(), &Theme::changed, this, &DesignChoice::follow);
  follow();
}

int DesignChoice::place(int member) const {
  return session_->comparisons()->all().empty() ? member : Comparisons::place(member);
}

void DesignChoice::follow() {
  const std::vector<PinnedDesign>& pinned = session_->comparisons()->all();
  int member = 0;
  for (size_t i = 0; i < pinned.size(); ++i)
    if (shown_ && pinned[i].result.report == shown_) member = static_cast<int>(i) + 1;
  QStringList letters;
  for (int at = 0; at <= static_cast<int>(pinned.size()); ++at)
    letters << QChar(0x2009) + Comparisons::letter(place(at));  // thin space after the swatch
  setLabels(letters);
  for (int m = 0; m < letters.size(); ++m) {
    QPushButton* of = button(place(m));
    const bool runs = m == 0 || pinned[static_cast<size_t>(m - 1)].result.simulation;
    const QString name = m == 0 ? tr("the current design") : pinned[static_cast<size_t>(m - 1)].name;
    of->setIcon(swatch(m, devicePixelRatioF()));
    of->setIconSize({10, 10});
    of->setEnabled(runs);
    of->setToolTip(runs ? name : tr("%1: cannot run, or is still being computed").arg(name));
    of->setAccessibleName(QStringLiteral("%1: %2, %3").arg(accessibleName(), Comparisons::letter(m), name));
  }
  setVisible(!pinned.empty());
  const bool other = member != member_ || (member == 0 && shown_);
  member_ = member;
  if (member == 0) shown_ = nullptr;
  setCurrent(place(member));
  if (other) Q_EMIT changed();
}

void DesignChoice::setMember(int member) {
  const std::vector<PinnedDesign>& pinned = session_->comparisons()->all();
  if (member < 0 || member > static_cast<int>(pinned.size())) return;
  setCurrent(place(member));
  if (member == member_) return;
  member_ = member;
  shown_ = member == 0 ? nullptr : pinned[static_cast<size_t>(member - 1)].result.report;
  Q_EMIT changed();
}

std::shared_ptr<const Report> DesignChoice::report() const {
  return member_ == 0 ? session_->report() : shown_;
}

}  // namespace shardscape::ui
