#include "ui/shell/report_file.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QCoreApplication>
#include <QImage>
#include <QPageLayout>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTextDocument>
#include <QUrl>

#include "base/atomic_write.h"
#include "report/page_report.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kDotsPerInch = 96;
constexpr double kMargin = 56;  // pixels, 15 mm
constexpr double kSharp = 3;    // pixels of a picture per pixel of the sheet
constexpr QColor kInk(0x1D, 0x27, 0x33), kFaint(0x5C, 0x68, 0x74);

// In the place of the style of the web page, of which Qt's text layout does not understand every rule.
constexpr const char* kPaperStyle =
    "<style>body{font-size:12px;color:#1D2733}h1{font-size:20px;margin:0}h2{font-size:14px;"
    "margin-top:18px;margin-bottom:6px}.verdict{font-size:14px;font-weight:600}.good{color:#1B7F51}"
    ".bad{color:#B03327}table{font-size:10px;border-collapse:collapse}td,th{text-align:left;"
    "padding:2px 6px 2px 0;border-bottom:1px solid #DCE1E7;vertical-align:top}"
    "th{color:#5C6874;font-weight:500}code{font-size:10px}footer{font-size:10px;color:#5C6874}</style>";

QString tr(const char* text) { return QCoreApplication::translate("Report", text); }

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

QPageSize sheet() { return QPageSize(QPageSize::A4); }

QSizeF sheetPixels() { return QSizeF(sheet().sizePixels(kDotsPerInch)); }

// The picture of a section as wide as the text, and never higher than half a sheet.
QImage drawn(QSvgRenderer& picture) {
  const QSizeF most(sheetPixels().width() - 2 * kMargin, sheetPixels().height() / 2);
  const QSizeF size = QSizeF(picture.defaultSize()).scaled(most, Qt::KeepAspectRatio);
  QImage image((size * kSharp).toSize(), QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  picture.render(&painter);
  return image;
}

QByteArray reportPdf(const PageReport& page) {
  const std::unique_ptr<QTextDocument> document = reportDocument(page);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  {
    QPdfWriter writer(&buffer);
    writer.setResolution(kDotsPerInch);
    writer.setPageLayout(QPageLayout(sheet(), QPageLayout::Portrait, {}));
    writer.setTitle(text(page.title));
    writer.setCreator(QStringLiteral("Shardscape"));
    QPainter painter(&writer);
    const QSizeF size = document->pageSize();
    QAbstractTextDocumentLayout::PaintContext context;
    context.palette.setColor(QPalette::Text, kInk);
    for (int number = 0; number < document->pageCount(); ++number) {
      if (number > 0) writer.newPage();
      context.clip = QRectF(0, number * size.height(), size.width(), size.height());
      painter.save();
      painter.translate(0, -context.clip.top());
      painter.setClipRect(context.clip);
      document->documentLayout()->draw(&painter, context);
      painter.restore();
      painter.setFont(Theme::instance().uiFont(10));
      painter.setPen(kFaint);
      painter.drawText(
          QRectF(kMargin, size.height() - kMargin, size.width() - 2 * kMargin, kMargin),
          Qt::AlignRight | Qt::AlignVCenter,
          tr("%1 of %2").arg(QString::number(number + 1), QString::number(document->pageCount())));
    }
  }
  return bytes;
}

}  // namespace

QString reportFilter() { return tr("Web page (*.html);;Markdown (*.md);;PDF (*.pdf)"); }

std::unique_ptr<QTextDocument> reportDocument(const PageReport& page) {
  auto document = std::make_unique<QTextDocument>();
  document->setUseDesignMetrics(true);
  document->setDefaultFont(Theme::instance().uiFont(12));
  document->setDocumentMargin(kMargin);
  PageReport shown = page;  // Qt's text layout shows images, but no SVG inside of HTML
  for (PageSection& section : shown.sections) {
    if (section.picture.empty()) continue;
    QSvgRenderer renderer(QByteArray::fromStdString(section.picture));
    const QImage image = drawn(renderer);
    const QString name = QStringLiteral("picture%1").arg(&section - shown.sections.data());
    document->addResource(QTextDocument::ImageResource, QUrl(name), image);
    section.picture = QStringLiteral("<p><img src=\"%1\" width=\"%2\" height=\"%3\"></p>")
                          .arg(name)
                          .arg(qRound(image.width() / kSharp))
                          .arg(qRound(image.height() / kSharp))
                          .toStdString();
  }
  static const QRegularExpression style(QStringLiteral("<style>.*</style>"));
  document->setHtml(text(page_html(shown)).replace(style, QLatin1String(kPaperStyle)));
  document->setPageSize(sheetPixels());
  return document;
}

std::optional<Problem> writeReportFile(const PageReport& page, const QString& path) {
  if (!path.endsWith(QStringLiteral(".pdf"), Qt::CaseInsensitive))
    return write_page(page, path.toStdString());
  const QByteArray bytes = reportPdf(page);
  return atomic_write(path.toStdString(), {bytes.constData(), static_cast<size_t>(bytes.size())});
}

}  // namespace shardscape::ui
