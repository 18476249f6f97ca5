#include "ui/shell/report_file.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QCoreApplication>
#include <QPageLayout>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QTextDocument>

#include "base/atomic_write.h"
#include "design/embedded_document.h"
#include "ui/shell/vector_pictures.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kDotsPerInch = 96;
constexpr double kMargin = 56;  // pixels, 15 mm
constexpr QColor kInk(0x1D, 0x27, 0x33), kFaint(0x5C, 0x68, 0x74);

// In the place of the style of the web page, of which Qt's text layout does not understand every rule.
constexpr const char* kPaperStyle =
    "<style>body{font-size:12px;color:#1D2733}h1{font-size:20px;margin:0}h2{font-size:14px;"
    "margin-top:18px;margin-bottom:6px}.verdict{font-size:14px;font-weight:600}.good{color:#1B7F51}"
    ".bad{color:#B03327}table{font-size:10px;border-collapse:collapse}td,th{text-align:left;"
    "padding:2px 6px 2px 0;border-bottom:1px solid #DCE1E7;vertical-align:top}"
    "th{color:#5C6874;font-weight:500}code{font-size:10px}footer{font-size:10px;color:#5C6874}</style>";

QString tr(const char* text) { return QCoreApplication::translate("Report", text); }

QPageSize sheet() { return QPageSize(QPageSize::A4); }

QSizeF sheetPixels() { return QSizeF(sheet().sizePixels(kDotsPerInch)); }

// The web page with the style of paper, and an image in the place of every SVG.
QString paperHtml(QString html, VectorPictures& pictures) {
  static const QRegularExpression style(QStringLiteral("<style>.*</style>"));
  html.replace(style, QLatin1String(kPaperStyle));
  static const QRegularExpression design(QStringLiteral("<script.*</script>"),
                                         QRegularExpression::DotMatchesEverythingOption);
  html.remove(design);
  const QString open = QStringLiteral("<svg"), close = QStringLiteral("</svg>");
  for (qsizetype at = html.indexOf(open); at >= 0; at = html.indexOf(open, at + 1)) {
    const qsizetype end = html.indexOf(close, at);
    if (end < 0) break;
    const qsizetype length = end + close.size() - at;
    const QString name = pictures.add(html.mid(at, length).toUtf8());
    html.replace(at, length, QStringLiteral("<p><img src=\"%1\"></p>").arg(name));
  }
  return html;
}

QByteArray reportPdf(const QString& html) {
  const std::unique_ptr<QTextDocument> document = reportDocument(html);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  {
    QPdfWriter writer(&buffer);
    writer.setResolution(kDotsPerInch);
    writer.setPageLayout(QPageLayout(sheet(), QPageLayout::Portrait, {}));
    writer.setTitle(document->metaInformation(QTextDocument::DocumentTitle));
    writer.setCreator(QStringLiteral("Shardscape"));
    const auto design = design_json_of(html.toStdString(), {});
    if (const auto* json = std::get_if<std::string>(&design))
      writer.addFileAttachment(QString::fromLatin1(kAttachedDesign), QByteArray::fromStdString(*json),
                               QStringLiteral("application/json"));
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

std::unique_ptr<QTextDocument> reportDocument(const QString& html) {
  auto document = std::make_unique<QTextDocument>();
  document->setUseDesignMetrics(true);
  document->setDefaultFont(Theme::instance().uiFont(12));
  document->setDocumentMargin(kMargin);
  auto* pictures = new VectorPictures(QSizeF(sheetPixels().width() - 2 * kMargin, sheetPixels().height() / 2),
                                      document.get());
  document->documentLayout()->registerHandler(QTextFormat::ImageObject, pictures);
  document->setHtml(paperHtml(html, *pictures));
  document->setPageSize(sheetPixels());
  return document;
}

std::optional<Problem> writePdf(const QString& html, const QString& path) {
  const QByteArray bytes = reportPdf(html);
  return atomic_write(path.toStdString(), {bytes.constData(), static_cast<size_t>(bytes.size())});
}

}  // namespace shardscape::ui
