// Reports carry their design: what is taken out of a web page, and what is refused.
#include <QTest>

#include "design/document.h"
#include "design/embedded_document.h"

using namespace shardscape;

namespace {

std::string page(const std::string& element) {
  return "<!DOCTYPE html>\n<html><body><h1>a</h1>\n" + element + "</body></html>\n";
}

}  // namespace

class EmbeddedDocumentTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_page_gives_its_design_back() {
    Design design = default_design();
    design.name = "</script><b> & \"quotes\"";
    const std::string html = page(html_design(to_json(design)));
    QCOMPARE(html.find("</script>"), html.rfind("</script>"));  // the name ends nothing
    const auto json = design_json_of(html, "report.html");
    QVERIFY(std::holds_alternative<std::string>(json));
    const auto read = design_from_json(std::get<std::string>(json), "report.html");
    QVERIFY(std::holds_alternative<Design>(read));
    QVERIFY(std::get<Design>(read) == design);
  }

  void json_stays_as_it_is() {
    QVERIFY(!is_report_document("{}"));
    QCOMPARE(std::get<std::string>(design_json_of("{\"a\": 1}", "a.json")), std::string("{\"a\": 1}"));
  }

  void documents_without_a_design_are_refused_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("page") << QByteArray("<!DOCTYPE html><html></html>");
    QTest::newRow("cut page") << QByteArray(page(html_design("{}")).substr(0, 100).c_str());
    QTest::newRow("pdf") << QByteArray("%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n");
    QTest::newRow("cut stream") << QByteArray("%PDF-1.4\n7 0 obj\n<< >>\nstream\n{\"a\"\n/EF <</F 7 0 R>>");
    QTest::newRow("no object") << QByteArray("%PDF-1.4\n/EF <</F 7 0 R>>");
    QTest::newRow("no number") << QByteArray("%PDF-1.4\n/EF <</F ");
    QTest::newRow("broken stream") << QByteArray(
        "%PDF-1.4\n7 0 obj\n<< >>\nstream\nabc\nendstream\nendobj\n/EF <</F 7 0 R>>");
    QTest::newRow("another object") << QByteArray(
        "%PDF-1.4\n77 0 obj\n<< >>\nstream\n{}\nendstream\nendobj\n/EF <</F 7 0 R>>");
  }
  void documents_without_a_design_are_refused() {
    QFETCH(QByteArray, text);
    const auto read = design_json_of(text.toStdString(), "report");
    QVERIFY(std::holds_alternative<Problem>(read));
    QVERIFY(std::get<Problem>(read).code == ProblemCode::DocumentFormat);
    QCOMPARE(std::get<Problem>(read).where, std::string("report"));
  }

  void a_plain_stream_of_a_pdf_is_read() {
    const std::string
        pdf = "%PDF-1.4\n7 0 obj\n<< >>\nstream\n{\"a\": 1}\nendstream\nendobj\n/EF <</F 7 0 R>>\n";
    QCOMPARE(std::get<std::string>(design_json_of(pdf, "report.pdf")), std::string("{\"a\": 1}\n"));
  }
};

QTEST_APPLESS_MAIN(EmbeddedDocumentTest)
#include "embedded_document_test.moc"
