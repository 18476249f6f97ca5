#include "ui/plot/chart_export.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QImage>
#include <QPageLayout>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <cmath>

#include "base/atomic_write.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr double kPngScale = 2;  // sharp on a page and on dense screens
constexpr int kDotsPerInch = 96;
constexpr int kMargin = 16, kTop = 8, kTitle = 24, kBelowTitle = 6;

constexpr int kCaptionTop = 7, kCaptionBottom = 9;

// A picture with its caption below.
struct Page {
  const Picture& picture;
  QFont font = Theme::instance().uiFont(11);
  QRectF caption;  // empty: none

  explicit Page(const Picture& of) : picture(of) {
    if (of.caption.isEmpty()) return;
    const QRectF room(kMargin, of.size.height() + kCaptionTop, of.size.width() - 2 * kMargin, 1e5);
    caption = QFontMetricsF(font).boundingRect(room, Qt::TextWordWrap, of.caption);
  }
  QSize size() const {
    const int below = caption.isEmpty()
                          ? 0
                          : kCaptionTop + static_cast<int>(std::ceil(caption.height())) + kCaptionBottom;
    return {picture.size.width(), picture.size.height() + below};
  }
  void paint(QPaintDevice& device, double scale) const {
    picture.paint(device, picture.size, scale, [this](QPainter& painter) { paintCaption(painter); });
  }
  void paintCaption(QPainter& painter) const {
    if (caption.isEmpty()) return;
    const Colors& colors = Theme::instance().colors();
    const double top = picture.size.height(), wide = picture.size.width();
    painter.setClipping(false);
    painter.fillRect(QRectF(0, top, wide, size().height() - top), colors.panel);
    painter.setPen(colors.line);
    painter.drawLine(QPointF(0, top + 0.5), QPointF(wide, top + 0.5));
    painter.setFont(font);
    painter.setPen(colors.secondary);
    painter.drawText(caption.adjusted(0, 0, 1, 1), Qt::TextWordWrap, picture.caption);
  }
};

bool write_png(const Picture& picture, QBuffer& buffer) {
  const Page page(picture);
  QImage image(page.size() * kPngScale, QImage::Format_ARGB32_Premultiplied);
  if (image.isNull()) return false;
  image.fill(Qt::transparent);
  const int dots_per_meter = qRound(kDotsPerInch * kPngScale / 0.0254);
  page.paint(image, kPngScale);
  image.setDotsPerMeterX(dots_per_meter);
  image.setDotsPerMeterY(dots_per_meter);
  image.setText(QStringLiteral("Title"), picture.title);
  if (!picture.caption.isEmpty()) image.setText(QStringLiteral("Description"), picture.caption);
  return image.save(&buffer, "PNG");
}

bool write_svg(const Picture& picture, QBuffer& buffer) {
  const Page page(picture);
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize(page.size());
  generator.setViewBox(QRect(QPoint(0, 0), page.size()));
  generator.setResolution(kDotsPerInch);
  generator.setTitle(picture.title);
  generator.setDescription(QCoreApplication::applicationName());
  page.paint(generator, 1);
  // The window's font may be a private copy with tabular figures (tabular_font.h). Other programs know only
  // the original family.
  const QByteArray family = Theme::instance().uiFont().family().toUtf8();
  buffer.buffer().replace("font-family=\"" + family + '"',
                          "font-family=\"Inter, Helvetica, Arial, sans-serif\"");
  return true;
}

bool write_pdf(const Picture& picture, QBuffer& buffer) {
  const Page page(picture);
  QPdfWriter writer(&buffer);
  writer.setResolution(kDotsPerInch);
  const QSizeF points = QSizeF(page.size()) * 72.0 / kDotsPerInch;
  const QPageSize paper(points, QPageSize::Point, picture.title, QPageSize::ExactMatch);
  writer.setPageLayout(QPageLayout(paper, QPageLayout::Portrait, {}));
  writer.setTitle(picture.title);
  writer.setCreator(QStringLiteral("Shardscape"));
  page.paint(writer, 1);
  return true;
}

}  // namespace

PaintPage titled(const QString& title, std::function<void(QPainter&, const QRectF&, const QColor&)> content) {
  return [title, content = std::move(content)](QPaintDevice& device, QSize size, double scale,
                                               const DrawBelow& below) {
    QPainter painter;
    if (!painter.begin(&device)) return;
    painter.scale(scale, scale);
    const Colors& colors = Theme::instance().colors();
    painter.fillRect(QRect(QPoint(), size), colors.panel);
    painter.setFont(Theme::instance().uiFont(14, QFont::DemiBold));
    painter.setPen(colors.text);
    const double wide = size.width() - 2 * kMargin;
    painter.drawText(QRectF(kMargin, kTop, wide, kTitle), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(painter.font()).elidedText(title, Qt::ElideRight, wide));
    const double top = kTop + kTitle + kBelowTitle;
    content(painter, QRectF(kMargin, top, wide, size.height() - top - kTop), colors.panel);
    below(painter);
  };
}

std::span<const SaveFormatInfo> save_formats() {
  static const SaveFormatInfo formats[] = {
      {SaveFormat::Png, QStringLiteral("png"), QCoreApplication::translate("SaveMenu", "PNG picture")},
      {SaveFormat::Svg, QStringLiteral("svg"), QCoreApplication::translate("SaveMenu", "SVG drawing")},
      {SaveFormat::Pdf, QStringLiteral("pdf"), QCoreApplication::translate("SaveMenu", "PDF page")},
      {SaveFormat::Csv, QStringLiteral("csv"), QCoreApplication::translate("SaveMenu", "CSV numbers")},
      {SaveFormat::Trace, QStringLiteral("json"), QCoreApplication::translate("SaveMenu", "Perfetto trace")},
      {SaveFormat::Json, QStringLiteral("json"), QCoreApplication::translate("SaveMenu", "JSON result")},
  };
  return formats;
}

const SaveFormatInfo& info_of(SaveFormat format) { return save_formats()[static_cast<size_t>(format)]; }

Result<QByteArray> encoded(const Picture& picture, SaveFormat format) {
  if (format == SaveFormat::Csv) {
    if (!picture.csv)
      return Problem{ProblemCode::NothingToSave, "csv", "this view has no table to save", "png, svg or pdf"};
    return picture.csv().toUtf8();
  }
  if (format == SaveFormat::Trace) {
    if (!picture.trace)
      return Problem{ProblemCode::NothingToSave, "json", "this view has no trace to save", "png, svg or pdf"};
    return picture.trace();
  }
  if (format == SaveFormat::Json) {
    if (!picture.json)
      return Problem{ProblemCode::NothingToSave, "json", "this view has no result to save",
                     "png, svg or pdf"};
    return picture.json();
  }
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  bool done = false;
  switch (format) {
    case SaveFormat::Png: done = write_png(picture, buffer); break;
    case SaveFormat::Svg: done = write_svg(picture, buffer); break;
    case SaveFormat::Pdf: done = write_pdf(picture, buffer); break;
    case SaveFormat::Csv:
    case SaveFormat::Trace:
    case SaveFormat::Json: break;
  }
  if (!done || buffer.data().isEmpty()) {
    return Problem{ProblemCode::PictureTooLarge, info_of(format).suffix.toStdString(),
                   "the picture could not be drawn at this size", "a smaller window"};
  }
  return buffer.data();
}

std::optional<Problem> save_picture(const Picture& picture, SaveFormat format, const QString& path) {
  Result<QByteArray> bytes = encoded(picture, format);
  if (auto* problem = std::get_if<Problem>(&bytes)) return std::move(*problem);
  const QByteArray& data = std::get<QByteArray>(bytes);
  return atomic_write(path.toStdString(), {data.constData(), static_cast<size_t>(data.size())});
}

}  // namespace shardscape::ui
