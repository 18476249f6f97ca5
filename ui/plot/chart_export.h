// Saves what a view shows: as a picture (PNG, SVG, PDF), as its raw numbers (CSV), or as a trace that other
// programs open (JSON).
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

// What a view offers for saving.
struct Picture {
  QString title;
  QString file_name;                                              // without suffix: "llama3-8b-memory"
  QSize size;                                                     // logical pixels
  std::function<void(QPaintDevice&, QSize, double scale)> paint;  // begins and ends its own painter
  std::function<QString()> csv;                                   // empty: the view has no numbers to save
  std::function<QByteArray()> trace;  // of a timeline, for Perfetto; empty: there is none
  std::function<QByteArray()> json;   // of a search, to be read again; empty: there is none
};

// What Picture::paint does where there is a title: the page in the panel's colour, the title, and below it
// the content.
std::function<void(QPaintDevice&, QSize, double)> titled(
    const QString& title, std::function<void(QPainter&, const QRectF& area, const QColor& ground)> content);

Result<QByteArray> encoded(const Picture& picture, SaveFormat format);
// Written next to it and renamed, so that a failure leaves an older file whole.
std::optional<Problem> save_picture(const Picture& picture, SaveFormat format, const QString& path);

}  // namespace shardscape::ui
