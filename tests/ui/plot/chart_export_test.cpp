// Saved pictures and tables can be opened and contain what the view shows.
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QMenu>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

#include "base/version.h"
#include "offscreen.h"
#include "ui/plot/chart_export.h"
#include "ui/plot/picture_caption.h"
#include "ui/plot/save_menu.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/theme.h"
#include "ui/views/communication/communication_view.h"
#include "ui/views/compute/compute_view.h"
#include "ui/views/memory/memory_view.h"
#include "ui/views/memory/stage_memory_model.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

QByteArray bytes_of(const Picture& picture, SaveFormat format) {
  const auto result = encoded(picture, format);
  const auto* bytes = std::get_if<QByteArray>(&result);
  return bytes ? *bytes : QByteArray();
}

// All texts of an SVG, one per line.
QString texts_of(const QByteArray& svg, QString& error) {
  QXmlStreamReader reader(svg);
  QString texts;
  while (!reader.atEnd()) {
    if (reader.readNext() == QXmlStreamReader::Characters && !reader.isWhitespace())
      texts += reader.text().toString().trimmed() + u'\n';
  }
  error = reader.hasError() ? reader.errorString() : QString();
  return texts;
}

}  // namespace

class ChartExportTest : public QObject {
  Q_OBJECT
  std::unique_ptr<Session> session_;
  std::unique_ptr<SelectionState> state_;

 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:

  void initTestCase() {
    Theme::instance().setMode(Theme::Mode::Light);
    session_ = std::make_unique<Session>();
    QVERIFY(!session_->setKnob(QStringLiteral("pp"), QStringLiteral("2")));
    QVERIFY(!session_->setKnob(QStringLiteral("tp"), QStringLiteral("2")));
    QVERIFY(!session_->setKnob(QStringLiteral("dp"), QStringLiteral("2")));
    session_->waitForEstimate();
    QVERIFY(session_->current());
    state_ = std::make_unique<SelectionState>(session_.get());
  }

  void cleanupTestCase() {
    state_.reset();
    session_.reset();
  }

  void views_data() {
    QTest::addColumn<int>("view");
    QTest::addColumn<QStringList>("texts");
    QTest::newRow("memory") << 0
                            << QStringList{QStringLiteral("Memory of one rank, by stage"),
                                           QStringLiteral("Activations"), QStringLiteral("GiB"),
                                           QStringLiteral("80 GiB capacity"),
                                           QStringLiteral("pipeline stage")};
    QTest::newRow("compute") << 1
                             << QStringList{QStringLiteral("Compute time of one rank in a step"),
                                            QStringLiteral("Matrix products"), QStringLiteral("backward")};
    QTest::newRow("communication") << 2
                                   << QStringList{QStringLiteral("Communication"),
                                                  QStringLiteral("Tensor parallel (tp)"),
                                                  QStringLiteral("Pipeline (pp)"),
                                                  QStringLiteral("Data parallel (dp)")};
  }

  // A view can be saved before it was ever shown.
  void views() {
    QFETCH(int, view);
    QFETCH(QStringList, texts);
    std::unique_ptr<ChartPage> page;
    if (view == 0) page = std::make_unique<MemoryView>(state_.get());
    if (view == 1) page = std::make_unique<ComputeView>(state_.get());
    if (view == 2) page = std::make_unique<CommunicationView>(state_.get());
    Picture picture = page->picture();
    picture.size = QSize(900, 480);

    const QImage image = QImage::fromData(bytes_of(picture, SaveFormat::Png), "PNG");
    QCOMPARE(image.size(), QSize(1800, 960));
    QCOMPARE(image.pixelColor(2, 2), Theme::instance().colors().panel);
    QSet<QRgb> colors;
    for (int y = 0; y < image.height(); y += 3) {
      for (int x = 0; x < image.width(); x += 3) colors.insert(image.pixel(x, y));
    }
    QVERIFY(colors.contains(view == 2 ? Theme::instance().colors().communication.rgb()
                                      : Theme::instance().colors().parameters.rgb()));

    const QByteArray svg = bytes_of(picture, SaveFormat::Svg);
    QString error;
    const QString found = texts_of(svg, error);
    QVERIFY2(error.isEmpty(), qPrintable(error));
    for (const QString& text : texts)
      QVERIFY2(found.contains(text), qPrintable(text + QStringLiteral(" is not in:\n") + found));
    QVERIFY(!svg.contains("<image"));     // contains vector graphics only
    QVERIFY(svg.contains("sans-serif"));  // a fallback where the window's font is not installed
    QVERIFY(QSvgRenderer(svg).isValid());

    const QByteArray pdf = bytes_of(picture, SaveFormat::Pdf);
    QVERIFY(pdf.startsWith("%PDF-1."));
    QVERIFY(pdf.trimmed().endsWith("%%EOF"));
    QVERIFY(pdf.contains("/MediaBox [0 0 675 360]") || pdf.contains("/MediaBox [0 0 675.0"));
  }

  // Saved pictures say which designs they show.
  void captions() {
    QVERIFY(!session_->comparisons()->size());
    const QDate day(2026, 3, 9);
    const QString alone = pictureCaption(*session_, day);
    QVERIFY2(alone.startsWith("Llama 3 8B · tp 2 · pp 2 · dp 2 · sequence 8,192"), qPrintable(alone));
    QVERIFY(alone.contains("8 × NVIDIA H100"));
    QVERIFY(alone.endsWith(QString("\nShardscape ") + program_version() + " · 2026-03-09"));
    Design other = session_->design();
    other.parallel.tp = 4;
    other.parallel.dp = 1;
    session_->comparisons()->add(other, "mine");
    const QString caption = pictureCaption(*session_, day);
    QCOMPARE(caption.count(u'\n'), 2);
    QVERIFY2(caption.startsWith("A: Llama 3 8B · tp 4 · pp 2"), qPrintable(caption));
    session_->comparisons()->clear();

    MemoryView view(state_.get());
    auto* menu = view.findChild<SaveMenu*>();
    const QDate before = QDate::currentDate();
    const QString today = menu->picture().caption;  // midnight may pass meanwhile
    QVERIFY2(today == pictureCaption(*session_, before) ||
                 today == pictureCaption(*session_, QDate::currentDate()),
             qPrintable(today));
    menu->setDay(day);
    const Picture picture = menu->picture();
    QCOMPARE(picture.caption, pictureCaption(*session_, day));
    QString error;
    const QString found = texts_of(bytes_of(picture, SaveFormat::Svg), error);
    QVERIFY2(found.contains("tp 2") && found.contains("2026-03-09"), qPrintable(found));
    Picture plain = picture;
    plain.caption.clear();
    const QImage with = QImage::fromData(bytes_of(picture, SaveFormat::Png), "PNG"),
                 without = QImage::fromData(bytes_of(plain, SaveFormat::Png), "PNG");
    QCOMPARE(with.width(), without.width());
    QVERIFY(with.height() > without.height() + 40);
    QCOMPARE(with.copy(0, 0, with.width(), without.height()), without);
    QCOMPARE(with.text("Description"), picture.caption);
    // A long caption wraps instead of being cut.
    Picture narrow = picture;
    narrow.size.setWidth(300);
    narrow.caption = QString("a word ").repeated(60);
    const QImage wrapped = QImage::fromData(bytes_of(narrow, SaveFormat::Png), "PNG");
    QVERIFY(wrapped.height() > 2 * narrow.size.height() + 200);
  }

  void csvRowsEqualTheModel() {
    MemoryView view(state_.get());
    const QString csv = QString::fromUtf8(bytes_of(view.picture(), SaveFormat::Csv));
    const QStringList lines = csv.split(u'\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), view.model()->rowCount() + 1);
    QVERIFY(lines[0].contains(QStringLiteral("activations (bytes)")));
    for (int row = 0; row < view.model()->rowCount(); ++row) {
      const QStringList fields = lines[row + 1].split(u',');
      QCOMPARE(fields.size(), view.model()->columnCount());
      for (int column = 0; column < fields.size(); ++column) {
        QCOMPARE(fields[column], view.model()->index(row, column).data(TableModel::RawRole).toString());
      }
    }
  }

  void csvOfOneStageViewsHasAllStages() {
    CommunicationView view(state_.get());
    const QStringList lines = QString::fromUtf8(bytes_of(view.picture(), SaveFormat::Csv))
                                  .split(u'\n', Qt::SkipEmptyParts);
    size_t rows = 0;
    for (const StageReport& stage : session_->report()->stages) rows += stage.collectives.size();
    QCOMPARE(static_cast<size_t>(lines.size()), rows + 1);
    QVERIFY(lines.last().startsWith(QStringLiteral("1,")));
  }

  void savesToFiles() {
    QTemporaryDir folder;
    MemoryView view(state_.get());
    for (const SaveFormatInfo& info : save_formats()) {
      if (info.format == SaveFormat::Trace || info.format == SaveFormat::Json)
        continue;  // only the timeline or a search has this format
      const QString path = folder.filePath(view.picture().file_name + u'.' + info.suffix);
      const auto problem = save_picture(view.picture(), info.format, path);
      QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
      QVERIFY(QFile(path).size() > 0);
    }
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files).size(), 4);
  }

  void aFailedSaveSaysWhyAndLeavesTheOldFile() {
    QTemporaryDir folder;
    MemoryView view(state_.get());
    const auto missing = save_picture(view.picture(), SaveFormat::Png,
                                      folder.filePath(QStringLiteral("none/chart.png")));
    QVERIFY(missing);
    QVERIFY(missing->where.find("none/chart.png") != std::string::npos);
    const auto is_folder = save_picture(view.picture(), SaveFormat::Csv, folder.path());
    QVERIFY(is_folder && is_folder->code == ProblemCode::FileNotWritable);
    QVERIFY(is_folder->what.find("folder") != std::string::npos);

    Picture no_numbers = view.picture();
    no_numbers.csv = {};
    const QString kept = folder.filePath(QStringLiteral("kept.csv"));
    QFile file(kept);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("old");
    file.close();
    const auto nothing = save_picture(no_numbers, SaveFormat::Csv, kept);
    QVERIFY(nothing && nothing->code == ProblemCode::NothingToSave);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), QByteArray("old"));
  }

  void theMenuOffersAllFormats() {
    MemoryView view(state_.get());
    for (const char* name : {"save_png", "save_svg", "save_pdf", "save_csv", "copy_picture"}) {
      QVERIFY2(view.saveMenu()->findChild<QAction*>(QString::fromLatin1(name)), name);
    }
  }

  void darkChartsAreSavedDark() {
    MemoryView view(state_.get());
    Theme::instance().setMode(Theme::Mode::Dark);
    const QImage image = QImage::fromData(bytes_of(view.picture(), SaveFormat::Png), "PNG");
    QCOMPARE(image.pixelColor(2, 2), Theme::colors(Theme::Mode::Dark).panel);
    Theme::instance().setMode(Theme::Mode::Light);
  }
};

QTEST_MAIN(ChartExportTest)
#include "chart_export_test.moc"
