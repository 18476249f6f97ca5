// The one-page report: what it says, that it is well-formed, and that names are escaped.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

#include "base/version.h"
#include "design/document.h"
#include "design/examples.h"
#include "explore/study.h"
#include "memory/estimate.h"
#include "report/comparison_page.h"
#include "report/page_report.h"

using namespace shardscape;

class PageReportTest : public QObject {
  Q_OBJECT

  static PageReport page(const QString& example, const std::string& name = {}) {
    const auto found = find_example(example.toStdString());
    const auto loaded = load_design(std::get<Example>(found).path);
    Design design = std::get<Design>(loaded);
    if (!name.empty()) design.name = name;
    const auto report = estimate(design);
    return page_report(*report, *simulate(*report));
  }
  static QString html(const PageReport& page) { return QString::fromStdString(page_html(page)); }

 private Q_SLOTS:
  void everySectionIsThere_data() {
    QTest::addColumn<QString>("example");
    QTest::addColumn<QStringList>("words");
    QTest::newRow("training") << "llama3-70b-64"
                              << QStringList{"Fits.",
                                             "16.7 s",
                                             "MFU",
                                             "70,553,706,496",
                                             "all-gather",
                                             "Tensor parallel",
                                             "80 % band of the step time: ",
                                             "80 % band of the peak memory: ",
                                             "arXiv 2407.21783",
                                             "stage 3",
                                             "Formulas of stage",
                                             "Values of the symbols: ",
                                             "capacity 80.0 GiB"};
    QTest::newRow("serving") << "deepseek-v3-serving"
                             << QStringList{"Fits.",
                                            "KV cache",
                                            "Active parameters per token",
                                            "all-to-all",
                                            "ime per output token",
                                            "80 % band of the time per output token: "};
  }
  void everySectionIsThere() {
    QFETCH(QString, example);
    QFETCH(QStringList, words);
    const PageReport made = page(example);
    const QString text = html(made), plain = QString::fromStdString(page_markdown(made));
    words << "Model"
          << "Assumptions"
          << "Sources"
          << "Collectives" << QString("Shardscape ") + program_version();
    for (const QString& word : words) {
      QVERIFY2(text.contains(word), qPrintable(word));
      if (!word.startsWith("capacity") && !word.startsWith("stage"))
        QVERIFY2(plain.contains(word), qPrintable(word));
    }
    QVERIFY(!plain.contains('<') || !plain.contains("<svg"));
    QVERIFY(text.contains("<svg"));
    QCOMPARE(text.count("<script"), 1);  // the design
    for (const char* outside : {"src=", "<link", "<img", "href="}) QVERIFY2(!text.contains(outside), outside);
  }

  // The body is XML apart from the head's meta and doctype; the picture is a document of its own.
  void thePictureAndTheTablesAreWellFormed() {
    const PageReport made = page("llama3.1-405b-16k");
    QString body = html(made);
    body = body.mid(body.indexOf("<body>"));
    body.chop(QString("</html>\n").size());
    QXmlStreamReader xml(body);
    int bars = 0, rows = 0;
    while (!xml.atEnd()) {
      xml.readNext();
      bars += xml.isStartElement() && xml.name() == QStringLiteral("rect");
      rows += xml.isStartElement() && xml.name() == QStringLiteral("tr");
    }
    QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    QVERIFY(bars > 16 * 3 && rows > 16 * 2);
  }

  void namesAreEscaped() {
    const QString text = html(page("llama3-70b-64", "a <b> & \"c\" | d"));
    QVERIFY(text.contains("a &lt;b&gt; &amp; &quot;c&quot; | d"));
    QVERIFY(!text.contains("<b>"));
  }

  // A report opens again: a design alone, and a comparison with its pinned designs.
  void aReportIsADocument() {
    QTemporaryDir folder;
    const std::string one = folder.filePath("one.html").toStdString();
    const PageReport made = page("llama3-70b-64", "mine");
    QVERIFY(!write_page(made, one));
    const auto design = load_design(one);
    QVERIFY(std::holds_alternative<Design>(design));
    QCOMPARE(std::get<Design>(design).name, std::string("mine"));

    Design other = std::get<Design>(design);
    other.parallel.dp *= 2;
    other.workload.batch *= 2;
    const std::vector<ComparedDesign> both{compared(std::get<Design>(design)), compared(other)};
    const PageReport comparison = comparison_page({"first", "second"}, both);
    const QString text = html(comparison);
    for (const char* word : {"Settings that differ", "first", "second", "Step time", "Memory of second"})
      QVERIFY2(text.contains(word), word);
    QCOMPARE(text.count("<svg"), 4);
    const std::string two = folder.filePath("two.html").toStdString();
    QVERIFY(!write_page(comparison, two));
    const auto study = load_study(two);
    QVERIFY(std::holds_alternative<Study>(study));
    QVERIFY(std::get<Study>(study).of_report && std::get<Study>(study).design == other);
    QCOMPARE(std::get<Study>(study).compared.size(), size_t{1});
    QVERIFY(std::get<Study>(study).compared[0].design == std::get<Design>(design));
  }

  void theNameOfTheFileChoosesTheFormat() {
    QTemporaryDir folder;
    const PageReport made = page("llama3-70b-64");
    for (const char* name : {"r.html", "r.md"}) {
      const QString path = folder.filePath(name);
      QVERIFY(!write_page(made, path.toStdString()));
      QFile file(path);
      QVERIFY(file.open(QIODevice::ReadOnly));
      QCOMPARE(file.readAll().startsWith("<!DOCTYPE html>"), path.endsWith(".html"));
    }
    QVERIFY(write_page(made, "/nowhere/r.html"));
  }
};

QTEST_GUILESS_MAIN(PageReportTest)
#include "page_report_test.moc"
