#include "ui/plot/rank_spin_box.h"

#include <QPainter>
#include <QSignalBlocker>
#include <QStyle>
#include <QStyleOptionSpinBox>
#include <limits>

#include "plan/rank_mesh.h"
#include "ui/selection/selection_state.h"
#include "ui/session/session.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {

RankSpinBox::RankSpinBox(SelectionState* state, QWidget* parent)
    : QSpinBox(parent), state_(state), session_(state->session()) {
  setPrefix(tr("rank "));
  setLocale(QLocale(QLocale::English));  // thousands separators as everywhere
  setGroupSeparatorShown(true);
  setKeyboardTracking(false);
  setAccelerated(true);
  setAccessibleName(tr("Rank"));
  setToolTip(tr(
      "All ranks of a stage hold, compute and send the same amounts. Selecting a rank selects its stage."));
  connect(this, &QSpinBox::valueChanged, this, [this](int rank) {
    describe(rank);
    state_->setRank(rank);
  });
  connect(session_, &Session::reportChanged, this, &RankSpinBox::refresh);
  connect(state_, &SelectionState::stageChanged, this, &RankSpinBox::refresh);
  refresh();
}

void RankSpinBox::refresh() {
  const std::shared_ptr<const Report> report = session_->report();
  setEnabled(report && report->valid() && report->ranks > 1);
  if (!report || !report->valid()) return;
  const QSignalBlocker quiet(this);
  setRange(0, static_cast<int>(std::min<int64_t>(report->ranks - 1, std::numeric_limits<int>::max())));
  setValue(static_cast<int>(std::min<qint64>(state_->rank(), maximum())));
  describe(value());
  updateGeometry();
}

void RankSpinBox::describe(int rank) {
  const std::shared_ptr<const Report> report = session_->report();
  if (report && report->valid()) setSuffix(QStringLiteral(": ") + text_of(rank_text(*report, rank)));
}

void RankSpinBox::paintEvent(QPaintEvent* event) {
  QSpinBox::paintEvent(event);
  QStyleOptionSpinBox option;
  initStyleOption(&option);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& colors = Theme::instance().colors();
  for (const bool up : {true, false}) {
    const QRectF button = style()->subControlRect(QStyle::CC_SpinBox, &option,
                                                  up ? QStyle::SC_SpinBoxUp : QStyle::SC_SpinBoxDown, this);
    const bool enabled = isEnabled() && (option.stepEnabled & (up ? StepUpEnabled : StepDownEnabled));
    painter.setPen(
        QPen(enabled ? colors.secondary : colors.line, 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const QPointF middle = button.center() + QPointF(-1, up ? 1.5 : -1.5);
    const double rise = up ? 1.6 : -1.6;
    painter.drawPolyline(
        QPolygonF({middle + QPointF(-3.2, rise), middle - QPointF(0, rise), middle + QPointF(3.2, rise)}));
  }
}

QSize RankSpinBox::sizeHint() const {
  const QSize base = QSpinBox::sizeHint();
  const std::shared_ptr<const Report> report = session_->report();
  if (!report || !report->valid()) return {180, base.height()};
  // The last rank has the longest coordinates. Room for them keeps the width constant.
  const QString longest = prefix() + grouped_text(maximum()) + QStringLiteral(": ") +
                          text_of(rank_text(*report, maximum()));
  return {fontMetrics().horizontalAdvance(longest) + 64, base.height()};
}

}  // namespace shardscape::ui
