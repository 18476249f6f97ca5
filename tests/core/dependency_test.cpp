// The direction of dependencies, the size of files, and the folders of tests and READMEs, read from the
// sources.
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

class DependencyTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sources_are_found();
  void core_has_no_qt();
  void libraries_stay_in_core_sources();
  void core_folders_go_one_way();
  void ui_folders_go_one_way();
  void core_ui_app_go_one_way();
  void types_of_the_core_have_one_definition();
  void files_and_lines_are_short();
  void folders_have_a_readme();
  void test_folders_mirror_the_sources();
};

namespace {

struct Include {
  QString file;  // from the top of the tree
  int line;
  QString what;
  QString text() const { return QString("%1:%2 includes %3").arg(file).arg(line).arg(what); }
};

QStringList sources(const QString& folder) {
  QStringList files;
  QDirIterator it(QString(SHARDSCAPE_SOURCE_DIR "/") + folder, {"*.h", "*.hpp", "*.cpp"}, QDir::Files,
                  QDirIterator::Subdirectories);
  while (it.hasNext()) files << it.next().mid(qsizetype(sizeof SHARDSCAPE_SOURCE_DIR));
  files.sort();
  return files;
}

// "core/graph/build.cpp": "core/graph". Every folder once.
QStringList folders(const QStringList& files) {
  QStringList list;
  for (const QString& file : files) list << file.section('/', 0, -2);
  list.removeDuplicates();
  return list;
}

QStringList lines(const QString& file) {
  QFile source(QString(SHARDSCAPE_SOURCE_DIR "/") + file);
  return source.open(QIODevice::ReadOnly) ? QString::fromUtf8(source.readAll()).split('\n') : QStringList();
}

QList<Include> includes(const QString& folder) {
  static const QRegularExpression pattern("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
  QList<Include> list;
  for (const QString& file : sources(folder)) {
    int line = 0;
    for (const QString& text : lines(file)) {
      ++line;
      if (const auto match = pattern.match(text); match.hasMatch())
        list.append({file, line, match.captured(1)});
    }
  }
  return list;
}

bool starts_with(const QString& text, const QStringList& words) {
  return std::any_of(words.begin(), words.end(), [&](const QString& word) { return text.startsWith(word); });
}

// In the order of core/CMakeLists.txt: a folder uses itself and those before it. graph_layout sees only
// graph.
const QStringList kOrder{"base",        "symbolic", "model",  "mesh",      "hardware",
                         "performance", "design",   "graph",  "pipeline",  "grad_sync",
                         "plan",        "memory",   "timing", "campaign",  "serving",
                         "launch",      "accuracy", "chakra", "astra_sim", "bundle",
                         "trace",       "explore",  "report", "profile",   "validation"};
const QStringList kLayoutUses{"base",        "symbolic", "model", "mesh",        "hardware",
                              "performance", "design",   "graph", "graph_layout"};

bool allowed(const QString& from, const QString& to) {
  if (from == "graph_layout") return kLayoutUses.contains(to);
  return kOrder.contains(to) && kOrder.indexOf(to) <= kOrder.indexOf(from);
}

// From below to above: a folder uses itself and those before it, and views never use each other.
const QStringList kUiOrder{"toolkit",
                           "help",
                           "session",
                           "selection",
                           "plot",
                           "inspector",
                           "form",
                           "views/graph",
                           "views/memory",
                           "views/compute",
                           "views/communication",
                           "views/timeline",
                           "views/explore",
                           "views/serving",
                           "views/requests",
                           "views/architecture",
                           "views/trace",
                           "views/profile",
                           "shell"};

// Folders of sources that have no test program of their own. launch_documents_test.cpp has those of launches.
const QStringList kUntested{"core/model/huggingface/families",
                            "core/launch/automodel",
                            "core/launch/internevo",
                            "core/launch/litgpt",
                            "core/launch/nanotron",
                            "core/launch/neox",
                            "core/launch/simumax"};

// "ui/views/graph/sheet.h": "views/graph".
QString ui_folder(const QString& path) { return path.section('/', 1, -2); }

bool ui_allowed(const QString& from, const QString& to) {
  if (from == to) return kUiOrder.contains(to);
  if (from.startsWith("views/") && to.startsWith("views/")) return false;
  return kUiOrder.contains(to) && kUiOrder.indexOf(to) < kUiOrder.indexOf(from);
}

void none(const QStringList& found) { QVERIFY2(found.isEmpty(), qPrintable("\n" + found.join('\n'))); }

}  // namespace

void DependencyTest::sources_are_found() {
  for (const char* folder : {"core", "ui", "app", "tests"}) QVERIFY2(sources(folder).size() > 5, folder);
  QVERIFY(includes("core").size() > 100);
  QStringList folders = QDir(SHARDSCAPE_SOURCE_DIR "/core").entryList(QDir::Dirs | QDir::NoDotAndDotDot);
  for (const QString& folder : folders)
    QVERIFY2(kOrder.contains(folder) || folder == "graph_layout", qPrintable(folder));
}

void DependencyTest::core_has_no_qt() {
  QStringList found;
  for (const Include& i : includes("core")) {
    if (i.what.startsWith('Q') || i.what.startsWith("qcustomplot")) found << i.text();
  }
  none(found);
}

void DependencyTest::libraries_stay_in_core_sources() {
  QStringList found;
  const QStringList tbb{"tbb/", "oneapi/", "google/protobuf"};
  for (const Include& i : includes("core")) {
    if (!i.file.endsWith(".cpp") &&
        starts_with(i.what, tbb + QStringList{"nlohmann/", "zlib.h", "simdjson.h"}) &&
        i.what != "nlohmann/json_fwd.hpp" && i.file != "core/model/json_reader.h" &&
        i.file != "core/symbolic/json_value.h")
      found << i.text();
  }
  for (const char* folder : {"ui", "app"}) {
    for (const Include& i : includes(folder)) {
      if (starts_with(i.what, tbb)) found << i.text();
    }
  }
  none(found);
}

void DependencyTest::core_folders_go_one_way() {
  QStringList found;
  for (const Include& i : includes("core")) {
    const QString from = i.file.section('/', 1, 1), to = i.what.section('/', 0, 0);
    const bool ours = i.what.contains('/') && (kOrder.contains(to) || to == "graph_layout");
    if (ours && !allowed(from, to)) found << i.text();
  }
  none(found);
}

void DependencyTest::ui_folders_go_one_way() {
  QStringList found;
  for (const QString& file : sources("ui")) {
    if (!kUiOrder.contains(ui_folder(file))) found << file + " is in a folder without a place in the order";
  }
  for (const Include& i : includes("ui")) {
    if (i.what.startsWith("ui/") && !ui_allowed(ui_folder(i.file), ui_folder(i.what))) found << i.text();
  }
  none(found);
}

void DependencyTest::core_ui_app_go_one_way() {
  QStringList found;
  for (const Include& i : includes("core")) {
    if (starts_with(i.what, {"ui/", "app/", "../ui/", "../app/"})) found << i.text();
  }
  for (const Include& i : includes("ui")) {
    if (starts_with(i.what, {"app/", "../app/"})) found << i.text();
  }
  none(found);
}

// Two types of one name in one namespace share the code of their templates: memory is then written wrongly.
void DependencyTest::types_of_the_core_have_one_definition() {
  static const QRegularExpression type("^(struct|class|enum class) (\\w+)( final)?( : [^;]*)? \\{");
  static const QRegularExpression space("^namespace ([\\w:]+) \\{");
  QHash<QString, QString> places;
  QStringList found;
  for (const QString& file : sources("core").filter(QRegularExpression("\\.h$"))) {
    QString scope;
    for (const QString& line : lines(file)) {
      if (const auto match = space.match(line); match.hasMatch()) scope = match.captured(1);
      const auto match = type.match(line);
      if (!match.hasMatch()) continue;
      QString& place = places[scope + "::" + match.captured(2)];
      if (!place.isEmpty()) found << match.captured(2) + " is defined in " + place + " and " + file;
      place = file;
    }
  }
  QVERIFY(places.size() > 500);
  none(found);
}

void DependencyTest::files_and_lines_are_short() {
  constexpr qsizetype kMostLines = 600, kMostColumns = 110;
  QStringList found;
  for (const char* folder : {"core", "ui", "app", "tests"}) {
    for (const QString& file : sources(folder)) {
      const QStringList all = lines(file);
      if (all.size() > kMostLines) found << QString("%1 has %2 lines").arg(file).arg(all.size());
      for (qsizetype i = 0; i < all.size(); ++i)
        if (all[i].size() > kMostColumns)
          found << QString("%1:%2 has %3 columns").arg(file).arg(i + 1).arg(all[i].size());
    }
  }
  none(found);
}

void DependencyTest::folders_have_a_readme() {
  QStringList found;
  for (const char* top : {"core", "ui", "app"}) {
    const QStringList all = QStringList(top) + folders(sources(top));
    for (const QString& folder : all)
      if (!QFile::exists(QString(SHARDSCAPE_SOURCE_DIR "/") + folder + "/README.md"))
        found << folder + " has no README.md";
  }
  none(found);
}

void DependencyTest::test_folders_mirror_the_sources() {
  QStringList tested, found;
  for (const char* top : {"tests/core", "tests/ui"})
    tested << folders(sources(top).filter(QRegularExpression("_test\\.cpp$")));
  tested.replaceInStrings(QRegularExpression("^tests/"), "");
  for (const QString& folder : tested) {
    if (!QDir(QString(SHARDSCAPE_SOURCE_DIR "/") + folder).exists())
      found << "tests/" + folder + " mirrors no folder";
  }
  for (const char* top : {"core", "ui"}) {
    for (const QString& folder : folders(sources(top))) {
      if (tested.contains(folder) == kUntested.contains(folder))
        found << folder + " has no test program, or is listed needlessly";
    }
  }
  none(found);
}

QTEST_APPLESS_MAIN(DependencyTest)
#include "dependency_test.moc"
