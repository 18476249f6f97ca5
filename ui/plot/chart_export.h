// Saves a view as a picture (PNG, SVG, PDF), as raw numbers (CSV), or as JSON (a trace or a search result).
#pragma once

#include <QByteArray>
#include <QPaintDevice>
#include <QRectF>
#include <QSize>
#include <QString>
#include <functional>
#include <optional>
#include <span>
#include <variant>

#include "base/problem.h"

class QColor;
class QPainter;

namespace shardscape::ui {

enum class SaveFormat { Png, Svg, Pdf, Csv, Trace, Json };

struct SaveFormatInfo {
  SaveFormat format;
  QString suffix;  // "png"
  QString label;   // "PNG picture"
};
std::span<const SaveFormatInfo> save_formats();
const SaveFormatInfo& info_of(SaveFormat format);

// Draws what stands below a picture: the caption. The painter has logical pixels.
using DrawBelow = std::function<void(QPainter&)>;
// Draws a picture of `size` on the device with a painter of its own, and calls `below` before that ends.
using PaintPage = std::function<void(QPaintDevice&, QSize size, double scale, const DrawBelow& below)>;

// Everything that a view can save.
struct Picture {
  QString title;
  QString caption;    // which design it shows, in lines; below the picture
  QString file_name;  // without suffix: "llama3-8b-memory"
  QSize size;         // logical pixels, without the caption
  PaintPage paint;
  std::function<QString()> csv;       // empty: no numbers
  std::function<QByteArray()> trace;  // a timeline for Perfetto; empty: none
  std::function<QByteArray()> json;   // a search result that the program can load; empty: none
};

// A Picture::paint that draws the page in the panel's colour, the title, and the content below the title.
PaintPage titled(const QString& title,
                 std::function<void(QPainter&, const QRectF& area, const QColor& ground)> content);

Result<QByteArray> encoded(const Picture& picture, SaveFormat format);
// Writes a temporary file next to the path and renames it, so that a failure leaves an older file whole.
std::optional<Problem> save_picture(const Picture& picture, SaveFormat format, const QString& path);

}  // namespace shardscape::ui
