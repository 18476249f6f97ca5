// The one place that holds colours, fonts and spacing; widgets, charts and the graph all read it.
#pragma once

#include <QColor>
#include <QFont>
#include <QObject>

#include "graph/op_kind.h"
#include "plan/step_model.h"
#include "timing/simulation.h"

namespace shardscape::ui {

struct Colors {
  QColor ground, panel, line, text, secondary, accent, accent_soft, good, note, bad, field;
  QColor parameters, gradients, optimizer, activations, logits, kv_cache, buffers, runtime;  // series
  QColor communication;
  QColor gradient_sync, weight_gradient, idle;  // of the timeline, next to the series
};

class Theme : public QObject {
  Q_OBJECT
 public:
  enum class Mode { Light, Dark };
  static Theme& instance();

  Mode mode() const { return mode_; }
  void setMode(Mode mode);  // applies palette and style sheet to the application, emits changed()
  const Colors& colors() const;
  static const Colors& colors(Mode mode);
  QColor spanColor(SpanKind kind) const;
  QColor designColor(int member) const;  // of compared designs: 0 is the present design
  QColor opColor(OpKind kind) const;     // matmul, attention, communication, ...

  QFont uiFont(double pixel_size = 13, QFont::Weight weight = QFont::Normal) const;  // tabular figures
  QFont monoFont(double pixel_size = 12) const;

 Q_SIGNALS:
  void changed();

 private:
  Mode mode_ = Mode::Light;
};

}  // namespace shardscape::ui
