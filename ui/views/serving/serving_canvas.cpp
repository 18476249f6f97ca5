#include "ui/views/serving/serving_canvas.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cstdlib>

#include "ui/session/comparisons.h"
#include "ui/toolkit/arrow_keys.h"
#include "ui/toolkit/canvas_events.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString rate_text(double rate) { return text_of(significant(rate)); }

}  // namespace

ServingCanvas::ServingCanvas(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ServingCanvas::setSweep(std::shared_ptr<const ServingSweep> sweep, Mode mode, UnitSystem units) {
  const std::optional<std::pair<int64_t, int64_t>> before = selected_ >= 0 ? std::optional(std::pair(
                                                                                 point(selected_).batch,
                                                                                 point(selected_).context))
                                                                           : std::nullopt;
  sweep_ = std::move(sweep);
  mode_ = mode;
  units_ = units;
  hovered_ = -1;
  changed();
  setSelected(before ? find(before->first, before->second) : -1);
}

void ServingCanvas::setPresent(const std::optional<Present>& present) {
  if (present == present_) return;
  present_ = present;
  changed();
  update();
}

void ServingCanvas::setComparedDesigns(std::vector<OtherDesign> others) {
  others_ = std::move(others);
  changed();
  update();
}

int ServingCanvas::find(int64_t batch, int64_t context) const {
  for (int i = 0; i < points(); ++i)
    if (point(i).batch == batch && point(i).context == context) return i;
  return -1;
}

int ServingCanvas::contextOf(int at) const {
  const auto& all = sweep_->largest;
  return static_cast<int>(
      std::find_if(all.begin(), all.end(), [&](const auto& of) { return of.first == point(at).context; }) -
      all.begin());
}

std::vector<int> ServingCanvas::inOrder(int context) const {
  std::vector<int> out;
  for (int i = 0; i < points(); ++i)
    if (contextOf(i) == context) out.push_back(i);
  return out;
}

void ServingCanvas::setSelected(int at) {
  selected_ = at < points() ? at : -1;
  setAccessibleDescription(selected_ >= 0 ? summary(selected_) : QString());
  update();
}

void ServingCanvas::select(int at) {
  setSelected(at);
  Q_EMIT pointSelected(selected_);
}

void ServingCanvas::setHovered(int at) {
  if (at == hovered_) return;
  hovered_ = at;
  setCursor(at >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
  update();
}

QString ServingCanvas::tip(int at) const {
  const ServedPoint& p = point(at);
  QString out = tr("%1 sequences of %2 tokens").arg(grouped_text(p.batch), grouped_text(p.context));
  if (p.largest && decodes()) out += tr(", the most that fit");
  if (present_ && present_->batch == p.batch && present_->context == p.context) out += tr(" (current)");
  const SweptPhase &made = p.decode, &read = p.prefill;
  if (made.valid())
    out += tr("\nTPOT %1, %2 tokens/s to each sequence\n%3 tokens/s, %4 per GPU")
               .arg(seconds_text(made.figures.seconds), rate_text(1 / made.figures.seconds),
                    grouped_text(static_cast<Wide>(made.figures.tokens_per_second)),
                    rate_text(made.figures.tokens_per_gpu));
  else
    out += tr("\nDecode: %1").arg(text_of(made.problem->what));
  if (read.valid())
    out += (read.figures.first_seconds < 0.999 * read.figures.seconds
                ? tr("\nTTFT %1 of the first prompts, %2 of the last")
                      .arg(seconds_text(read.figures.first_seconds), seconds_text(read.figures.seconds))
                : tr("\nTTFT %1").arg(seconds_text(read.figures.seconds))) +
           tr(", %1 prompt tokens/s per GPU").arg(rate_text(read.figures.tokens_per_gpu));
  else
    out += tr("\nPrefill: %1").arg(text_of(read.problem->what));
  const SweptPhase &of = phase(at), &other_phase = decodes() ? read : made;
  if (of.valid())
    out += tr("\nMemory %1, of it KV cache %2")
               .arg(bytes_text(of.memory, units_), bytes_text(of.figures.kv_cache_bytes, units_));
  if (of.valid() && !of.fits) out += tr("\nDoes not fit in memory");
  if (other_phase.valid() && !other_phase.fits)
    out += (decodes() ? tr("\nReading the prompts does not fit: %1") : tr("\nDecode does not fit: %1"))
               .arg(bytes_text(other_phase.memory, units_));
  for (const OtherDesign& other : others_) {
    const QString letter = Comparisons::letter(other.member);
    const auto same = std::find_if(
        other.sweep->points.begin(), other.sweep->points.end(),
        [&](const ServedPoint& o) { return o.batch == p.batch && o.context == p.context; });
    const SweptPhase* theirs = same == other.sweep->points.end() ? nullptr
                               : decodes()                       ? &same->decode
                                                                 : &same->prefill;
    if (!theirs || !theirs->valid()) {
      out += tr("\n%1: not with this batch").arg(letter);
      continue;
    }
    out += tr("\n%1: %2 %3, %4 tokens/s per GPU")
               .arg(letter, decodes() ? tr("TPOT") : tr("TTFT"), seconds_text(theirs->figures.seconds),
                    rate_text(theirs->figures.tokens_per_gpu));
    if (phase(at).valid())
      out += QStringLiteral(", ") +
             signed_percent_text(theirs->figures.tokens_per_gpu / phase(at).figures.tokens_per_gpu - 1);
    if (!theirs->fits) out += tr(", does not fit");
  }
  return out;
}

QString ServingCanvas::summary(int at) const {
  const ServedPoint& p = point(at);
  QStringList parts{tr("%1 × %2 tokens").arg(grouped_text(p.batch), grouped_text(p.context))};
  if (const SweptPhase& of = phase(at); of.valid()) {
    parts << (decodes() ? tr("TPOT %1") : tr("TTFT %1")).arg(seconds_text(of.figures.seconds))
          << tr("%1 tokens/s per GPU").arg(rate_text(of.figures.tokens_per_gpu))
          << bytes_text(of.memory, units_);
    if (!of.fits) parts << tr("does not fit");
  } else {
    parts << text_of(of.problem->what);
  }
  return parts.join(QStringLiteral(" · "));
}

void ServingCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paint(painter, QRectF(rect()), Theme::instance().colors().ground);
}

void ServingCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
  keyboard_ = false;
  select(pointAt(event->position()));
}

void ServingCanvas::mouseMoveEvent(QMouseEvent* event) { setHovered(pointAt(event->position())); }

void ServingCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const int at = pointAt(event->position()); at >= 0 && event->button() == Qt::LeftButton)
    Q_EMIT taken(at);
}

void ServingCanvas::leaveEvent(QEvent*) { setHovered(-1); }

void ServingCanvas::step(int by) {
  if (selected_ < 0) return select(present_ ? std::max(0, find(present_->batch, present_->context)) : 0);
  const std::vector<int> order = inOrder(contextOf(selected_));
  const auto at = std::find(order.begin(), order.end(), selected_) - order.begin() + by;
  if (at >= 0 && at < static_cast<std::ptrdiff_t>(order.size())) select(order[static_cast<size_t>(at)]);
}

// To the nearest batch there; from the largest that fits to the largest that fits.
void ServingCanvas::stepContext(int by) {
  if (selected_ < 0) return step(0);
  const int context = contextOf(selected_) + by;
  if (context < 0 || context >= contexts()) return;
  const ServedPoint& from = point(selected_);
  const std::vector<int> order = inOrder(context);
  if (order.empty()) return;
  const auto away = [&](int at) {
    if (!from.asked && point(at).largest) return std::pair<int, int64_t>(0, 0);
    return std::pair<int, int64_t>(1, std::llabs(point(at).batch - from.batch));
  };
  select(*std::min_element(order.begin(), order.end(), [&](int a, int b) { return away(a) < away(b); }));
}

void ServingCanvas::keyPressEvent(QKeyEvent* event) {
  if (points() == 0) return QWidget::keyPressEvent(event);
  keyboard_ = true;
  switch (event->key()) {
    case Qt::Key_Left: return step(-1);
    case Qt::Key_Right: return step(1);
    case Qt::Key_Up: return stepContext(-1);
    case Qt::Key_Down: return stepContext(1);
    case Qt::Key_Home:
    case Qt::Key_End: {
      const std::vector<int> order = inOrder(selected_ < 0 ? 0 : contextOf(selected_));
      return select(event->key() == Qt::Key_Home ? order.front() : order.back());
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (selected_ >= 0) Q_EMIT taken(selected_);
      return;
    case Qt::Key_Escape: return select(-1);
    default: QWidget::keyPressEvent(event);
  }
}

bool ServingCanvas::event(QEvent* event) {
  if (keep_arrow_keys(event)) return true;
  if (show_tip(this, event, [this](QPoint at) {
        const int point = pointAt(at);
        return point < 0 ? QString() : tip(point);
      }))
    return true;
  follow_focus(this, event, keyboard_);
  return QWidget::event(event);
}

}  // namespace shardscape::ui
