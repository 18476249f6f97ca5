// Documents of settings become flat arguments with lines; hostile ones are refused.
#include <QTest>
#include <set>

#include "launch/document/launch_document.h"

using namespace shardscape;

Q_DECLARE_METATYPE(shardscape::DocumentLanguage)

namespace {

std::variant<LaunchDocument, Problem> read(DocumentLanguage language, const std::string& text) {
  return read_launch_document(language, text, "file");
}

std::string repeated(const std::string& part, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += part;
  return out;
}

}  // namespace

class LaunchDocumentTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void beginningsOfToml_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("toml");
    const auto row = [](const char* text, bool toml) {
      QTest::addRow("\"%s\"", text) << QString(text) << toml;
    };
    row("[model]\nname = 1", true);
    row("# c\n\n[[a.b-c]] # d\n", true);
    row("[mod", true);
    row("a = 1\n[model]", false);
    row("[rank0]: step 1", false);
    row("[INFO] begin", false);
    row("[\"a\"]", false);
    row("[1, 2]", false);
    row("[[[", false);
    row("# c", false);
    row("", false);
  }
  void beginningsOfToml() {
    QFETCH(QString, text);
    QFETCH(bool, toml);
    QCOMPARE(begins_as_toml(text.toStdString()), toml);
  }

  void values_have_the_path_of_their_names_data() {
    QTest::addColumn<DocumentLanguage>("language");
    QTest::addColumn<QString>("text");
    QTest::newRow("yaml") << DocumentLanguage::Yaml
                          << "parallel:\n  tp: 8\n  on: yes\nsizes: [1, 2, 4]\nname: \"a b\"\n"
                             "sets:\n  - {path: x}\n  - {path: y}\nnone: ~\n";
    QTest::newRow("toml") << DocumentLanguage::Toml
                          << "name = \"a b\"\nsizes = [1, 2, 4]\n[parallel]\ntp = 8\non = true\n"
                             "[[sets]]\npath = \"x\"\n[[sets]]\npath = \"y\"\n";
    QTest::newRow("json")
        << DocumentLanguage::Json
        << "{\"parallel\": {\"tp\": 8, \"on\": true}, \"sizes\": [1, 2, 4], \"name\": \"a b\","
           "\"sets\": [{\"path\": \"x\"}, {\"path\": \"y\"}], \"none\": null}";
  }
  void values_have_the_path_of_their_names() {
    QFETCH(DocumentLanguage, language);
    QFETCH(QString, text);
    const auto document = read(language, text.toStdString());
    QVERIFY(std::holds_alternative<LaunchDocument>(document));
    LaunchArguments arguments = std::get<LaunchDocument>(document).arguments;
    if (language != DocumentLanguage::Toml) QCOMPARE(arguments.extract("none").mapped(), std::string("null"));
    const LaunchArguments wanted{{"parallel.tp", "8"}, {"parallel.on", "true"}, {"sizes", "1 2 4"},
                                 {"name", "a b"},      {"sets.0.path", "x"},    {"sets.1.path", "y"}};
    QVERIFY(arguments == wanted);
  }

  void lines_are_kept() {
    const auto yaml = read(DocumentLanguage::Yaml, "a: 1\nb:\n  c: 2\n");
    QCOMPARE(std::get<LaunchDocument>(yaml).lines.at("b.c"), 3);
    const auto toml = read(DocumentLanguage::Toml, "a = 1\n\n[b]\nc = 2\n");
    QCOMPARE(std::get<LaunchDocument>(toml).lines.at("b.c"), 4);
  }

  void merged_mappings_are_replaced_by_own_values() {
    const auto yaml = read(DocumentLanguage::Yaml, "base: &b {x: 1, y: 2}\nmine:\n  <<: *b\n  y: 3\n");
    const LaunchArguments& arguments = std::get<LaunchDocument>(yaml).arguments;
    QCOMPARE(arguments.at("mine.x"), std::string("1"));
    QCOMPARE(arguments.at("mine.y"), std::string("3"));
  }

  void literals_of_python() {
    const auto python = read(
        DocumentLanguage::Python,
        "\"\"\"A text\nalone.\"\"\"\nimport os\nN = 2 ** 4  # sixteen\nM = -N // 3 + 1\n"
        "a = dict(\n    x=N * 2, y=8 / 3, z=(1, 2,), s='p' \"q\", t=None,\n    f=int(N / 3), o=True)\n"
        "b = {'k': a['x'], \"l\": [dict(u=1), a[\"z\"][1]]}\nc = os.environ['X']\nd = dict(e=f(1, 2), g=3)\n"
        "if N:\n    h = 5\nd.update(i=1)\nj = f\"{N}\"; k = 1_000\n");
    QVERIFY2(std::holds_alternative<LaunchDocument>(python), "refused");
    const auto& document = std::get<LaunchDocument>(python);
    const LaunchArguments wanted{{"N", "16"},
                                 {"M", "-5"},
                                 {"a.x", "32"},
                                 {"a.y", "2.66666666666667"},
                                 {"a.z", "1 2"},
                                 {"a.s", "pq"},
                                 {"a.t", "null"},
                                 {"a.f", "5"},
                                 {"a.o", "true"},
                                 {"b.k", "32"},
                                 {"b.l.0.u", "1"},
                                 {"b.l.1", "2"},
                                 {"c", "os.environ['X']"},
                                 {"d.e", "f(1, 2)"},
                                 {"d.g", "3"},
                                 {"line 12", "if N:"},
                                 {"h", "h = 5"},
                                 {"line 14", "d.update(i=1)"},
                                 {"j", "f\"{N}\""},
                                 {"k", "1000"}};
    for (const auto& [name, value] : document.arguments)
      QVERIFY2(wanted.contains(name) && wanted.at(name) == value, (name + " is " + value).c_str());
    QCOMPARE(document.arguments.size(), wanted.size());
    const std::set<std::string> computed{"c", "d.e", "line 12", "h", "line 14", "j"};
    QVERIFY(document.computed == computed);
    QCOMPARE(document.lines.at("a.x"), 7);
    QCOMPARE(document.lines.at("h"), 13);
  }

  // Lists of Python that end with another bracket.
  void wrong_lists_of_python() {
    const auto python = read(DocumentLanguage::Python, "x = (1, ]\ny = [1, 2, }\nz = 4\n");
    QVERIFY(std::holds_alternative<LaunchDocument>(python));
    const auto& document = std::get<LaunchDocument>(python);
    QVERIFY(document.computed == (std::set<std::string>{"x", "y"}));
    QCOMPARE(document.arguments.at("z"), std::string("4"));
  }

  void broken_and_hostile_documents_are_refused_data() {
    QTest::addColumn<DocumentLanguage>("language");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("place");
    const auto row = [](const char* name, DocumentLanguage language, const std::string& text,
                        const char* place) {
      QTest::newRow(name) << language << QString::fromStdString(text) << place;
    };
    row("yaml syntax", DocumentLanguage::Yaml, "a: 1\nb: [1\n", "file, line 3");
    row("toml syntax", DocumentLanguage::Toml, "a = 1\nb = \n", "file, line 2");
    row("json syntax", DocumentLanguage::Json, "{\"a\": 1,\n\"b\": }", "file, line 2");
    row("no mapping", DocumentLanguage::Yaml, "- 1\n- 2\n", "file");
    row("no object", DocumentLanguage::Json, "[1, 2]", "file");
    row("deep yaml", DocumentLanguage::Yaml, repeated("{a: ", 300) + "1" + repeated("}", 300),
        "file, line 1");
    row("deep json", DocumentLanguage::Json, repeated("{\"a\":", 100'000), "file, line 1");
    row("deep toml", DocumentLanguage::Toml, "a = " + repeated("[", 200) + repeated("]", 200),
        "file, line 1");
    row("deep keys of toml", DocumentLanguage::Toml, "x = \"a.b\"\n" + repeated("a.", 100'000) + "a = 1",
        "file, line 2");
    row("deep table of toml", DocumentLanguage::Toml, "[" + repeated("\"a\" . ", 100'000) + "a]\nx = 1",
        "file, line 1");
    row("deeper yaml", DocumentLanguage::Yaml, "a: 1\nb: " + repeated("[", 100'000), "file, line 2");
    row("deep python", DocumentLanguage::Python, "a = " + repeated("[", 100'000), "file, line 1");
    row("deep signs", DocumentLanguage::Python, "\na = " + repeated("-", 100'000) + "1", "file, line 2");
    std::string doubled = "a = [1, 1]\n";
    for (int i = 1; i < 60; ++i) doubled += "a = [a, a]\n";
    row("names that multiply", DocumentLanguage::Python, doubled, "file, line 18");
    std::string bomb = "a0: &a0 {x: 1, y: 1}\n";
    for (int i = 1; i < 40; ++i) {
      const std::string before = "*a" + std::to_string(i - 1);
      bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " {x: " + before + ", y: " + before +
              "}\n";
    }
    row("aliases that multiply", DocumentLanguage::Yaml, bomb, "file, line 1");
  }
  void broken_and_hostile_documents_are_refused() {
    QFETCH(DocumentLanguage, language);
    QFETCH(QString, text);
    QFETCH(QString, place);
    const auto document = read(language, text.toStdString());
    QVERIFY(std::holds_alternative<Problem>(document));
    const Problem& problem = std::get<Problem>(document);
    QVERIFY(problem.code == ProblemCode::LaunchSyntax);
    QCOMPARE(QString::fromStdString(problem.where), place);
    QVERIFY2(problem.what.size() < 200, problem.what.c_str());
  }
};

QTEST_APPLESS_MAIN(LaunchDocumentTest)
#include "launch_document_test.moc"
