// A sweep as a map of colours: contexts down, batches across, the largest batches that fit and that keep the
// limits in the last columns. Each cell shows its figure, and which limit it exceeds.
#pragma once

#include "ui/toolkit/value_scale.h"
#include "ui/views/serving/serving_canvas.h"

namespace shardscape::ui {

enum class ServingFigure : uint8_t { TokensPerGpu, TimePerToken, FirstToken, FirstTokenEarly, Memory };
inline constexpr int kServingFigureCount = 5;

class ServingMap : public ServingCanvas {
  Q_OBJECT
 public:
  explicit ServingMap(QWidget* parent = nullptr);
  static QString label(ServingFigure figure);  // "Time per output token"
  static QString word(ServingFigure figure);   // "TPOT"
  void setFigure(ServingFigure figure);
  ServingFigure figure() const { return figure_; }
  std::optional<double> value(int at) const;  // empty: the point has no such figure
  bool fits(int at) const;                    // in the phase of the figure
  QString text(int at) const;                 // the text of the cell: "21.9"
  QString overWord(int at) const;             // "> TTFT"; empty: the point keeps the limits
  QRectF cell(int at) const { return cellIn(QRectF(rect()), at); }
  QPointF place(int at) const override { return cell(at).center(); }
  int pointAt(const QPointF& at) const override;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;

 protected:
  void changed() override;
  std::vector<int> inOrder(int context) const override;

 private:
  QRectF cellIn(const QRectF& rect, int at) const;
  QRectF cellIn(const QRectF& rect, int context, int column) const;
  // A column of answers to the right of the batches.
  struct Answers {
    QString title;
    bool ServedPoint::*mark;
    std::vector<std::pair<int64_t, int64_t>> batches;  // per context; 0: none
  };
  int columnOf(int at) const;
  const SweptPhase& ofFigure(
      int at) const;  // the phase of the figure: times belong to one phase, other figures to the shown phase
  ValueScale unit() const;
  QString title() const;
  void paintLegend(QPainter& painter, const QRectF& rect, const QColor& ground, int now) const;
  void paintCell(QPainter& painter, const QRectF& box, int at, const QColor& ground) const;
  ServingFigure figure_ = ServingFigure::TokensPerGpu;
  std::vector<int64_t> batches_;  // the requested batches
  std::vector<Answers> answers_;
  double low_ = 0, high_ = 0;
};

}  // namespace shardscape::ui
