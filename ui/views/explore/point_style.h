// Colour and shape of points by a third and a fourth column, and the texts of their legend.
#pragma once

#include <QColor>
#include <QPainterPath>
#include <QString>
#include <array>
#include <cstdint>
#include <vector>

#include "ui/plot/point_shape.h"
#include "ui/views/explore/explore_rows.h"

namespace shardscape::ui {

class PointStyle {
 public:
  // Columns may be -1: one colour, one shape.
  void set(const ExploreRows& rows, int colour, int shape, UnitSystem units);
  uint8_t colour(int row) const { return colour_.empty() ? 0 : colour_[static_cast<size_t>(row)]; }
  uint8_t shape(int row) const { return shape_.empty() ? 0 : shape_[static_cast<size_t>(row)]; }
  int colours() const {
    return ramp_ ? kRampSteps : std::max<int>(1, static_cast<int>(colour_words_.size()));
  }
  QColor color(int colour) const;      // by the present theme
  bool ramp() const { return ramp_; }  // colours are a continuous range, not single values
  const QStringList& colourWords() const { return colour_words_; }  // per colour, or the two ends of the ramp
  const QStringList& shapeWords() const { return shape_words_; }    // per shape
  const QString& colourTitle() const { return colour_title_; }
  const QString& shapeTitle() const { return shape_title_; }

 private:
  std::vector<uint8_t> colour_, shape_;
  QStringList colour_words_, shape_words_;
  QString colour_title_, shape_title_;
  bool ramp_ = false;
};

}  // namespace shardscape::ui
