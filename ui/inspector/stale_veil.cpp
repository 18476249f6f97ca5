#include "ui/inspector/stale_veil.h"

#include <QEvent>
#include <QPainter>

#include "ui/session/session.h"
#include "ui/session/staleness.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {

StaleVeil::StaleVeil(Session* session, QWidget* covered)
    : QWidget(covered), session_(session), staleness_(new Staleness(session, Staleness::Of::Report, this)) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setFocusPolicy(Qt::NoFocus);
  covered->installEventFilter(this);
  connect(staleness_, &Staleness::changed, this, &StaleVeil::follow);
  connect(session, &Session::reportChanged, this, &StaleVeil::follow);
  follow();
}

// Before the first report nothing is stale.
void StaleVeil::follow() {
  setVisible(staleness_->stale() && session_->report());
  if (isHidden()) return;
  setGeometry(parentWidget()->rect());
  raise();
}

void StaleVeil::paintEvent(QPaintEvent*) {
  QColor veil = Theme::instance().colors().panel;
  veil.setAlphaF(0.55f);
  QPainter(this).fillRect(rect(), veil);
}

bool StaleVeil::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parentWidget() && event->type() == QEvent::Resize) setGeometry(parentWidget()->rect());
  return QWidget::eventFilter(watched, event);
}

}  // namespace shardscape::ui
