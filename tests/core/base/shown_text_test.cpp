// Texts of files and flags in messages: no control characters, not too long.
#include "base/shown_text.h"

#include <QtTest>

#include "base/problem.h"

using namespace shardscape;

class ShownTextTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void printable_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("shown");
    const auto row = [](const char* name, const QByteArray& text, const QByteArray& shown) {
      QTest::newRow(name) << text << shown;
    };
    row("plain", "32 heads, tp = 5", "32 heads, tp = 5");
    row("escape", "\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07");
    row("NUL", QByteArray("a\0b", 3), "a\\x00b");
    row("lines", "a\nb\r\tc", "a\\nb\\r\\tc");
    row("delete", "a\x7f", "a\\x7f");
    row("UTF-8", "2·m — é 😀", "2·m — é 😀");
    row("control of Latin-1",
        "\xc2\x9b"
        "31m",
        "\\x9b31m");
    row("direction",
        "\xe2\x80\xae"
        "abc",
        "\\u202eabc");
    row("no UTF-8", "a\xff\xc3(", "a\\xff\\xc3(");
    row("overlong", "\xc0\xaf", "\\xc0\\xaf");
    row("surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80");
    row("cut character", "\xe2\x82", "\\xe2\\x82");
  }
  void printable() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, shown);
    QCOMPARE(QByteArray::fromStdString(shardscape::printable(text.toStdString())), shown);
  }

  void markdown_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("shown");
    QTest::newRow("plain") << "Llama 3 8B_instruct (tp 2)"
                           << "Llama 3 8B_instruct (tp 2)";
    QTest::newRow("tags and links") << "<b>[x](y) *z* `q`"
                                    << "\\<b>\\[x](y) \\*z\\* \\`q\\`";
    QTest::newRow("a second line") << "a\n# b"
                                   << "a\\\\n# b";
  }
  void markdown() {
    QFETCH(QString, text);
    QTEST(QString::fromStdString(markdown_text(text.toStdString())), "shown");
  }

  void shortens() {
    QCOMPARE(shortened("abcdefghij", 10), std::string("abcdefghij"));
    QCOMPARE(shortened("abcdefghijk", 10), std::string("abcdefg..."));
    QCOMPARE(shortened("abcdef\xc3\xa9hijk", 10), std::string("abcdef..."));
    QCOMPARE(shortened_inside("abcdefghijklmnopqrst", 20), std::string("abcdefghijklmnopqrst"));
    QCOMPARE(shortened_inside("abcdefghijklmnopqrstu", 20), std::string("abcdefghijklmno...tu"));
  }

  void problems() {
    const std::string value(100'000, 'A');
    const Problem long_value(ProblemCode::DataValue, "c.json:1",
                             "\"hidden_act\" is \"" + value + "\", not known", "silu");
    QVERIFY(long_value.what.size() <= 1000);
    QVERIFY(long_value.what.starts_with("\"hidden_act\" is \"AAA"));
    QVERIFY(long_value.what.ends_with("AAA\", not known"));
    const auto note = Problem::note(ProblemCode::DataValue, "a\nb", "\x1b[2J", value);
    QCOMPARE(note.where, std::string("a\\nb"));
    QCOMPARE(note.what, std::string("\\x1b[2J"));
    QVERIFY(note.accepted.size() <= 8000);
  }
};

QTEST_APPLESS_MAIN(ShownTextTest)
#include "shown_text_test.moc"
