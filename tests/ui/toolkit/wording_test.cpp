// Texts of the window use the words of the field: no private words in tr() or in the table of settings.
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include "design/knobs/knobs.h"

using namespace shardscape;

class WordingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void textsAreFound();
  void theWindowUsesTheWordsOfTheField();
  void settingsUseTheWordsOfTheField();
};

namespace {

struct Text {
  QString words;
  int line;
};

// The literals inside of tr() and translate(), and all that have a blank. Adjacent literals are one text.
QList<Text> texts_of(const QString& source) {
  static const QRegularExpression token(R"re(//[^\n]*|/\*.*?\*/|#include[^\n]*|'(?:\\.|[^'\\])'|)re"
                                        R"re("((?:[^"\\\n]|\\.)*)"|\b(?:tr|translate)\(|[()])re",
                                        QRegularExpression::DotMatchesEverythingOption);
  QList<Text> texts;
  QList<int> translated;  // the depths of parentheses outside of each open tr()
  int depth = 0;
  qsizetype end = -1;  // of the last literal
  const auto add = [&](const QString& words, qsizetype begin) {
    if (end >= 0 && source.mid(end, begin - end).trimmed().isEmpty())
      texts.last().words += words;
    else
      texts.append({words, static_cast<int>(source.left(begin).count('\n')) + 1});
  };
  QList<bool> shown;  // by text: inside of tr()
  for (auto it = token.globalMatch(source); it.hasNext();) {
    const auto match = it.next();
    const QString found = match.captured();
    if (found.startsWith('"')) {
      add(match.captured(1), match.capturedStart());
      while (shown.size() < texts.size()) shown.append(!translated.isEmpty());
      end = match.capturedEnd();
    } else if (found == ")") {
      --depth;
      if (!translated.isEmpty() && translated.last() == depth) translated.removeLast();
    } else if (found.endsWith('(')) {
      if (found != "(") translated.append(depth);
      ++depth;
    }
  }
  QList<Text> out;
  for (qsizetype i = 0; i < texts.size(); ++i)
    if (shown[i] || texts[i].words.contains(' ')) out.append(texts[i]);
  return out;
}

// A word that stands for a word of the field: setting, fix, next to, current design, undo, need.
QString private_word(const QString& text) {
  static const QRegularExpression words(
      R"(\b(knobs?|mend(s|ed|ing)?|beside|present designs?|takes? back|wants?|wanted)\b)",
      QRegularExpression::CaseInsensitiveOption);
  return words.match(text).captured();
}

QString read(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

}  // namespace

void WordingTest::textsAreFound() {
  const QList<Text> texts = texts_of(R"re(
    // tr("Knob")
    label(tr("Mend what " /* joined */
             "is marked"), QStringLiteral("knob"));
    menu(wide ? tr(long_text() ? "Knob" : "Setting") : QString("knob"), 'x', "say beside");)re");
  QStringList words;
  for (const Text& text : texts) words << text.words;
  QCOMPARE(words, (QStringList{"Mend what ", "is marked", "Knob", "Setting", "say beside"}));
  QCOMPARE(texts[2].line, 5);
  const QList<Text> joined = texts_of("tr(\"present \"\n   \"design\")");
  QCOMPARE(joined.size(), 1);
  QCOMPARE(private_word(joined[0].words), QString("present design"));
  QCOMPARE(private_word("Fix the marked setting"), QString());
}

void WordingTest::theWindowUsesTheWordsOfTheField() {
  const QString root = SHARDSCAPE_SOURCE_DIR "/";
  QStringList found;
  qsizetype count = 0;
  QDirIterator it(root + "ui", {"*.h", "*.cpp"}, QDir::Files, QDirIterator::Subdirectories);
  while (it.hasNext()) {
    const QString path = it.next();
    const QList<Text> texts = texts_of(read(path));
    count += texts.size();
    for (const Text& text : texts)
      if (const QString word = private_word(text.words); !word.isEmpty())
        found << QString("%1:%2 says \"%3\": %4")
                     .arg(path.mid(root.size()), QString::number(text.line), word, text.words);
  }
  QVERIFY2(count > 1000, qPrintable(QString::number(count)));
  QVERIFY2(found.isEmpty(), qPrintable('\n' + found.join('\n')));
}

void WordingTest::settingsUseTheWordsOfTheField() {
  QStringList found;
  for (const Knob& knob : knobs()) {
    std::vector<std::string> texts{knob.label, knob.help, knob.section, knob.when_empty, knob.accepted};
    for (const KnobChoice& choice : knob.choices) texts.push_back(choice.label);
    for (const std::string& text : texts)
      if (const QString word = private_word(QString::fromStdString(text)); !word.isEmpty())
        found << QString("%1 says \"%2\": %3")
                     .arg(QString::fromStdString(knob.id), word, QString::fromStdString(text));
  }
  QVERIFY2(found.isEmpty(), qPrintable('\n' + found.join('\n')));
}

QTEST_GUILESS_MAIN(WordingTest)
#include "wording_test.moc"
