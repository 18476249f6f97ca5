#include "ui/shell/frame_clock.h"

#include <QApplication>
#include <QKeyEvent>
#include <QKeySequence>
#include <QWidget>
#include <ctime>

#include "ui/session/session.h"

namespace shardscape::ui {
namespace {

constexpr double kLongestQueue = 60'000;  // ms; a longer one is a clock with another origin

// If the program is idle after this time and has not painted, nothing that is visible has changed.
constexpr int kNothingToPaint = 150;  // ms

QString name(QEvent* event) {
  switch (event->type()) {
    case QEvent::ShortcutOverride:  // comes before a key press; the only event of a key that is a shortcut
    case QEvent::KeyPress: {
      const auto* key = static_cast<QKeyEvent*>(event);
      return QStringLiteral("key ") +
             QKeySequence(key->keyCombination()).toString(QKeySequence::PortableText);
    }
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonRelease: return QStringLiteral("click");
    case QEvent::Wheel: return QStringLiteral("wheel");
    default: return {};
  }
}

// How long an input waited until the program took it, in milliseconds. X servers and Wayland compositors
// stamp inputs with the monotonic clock, modulo 2^32; 0 where the stamp is of another clock.
double timeInQueue(QEvent* event) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto ms = static_cast<uint32_t>(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
  const double waited = ms - static_cast<uint32_t>(static_cast<QInputEvent*>(event)->timestamp());
  return waited < kLongestQueue ? waited : 0;
}

}  // namespace

FrameClock::FrameClock(Session* session, QWidget* window)
    : QObject(window), session_(session), window_(window) {
  without_frame_.setSingleShot(true);
  without_frame_.setInterval(kNothingToPaint);
  // A timer without a delay fires after all events that are waiting, requests to paint included.
  connect(&without_frame_, &QTimer::timeout, this,
          [this] { QTimer::singleShot(0, this, &FrameClock::nothingPainted); });
  connect(session, &Session::designChanged, this, [this] {
    if (!window_->isVisible()) return;
    if (!wait_) begin(QStringLiteral("edit"), 0);  // typed text takes effect after a pause
    awaits_answer_ = true;
    answered_ = false;
  });
  connect(session, &Session::resultShown, this, [this] {
    const bool before = answered_;
    answered_ = !session_->computing() && (!session_->current() || session_->estimated());
    if (!wait_ || !answered_ || before) return;
    answered_at_ = elapsed();
    without_frame_.start();
  });
  qApp->installEventFilter(this);
}

bool FrameClock::logTo(const QString& path) {
  log_.setFileName(path);
  return log_.open(QIODevice::WriteOnly | QIODevice::Truncate | QIODevice::Text) &&
         log_.write("input,frame_ms,answer_ms\n") > 0;
}

bool FrameClock::eventFilter(QObject* watched, QEvent* event) {
  const bool frame = event->type() == QEvent::UpdateRequest && wait_;
  // Qt's tests send ShortcutOverride as an event of the program; nobody else does.
  const bool input = event->spontaneous() || event->type() == QEvent::ShortcutOverride;
  if (!frame && (wait_ || !input || name(event).isEmpty())) return false;
  const auto* widget = qobject_cast<QWidget*>(watched);
  if (!widget || !belongsToWindow(widget)) return false;
  // A window paints while it handles this event; the queued call runs after that.
  if (frame)
    QMetaObject::invokeMethod(this, &FrameClock::painted, Qt::QueuedConnection);
  else
    begin(name(event), timeInQueue(event));
  return false;
}

bool FrameClock::belongsToWindow(const QWidget* widget) const {
  while (widget && widget != window_) widget = widget->parentWidget();
  return widget;
}

// An event passes several widgets until one takes it, and more inputs may come before the frame: the first
// counts.
void FrameClock::begin(const QString& input, double queued) {
  wait_ = Wait{input, 0, std::nullopt};
  queued_ = queued;
  since_.start();
  first_frame_ = awaits_answer_ = answered_ = false;
  without_frame_.start();
}

double FrameClock::elapsed() const { return queued_ + static_cast<double>(since_.nsecsElapsed()) / 1e6; }

void FrameClock::painted() {
  if (!wait_) return;
  const double now = elapsed();
  if (!first_frame_) {
    first_frame_ = true;
    wait_->frame = now;
  }
  if (awaits_answer_ && !answered_) return;
  if (awaits_answer_) wait_->answer = now;
  end();
}

void FrameClock::nothingPainted() {
  // The wait may have ended, and another input may have begun one of its own.
  if (!wait_ || without_frame_.isActive() || (awaits_answer_ && !answered_)) return;
  if (awaits_answer_) {
    if (!first_frame_) wait_->frame = answered_at_;
    wait_->answer = answered_at_;
    return end();
  }
  ++left_out_;
  log(wait_->input, {}, {});
  wait_.reset();
  Q_EMIT inputLeftOut();
}

void FrameClock::end() {
  const auto ms = [](double value) { return QByteArray::number(value, 'f', 2); };
  last_ = std::move(wait_);
  wait_.reset();
  log(last_->input, ms(last_->frame), last_->answer ? ms(*last_->answer) : QByteArray());
  Q_EMIT waited();
}

void FrameClock::log(const QString& input, const QByteArray& frame, const QByteArray& answer) {
  if (!log_.isOpen()) return;
  log_.write(input.toUtf8() + ',' + frame + ',' + answer + '\n');
  log_.flush();
}

}  // namespace shardscape::ui
