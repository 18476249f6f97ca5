// Saved designs: a written design reads back equal, and errors have a location.
#include <sys/resource.h>

#include <QtTest>
#include <csignal>
#include <fstream>

#include "base/data_dir.h"
#include "design/document.h"
#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "model/library.h"

using namespace shardscape;
namespace fs = std::filesystem;

namespace {

const std::string kSmall = R"({
  "shardscape": 1,
  "name": "small",
  "model": {"preset": "llama3-8b"},
  "parallelism": {
    "tp": 4,
    "sequence_parallel": false
  },
  "workload": {"seq": 4096},
  "cluster": {"accelerator": "h100-sxm-80gb"}
}
)";

Design read(const std::string& text) {
  auto result = design_from_json(text, "small.json");
  if (auto* problem = std::get_if<Problem>(&result)) qFatal("%s", to_string(*problem).c_str());
  return std::get<Design>(result);
}

QStringList entries(const QTemporaryDir& dir) {
  return QDir(dir.path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden);
}

}  // namespace

class DocumentTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void round_trip_data();
  void round_trip();
  void random_designs();
  void short_document();
  void refused_data();
  void refused();
  void truncated_anywhere();
  void save_and_load();
  void failed_save_keeps_the_file_data();
  void failed_save_keeps_the_file();
  void full_disk_keeps_the_file();
  void unreadable();
};

void DocumentTest::round_trip_data() {
  QTest::addColumn<QByteArray>("preset");
  QVERIFY(!ModelLibrary::instance().presets().empty());
  for (const Preset& preset : ModelLibrary::instance().presets())
    QTest::newRow(preset.id.c_str()) << QByteArray::fromStdString(preset.id);
}

void DocumentTest::round_trip() {
  QFETCH(QByteArray, preset);
  Design design = default_design();
  QVERIFY(apply_preset(design, preset.toStdString()));
  design.parallel.stage_layers = {20, 12};
  design.parallel.schedule = ScheduleKind::GPipe;
  design.parallel.order = {{MeshAxis::Dp, MeshAxis::Tp, MeshAxis::Pp, MeshAxis::Cp}};
  design.workload.grad_dtype = DType::BF16;
  design.name = "quotes \" and \\ and\nlines, \u00fc";
  const std::string text = to_json(design);
  QVERIFY(text.ends_with("}\n"));
  QVERIFY(read(text) == design);
  QCOMPARE(to_json(read(text)), text);
}

void DocumentTest::random_designs() {
  QRandomGenerator random(7);
  for (int i = 0; i < 300; ++i) {
    Design design = default_design();
    for (const Knob& knob : knobs()) {
      std::string text;
      switch (knob.type) {
        case KnobType::Integer:
          text = std::to_string(
              random.bounded(static_cast<qint64>(knob.min), static_cast<qint64>(knob.max + 1)));
          break;
        case KnobType::Decimal:
          text = QString::number(static_cast<double>(random.bounded(static_cast<qint64>(knob.min),
                                                                    static_cast<qint64>(knob.max + 1))) /
                                     1000,
                                 'f', 3)
                     .toStdString();
          break;
        case KnobType::Boolean: text = random.bounded(2) ? "true" : "false"; break;
        case KnobType::Choice:
          text = knob.choices[random.bounded(static_cast<quint32>(knob.choices.size()))].value;
          break;
        case KnobType::ChoiceList:
          for (const KnobChoice& choice : knob.choices)
            if (random.bounded(2)) text += (text.empty() ? "" : ",") + choice.value;
          break;
        case KnobType::Text:
          if (random.bounded(2))
            text = knob.id == "variants" ? "a: b heads=4 ffn=8 experts_weights=nvfp4 o_weights=bf16; c: d"
                   : knob.id == "weight_formats" ? "attention=fp8-block, down=mxfp4"
                                                 : "a*2, (b, c*3)*";
          break;
        case KnobType::IntegerList:
          for (int n = random.bounded(5); n > 0; --n)
            text += (text.empty() ? "" : ",") + std::to_string(random.bounded(100));
          break;
      }
      QVERIFY(!set_knob(design, knob, text));
    }
    QVERIFY(read(to_json(design)) == design);
  }
}

void DocumentTest::short_document() {
  const Design design = read(kSmall);
  QCOMPARE(design.name, std::string("small"));
  QCOMPARE(design.model.layers, int64_t{32});
  QCOMPARE(design.parallel.tp, int64_t{4});
  QCOMPARE(design.parallel.pp, int64_t{1});
  QCOMPARE(design.workload.seq, int64_t{4096});
  QVERIFY(!has_errors(validate(design)));
  // A preset of somebody else's folder is no obstacle when every number is there.
  Design foreign = default_design();
  foreign.model.preset = "mine";
  QVERIFY(read(to_json(foreign)) == foreign);
  // Files from before there were windows say nothing of them.
  QString older = QString::fromStdString(to_json(foreign));
  QVERIFY(older.contains("\"window\": 0,"));
  QVERIFY(read(older.remove("\"window\": 0,").toStdString()) == foreign);
}

void DocumentTest::refused_data() {
  QTest::addColumn<QByteArray>("from");
  QTest::addColumn<QByteArray>("to");
  QTest::addColumn<QByteArray>("where");
  QTest::addColumn<ProblemCode>("code");
  QTest::addColumn<QByteArray>("accepted");
  const auto row = [](const char* name, const char* from, const char* to, const char* where, ProblemCode code,
                      const char* accepted) {
    QTest::newRow(name) << QByteArray(from) << QByteArray(to) << QByteArray(where) << code
                        << QByteArray(accepted);
  };
  row("unknown key", "\"tp\": 4", "\"tpp\": 4", "small.json:6", ProblemCode::JsonUnknownKey,
      "\"tp\", \"pp\"");
  row("wrong section", "\"tp\": 4", "\"seq\": 4", "small.json:6", ProblemCode::JsonUnknownKey, "\"tp\"");
  row("unknown section", "\"workload\"", "\"work\"", "small.json:9", ProblemCode::JsonUnknownKey,
      "\"workload\"");
  row("number in quotes", "\"tp\": 4", "\"tp\": \"4\"", "small.json:6", ProblemCode::JsonMember,
      "from 1 to 131,072");
  row("fraction", "\"tp\": 4", "\"tp\": 4.5", "small.json:6", ProblemCode::JsonMember, "from 1 to 131,072");
  row("null", "\"tp\": 4", "\"tp\": null", "small.json:6", ProblemCode::JsonMember, "from 1 to 131,072");
  row("out of range", "\"tp\": 4", "\"tp\": 0", "small.json:6", ProblemCode::ValueTooSmall,
      "from 1 to 131,072");
  row("negative", "\"tp\": 4", "\"tp\": -4", "small.json:6", ProblemCode::ValueTooSmall, "from 1 to 131,072");
  row("beyond 64 bits", "\"tp\": 4", "\"tp\": 18446744073709551615", "small.json:6",
      ProblemCode::ValueTooLarge, "from 1 to 131,072");
  row("beyond doubles", "\"tp\": 4", "\"tp\": 1e999", "small.json", ProblemCode::JsonValueUnreadable, "");
  row("not a truth", "false", "0", "small.json:7", ProblemCode::JsonMember, "true or false");
  row("unknown choice", "h100-sxm-80gb", "abacus", "small.json:10", ProblemCode::UnknownChoice,
      "one of a100-sxm-40gb");
  row("list", "\"tp\": 4", "\"stage_layers\": [8, \"8\"]", "small.json:6", ProblemCode::JsonMember,
      "separated by commas");
  row("not a list", "\"tp\": 4", "\"stage_layers\": 8", "small.json:6", ProblemCode::JsonMember,
      "separated by commas");
  row("section is no object", "{\"seq\": 4096}", "7", "small.json:9", ProblemCode::JsonMember, "an object");
  row("name is no text", "\"small\"", "7", "small.json:3", ProblemCode::JsonMember, "a string");
  row("unknown preset", "llama3-8b", "llama9", "small.json:4", ProblemCode::ModelIncomplete, "\"llama3-8b\"");
  row("no preset", "{\"preset\": \"llama3-8b\"}", "{}", "small.json:4", ProblemCode::ModelIncomplete,
      "\"llama3-8b\"");
  row("no model", "\"model\": {\"preset\": \"llama3-8b\"},", "", "small.json:1", ProblemCode::JsonMember,
      "an object");
  row("newer format", "\"shardscape\": 1", "\"shardscape\": 2", "small.json:2", ProblemCode::UnknownFormat,
      "\"shardscape\": 1");
  row("no format 0", "\"shardscape\": 1", "\"shardscape\": 0", "small.json:2", ProblemCode::UnknownFormat,
      "\"shardscape\": 1");
  row("format is a text", "\"shardscape\": 1", "\"shardscape\": \"1\"", "small.json:2",
      ProblemCode::UnknownFormat, "\"shardscape\": 1");
  row("other JSON", "\"shardscape\": 1,", "", "small.json:1", ProblemCode::WrongKindOfFile,
      "a file that File > Save design has written");
  row("config.json", "\"shardscape\": 1,", "\"model_type\": \"llama\",", "small.json:2",
      ProblemCode::WrongKindOfFile, "import");
  row("comma missing", "\"tp\": 4,", "\"tp\": 4", "small.json:7", ProblemCode::JsonSyntax, "JSON object");
  row("stray text", "\"tp\": 4", "\"tp\": four", "small.json:6", ProblemCode::JsonSyntax, "JSON object");
}

void DocumentTest::refused() {
  QFETCH(QByteArray, from);
  QFETCH(QByteArray, to);
  QFETCH(QByteArray, where);
  QFETCH(ProblemCode, code);
  QFETCH(QByteArray, accepted);
  QByteArray text = QByteArray::fromStdString(kSmall);
  QVERIFY(text.contains(from));
  text.replace(text.indexOf(from), from.size(), to);
  const auto result = design_from_json(text.toStdString(), "small.json");
  const Problem* problem = std::get_if<Problem>(&result);
  QVERIFY(problem);
  const std::string all = to_string(*problem);
  QVERIFY2(problem->where.starts_with(where.toStdString()), all.c_str());
  QVERIFY2(problem->code == code, all.c_str());
  QVERIFY2(QByteArray::fromStdString(problem->accepted).contains(accepted), all.c_str());
  QVERIFY(!problem->accepted.empty());
}

void DocumentTest::truncated_anywhere() {
  const std::string text = to_json(default_design());
  for (size_t length = 0; length + 2 < text.size(); ++length) {
    const auto result = design_from_json(text.substr(0, length), "cut.json");
    QVERIFY(std::holds_alternative<Problem>(result));
    QVERIFY(std::get<Problem>(result).where.starts_with("cut.json:"));
  }
}

void DocumentTest::save_and_load() {
  QTemporaryDir dir;
  const fs::path path = fs::path(dir.path().toStdString()) / "a design.json";
  const Design design = default_design();
  for (int i = 0; i < 2; ++i) {
    const auto problem = save_design(design, path);
    QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
    const auto loaded = load_design(path);
    QVERIFY(std::holds_alternative<Design>(loaded));
    QVERIFY(std::get<Design>(loaded) == design);
    QCOMPARE(entries(dir), QStringList{"a design.json"});
  }
  // A link goes on naming its file, and the file's permissions stay.
  const fs::path link = path.parent_path() / "link.json";
  fs::create_symlink(path, link);
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  QVERIFY(!save_design(Design{}, link));
  QVERIFY(fs::is_symlink(link));
  QVERIFY(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  QVERIFY(std::get<std::string>(read_text(path)) == to_json(Design{}));
}

void DocumentTest::failed_save_keeps_the_file_data() {
  QTest::addColumn<QString>("name");
  QTest::newRow("folder missing") << "missing/x.json";
  QTest::newRow("is a folder") << "folder";
  QTest::newRow("name too long") << QString(300, 'x');
  QTest::newRow("below a file") << "kept.json/x.json";
}

void DocumentTest::failed_save_keeps_the_file() {
  QFETCH(QString, name);
  QTemporaryDir dir;
  const fs::path folder = dir.path().toStdString();
  fs::create_directory(folder / "folder");
  QVERIFY(!save_design(default_design(), folder / "kept.json"));
  const fs::path path = folder / name.toStdString();
  const auto problem = save_design(default_design(), path);
  QVERIFY(problem);
  QCOMPARE(problem->where, path.string());
  QVERIFY(!problem->what.empty() && !problem->accepted.empty());
  QCOMPARE(entries(dir), (QStringList{"folder", "kept.json"}));
  QVERIFY(std::holds_alternative<Design>(load_design(folder / "kept.json")));
}

// A limit on file size fails in the middle of the write, as a full disk does.
void DocumentTest::full_disk_keeps_the_file() {
  QTemporaryDir dir;
  const fs::path path = fs::path(dir.path().toStdString()) / "kept.json";
  QVERIFY(!save_design(default_design(), path));
  struct rlimit before {};
  QCOMPARE(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 100;
  QCOMPARE(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto problem = save_design(Design{}, path);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  QVERIFY(problem);
  QVERIFY(problem->what.find("File too large") != std::string::npos);
  QCOMPARE(entries(dir), QStringList{"kept.json"});
  QVERIFY(std::get<Design>(load_design(path)) == default_design());
}

void DocumentTest::unreadable() {
  QTemporaryDir dir;
  const fs::path folder = dir.path().toStdString();
  for (const fs::path& path : {folder, folder / "missing.json"}) {
    const auto result = load_design(path);
    QVERIFY(std::holds_alternative<Problem>(result));
    QCOMPARE(std::get<Problem>(result).where, path.string());
  }
  std::ofstream(folder / "empty.json").close();
  QVERIFY(std::holds_alternative<Problem>(load_design(folder / "empty.json")));
  std::ofstream(folder / "binary.json") << std::string("\x00\xff\xfe{}", 5);
  QVERIFY(std::holds_alternative<Problem>(load_design(folder / "binary.json")));
}

QTEST_APPLESS_MAIN(DocumentTest)
#include "document_test.moc"
