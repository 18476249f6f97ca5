#include "ui/views/serving/serving_canvas.h"

#include <algorithm>
#include <cstdlib>

#include "ui/plot/design_overlay.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/serving/serving_answer.h"

namespace shardscape::ui {
namespace {

QString canvas_rate(double rate) { return text_of(significant(rate)); }

}  // namespace

void ServingCanvas::setSweep(std::shared_ptr<const ServingSweep> sweep, Mode mode, UnitSystem units) {
  const bool selected = selected_ >= 0;
  const int64_t batch = selected ? point(selected_).batch : 0;
  const int64_t context = selected ? point(selected_).context : 0;
  sweep_ = std::move(sweep);
  mode_ = mode;
  units_ = units;
  hovered_ = -1;
  changed();
  setSelected(selected ? find(batch, context) : -1);
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
  update();
}

QString ServingCanvas::tip(int at) const {
  const ServedPoint& p = point(at);
  QString out = tr("%1 sequences of %2 tokens").arg(grouped_text(p.batch), grouped_text(p.context));
  if (p.within) out += tr(", the largest batch within the limits");
  if (p.largest && decodes()) out += tr(", the largest batch that fits");
  if (present_ && present_->batch == p.batch && present_->context == p.context) out += tr(" (current)");
  const SweptPhase &made = p.decode, &read = p.prefill;
  if (made.valid())
    out += tr("\nTPOT %1, %2 tokens/s to each sequence\n%3 tokens/s, %4 per GPU")
               .arg(seconds_text(made.figures.seconds), canvas_rate(1 / made.figures.seconds),
                    grouped_text(static_cast<Wide>(made.figures.tokens_per_second)),
                    canvas_rate(made.figures.tokens_per_gpu));
  else
    out += tr("\nDecode: %1").arg(text_of(made.problem->what));
  if (read.valid())
    out += (read.figures.first_seconds < 0.999 * read.figures.seconds
                ? tr("\nTTFT %1 of the first prompts, %2 of the last")
                      .arg(seconds_text(read.figures.first_seconds), seconds_text(read.figures.seconds))
                : tr("\nTTFT %1").arg(seconds_text(read.figures.seconds))) +
           tr(", %1 prompt tokens/s per GPU").arg(canvas_rate(read.figures.tokens_per_gpu));
  else
    out += tr("\nPrefill: %1").arg(text_of(read.problem->what));
  if (const QString over = broken_words(p, limits()); !over.isEmpty())
    out += u'\n' + over.left(1).toUpper() + over.mid(1);
  const SweptPhase &of = phase(at), &other_phase = decodes() ? read : made;
  if (of.valid())
    out += tr("\nMemory %1, including KV cache %2")
               .arg(bytes_text(of.memory, units_), bytes_text(of.figures.kv_cache_bytes, units_));
  if (of.valid() && !of.fits) out += tr("\nDoes not fit in memory");
  if (other_phase.valid() && !other_phase.fits)
    out += (decodes() ? tr("\nPrefill does not fit: %1") : tr("\nDecode does not fit: %1"))
               .arg(bytes_text(other_phase.memory, units_));
  for (const OtherDesign& other : others_) {
    const auto same = std::find_if(
        other.sweep->points.begin(), other.sweep->points.end(),
        [&](const ServedPoint& o) { return o.batch == p.batch && o.context == p.context; });
    const SweptPhase* theirs = same == other.sweep->points.end() ? nullptr
                               : decodes()                       ? &same->decode
                                                                 : &same->prefill;
    if (!theirs || !theirs->valid()) {
      out += u'\n' + of_design(other.member, tr("no point with this batch"));
      continue;
    }
    out += u'\n' + of_design(other.member, tr("%1 %2, %3 tokens/s per GPU")
                                               .arg(decodes() ? tr("TPOT") : tr("TTFT"),
                                                    seconds_text(theirs->figures.seconds),
                                                    canvas_rate(theirs->figures.tokens_per_gpu)));
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
          << tr("%1 tokens/s per GPU").arg(canvas_rate(of.figures.tokens_per_gpu))
          << bytes_text(of.memory, units_);
    if (!of.fits) parts << tr("does not fit");
    if (const QString over = broken_words(p, limits()); !over.isEmpty()) parts << over;
  } else {
    parts << text_of(of.problem->what);
  }
  return parts.join(QStringLiteral(" · "));
}

QString ServingCanvas::tipAt(const QPointF& at) const {
  const int point = pointAt(at);
  return point < 0 ? QString() : tip(point);
}

bool ServingCanvas::hover(const QPointF& at, bool) {
  setHovered(pointAt(at));
  return hovered_ >= 0;
}

void ServingCanvas::click(const QPointF& at, Qt::KeyboardModifiers) { select(pointAt(at)); }

void ServingCanvas::doubleClick(const QPointF& at) {
  if (const int point = pointAt(at); point >= 0) Q_EMIT makeCurrentRequested(point);
}

void ServingCanvas::step(int by) {
  if (selected_ < 0) return select(present_ ? std::max(0, find(present_->batch, present_->context)) : 0);
  const std::vector<int> order = inOrder(contextOf(selected_));
  const auto at = std::find(order.begin(), order.end(), selected_) - order.begin() + by;
  if (at >= 0 && at < static_cast<std::ptrdiff_t>(order.size())) select(order[static_cast<size_t>(at)]);
}

// Moves to another context, to its point with the nearest batch. From the largest fitting batch it moves to
// the largest fitting batch.
void ServingCanvas::stepContext(int by) {
  if (selected_ < 0) return step(0);
  const int context = contextOf(selected_) + by;
  if (context < 0 || context >= contexts()) return;
  const ServedPoint& from = point(selected_);
  const std::vector<int> order = inOrder(context);
  if (order.empty()) return;
  const auto away = [&](int at) {
    if (!from.requested && point(at).largest) return std::pair<int, int64_t>(0, 0);
    return std::pair<int, int64_t>(1, std::llabs(point(at).batch - from.batch));
  };
  select(*std::min_element(order.begin(), order.end(), [&](int a, int b) { return away(a) < away(b); }));
}

bool ServingCanvas::go(Way way, Qt::KeyboardModifiers) {
  const std::vector<int> order = inOrder(selected_ < 0 ? 0 : contextOf(selected_));
  switch (way) {
    case Way::Left: step(-1); return true;
    case Way::Right: step(1); return true;
    case Way::Up: stepContext(-1); return true;
    case Way::Down: stepContext(1); return true;
    case Way::First: select(order.front()); return true;
    case Way::Last: select(order.back()); return true;
    case Way::PageUp:
    case Way::PageDown: break;
  }
  return false;
}

bool ServingCanvas::activate() {
  if (selected_ >= 0) Q_EMIT makeCurrentRequested(selected_);
  return true;
}

bool ServingCanvas::clear() {
  select(-1);
  return true;
}

}  // namespace shardscape::ui
