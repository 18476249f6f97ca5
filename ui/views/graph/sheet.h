// The laid-out content of one container, in its own coordinates. Immutable once built. Equal layers share one
// sheet, which is stamped once per layer.
#pragma once

#include <QFont>
#include <QLineF>
#include <QPainterPath>
#include <QPointF>
#include <QRectF>
#include <QStaticText>
#include <QString>
#include <QVector>
#include <memory>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ui/selection/node_id.h"

namespace shardscape::ui {

struct Sheet;

struct SheetFonts {
  QFont title, plain, detail, caption, note;  // note: next to a frame's name
  friend bool operator==(const SheetFonts&, const SheetFonts&) = default;
};

// A line of text that is laid out once. An empty one draws nothing.
struct TextLine {
  QString text;
  QStaticText drawn;
  QPointF at;  // top left, relative to the piece or sheet
};

enum class PieceShape : uint8_t { Card, Pill, Frame };

struct Piece {
  NodeId id;         // on a shared sheet without stage and unit; full_id() adds those of the container
  int units = 1;     // the number of layers, or of equal stages, that a card represents
  int segment = -1;  // of the unit; -1 for stages
  std::vector<int> segments;              // of the units that a folded stage or run of layers hides
  std::vector<std::pair<int, int>> held;  // units that a folded stage hides: first, and one past the last
  PieceShape shape = PieceShape::Card;
  int kind = -1;  // OpKind of an op
  bool expandable = false;
  QRectF rect;
  TextLine title, detail;
  std::shared_ptr<const Sheet> inside;  // of a frame
  QPointF inside_at;                    // relative to rect
};

// A line for a tensor between two pieces, or to the sheet's edge (-1).
struct Wire {
  int upper = -1, lower = -1;
  bool up = false;  // flows upwards: gradients
  int segment = -1;
  TensorId tensor = -1;
  bool transfer = false;  // between stages: sent
  QPainterPath path;
  QRectF bounds;
  TextLine label;
  int source() const { return up ? lower : upper; }
  int target() const { return up ? upper : lower; }
};

struct Sheet {
  QSizeF size;
  std::vector<Piece> pieces;
  std::vector<Wire> wires;
  std::vector<TextLine> captions;
  // The x at which lines cross the sheet's edge, by direction: [0] downwards, [1] upwards.
  double top[2] = {0, 0}, bottom[2] = {0, 0};
  QPainterPath lines;            // all wires with their arrow heads, as one item
  QVector<QLineF> coarse_lines;  // simplified lines for small zooms
  int nodes = 0;                 // pieces here and in every sheet below
};

inline constexpr double kTitleBar = 30;  // height of a frame's title, pixels

}  // namespace shardscape::ui
