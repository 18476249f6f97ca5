#include "ui/session/staleness.h"

#include <QGraphicsOpacityEffect>
#include <QWidget>

#include "ui/session/session.h"

namespace shardscape::ui {
namespace {

constexpr int kPatienceMs = 150;
constexpr double kPale = 0.45;

}  // namespace

Staleness::Staleness(const Session* session, Of of, QObject* parent)
    : QObject(parent), session_(session), of_(of) {
  dim_delay_.setSingleShot(true);
  dim_delay_.setInterval(kPatienceMs);
  connect(&dim_delay_, &QTimer::timeout, this, [this] { set(true); });
  for (const auto signal : {&Session::reportChanged, &Session::computingChanged, &Session::estimateChanged,
                            &Session::rejectedChanged})
    connect(session_, signal, this, &Staleness::follow);
  follow();
}

void Staleness::follow() {
  const bool fresh = !session_->hasRejectedText() &&
                     (of_ == Of::Report ? session_->current() : session_->estimated());
  const bool coming = session_->computing() || session_->current();
  if (!fresh && coming) {
    if (!dim_delay_.isActive() && !stale_) dim_delay_.start();
    return;
  }
  dim_delay_.stop();
  set(!fresh);
}

void Staleness::set(bool stale) {
  if (stale == stale_) return;
  stale_ = stale;
  Q_EMIT changed(stale);
}

void setDimmed(QWidget* widget, bool on) {
  if (on == (widget->graphicsEffect() != nullptr)) return;
  if (!on) return widget->setGraphicsEffect(nullptr);
  auto* effect = new QGraphicsOpacityEffect(widget);
  effect->setOpacity(kPale);
  widget->setGraphicsEffect(effect);
}

void dimWhileStale(QWidget* widget, const Session* session, Staleness::Of of) {
  auto* staleness = new Staleness(session, of, widget);
  QObject::connect(staleness, &Staleness::changed, widget,
                   [widget](bool stale) { setDimmed(widget, stale); });
  setDimmed(widget, staleness->stale());
}

}  // namespace shardscape::ui
