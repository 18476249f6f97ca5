#include "ui/views/architecture/pattern_strip.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <utility>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr double kHeight = 20, kBracket = 5;

}  // namespace

PatternStrip::PatternStrip(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("pattern_strip"));
  setAccessibleName(tr("Layers"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

QColor PatternStrip::color(int kind) {
  const Colors& c = Theme::instance().colors();
  const QColor colors[] = {c.parameters, c.communication, c.buffers,  c.optimizer,
                           c.logits,     c.gradients,     c.kv_cache, c.runtime};
  return colors[static_cast<size_t>(kind) % std::size(colors)];
}

void PatternStrip::setLayers(const QStringList& kinds, std::vector<int> layers, int prefix, int suffix) {
  kinds_ = kinds;
  layers_ = std::move(layers);
  prefix_ = prefix;
  suffix_ = suffix;
  QStringList words;
  for (size_t i = 0; i < layers_.size();) {
    size_t end = i;
    while (end < layers_.size() && layers_[end] == layers_[i]) ++end;
    words << tr("%1 × %2").arg(end - i).arg(kinds_.value(layers_[i]));
    i = end;
  }
  setAccessibleDescription(words.join(QStringLiteral(", ")));
  update();
}

QRectF PatternStrip::cell(size_t layer) const {
  const double each = width() / static_cast<double>(layers_.size());
  return {each * static_cast<double>(layer), 1, each, kHeight};
}

void PatternStrip::paintEvent(QPaintEvent*) {
  if (layers_.empty()) return;
  const Colors& c = Theme::instance().colors();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double gap = cell(0).width() > 5 ? 1.5 : 0.5;
  for (size_t i = 0; i < layers_.size(); ++i) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(color(layers_[i]));
    const double corner = cell(i).width() > 8 ? 2 : 0;
    painter.drawRoundedRect(cell(i).adjusted(0, 0, -gap, 0), corner, corner);
  }
  // A bracket below the repeated part.
  const auto begin = static_cast<size_t>(prefix_), end = layers_.size() - static_cast<size_t>(suffix_);
  if (begin >= end) return;
  const double left = cell(begin).left() + 0.5, right = cell(end - 1).right() - gap - 0.5;
  const double top = kHeight + 4, bottom = top + kBracket;
  painter.setPen(QPen(c.secondary, 1));
  painter.drawPolyline(QPolygonF{{left, top}, {left, bottom}, {right, bottom}, {right, top}});
}

bool PatternStrip::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && !layers_.empty()) {
    auto* help = static_cast<QHelpEvent*>(event);
    for (size_t i = 0; i < layers_.size(); ++i)
      if (cell(i).contains(help->pos())) {
        QToolTip::showText(help->globalPos(), tr("Layer %1: %2").arg(i).arg(kinds_.value(layers_[i])), this);
        return true;
      }
    QToolTip::hideText();
    return true;
  }
  return QWidget::event(event);
}

}  // namespace shardscape::ui
