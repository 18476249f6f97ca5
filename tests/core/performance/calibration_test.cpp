// Calibration files: reading, located errors, and fits.
#include "performance/calibration.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <random>

#include "performance/attention_model.h"
#include "performance/calibrate.h"
#include "performance/matmul_model.h"

using namespace shardscape;

namespace {

const QByteArray kGood = R"({
 "format": 1,
 "accelerator": "gaudi3-128gb",
 "matmul": [
  {"dtype": "bfloat16", "source": "here", "tiles": [[256, 256]],
   "scale": 2,
   "m": [64, 128], "n": [64], "k": [64, 128, 256],
   "log_residual": [0, 0, 0, 0.1, 0.1, 0.1]}
 ],
 "memory": {"source": "here", "launch_us": 7, "share": 0.5},
 "collectives": [
  {"op": "all_gather", "ranks": 8, "per_domain": 8, "bytes": [1024, 2048], "us": [5, 6]}
 ]
}
)";

void write(const QString& path, const QByteArray& bytes) {
  QDir().mkpath(QFileInfo(path).path());
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) qFatal("%s", qPrintable(path));
}

}  // namespace

class CalibrationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void own_files();
  void relatives();
  void masks();
  void own_mistakes();
  void reads();
  void mistakes_data();
  void mistakes();
  void round_trip();
  void interpolates();
  void far_from_rows();
  void disturbed_rows();
  void rows_data();
  void rows();
  void impossible();
  void row_mistakes_data();
  void row_mistakes();
  void recovers();
  void few_rows();
  void memory_and_cache();
  void curves();

 private:
  QTemporaryDir home_;
};

// Before anything asks for a calibration: files are read once.
void CalibrationTest::initTestCase() {
  qputenv("XDG_DATA_HOME", home_.path().toUtf8());
  const QString folder = home_.filePath("shardscape/resources/calibration/");
  write(folder + "gaudi.json", kGood);
  write(folder + "broken.json", QByteArray(kGood).replace("\"scale\": 2", "\"scale\": -2"));
  write(folder + "unknown.json", QByteArray(kGood).replace("gaudi3-128gb", "abacus"));
  write(folder + "tpu.json", R"({"format": 1, "accelerator": "tpu-v6e", "attention": [
    {"dtype": "bfloat16", "pass": "forward", "causal": false, "source": "of all pairs", "scale": 3},
    {"dtype": "bfloat16", "pass": "forward", "causal": true, "source": "of half of them", "scale": 2},
    {"dtype": "bfloat16", "pass": "backward", "causal": false, "source": "of all pairs", "scale": 4}]})");
  QFile catalogue(SHARDSCAPE_SOURCE_DIR "/resources/catalogue/accelerators.json");
  if (!catalogue.open(QIODevice::ReadOnly)) qFatal("no catalogue");
  QJsonObject root = QJsonDocument::fromJson(catalogue.readAll()).object();
  QJsonArray mine;
  for (const QJsonValue& value : root["accelerators"].toArray())
    if (QJsonObject a = value.toObject(); a["id"] == "h100-sxm-80gb") {
      a["id"] = "h100-of-mine";
      a["name"] = "Mine";
      a.remove("aliases");
      mine.append(a);
    }
  root["accelerators"] = mine;
  write(home_.filePath("shardscape/resources/catalogue/accelerators.json"), QJsonDocument(root).toJson());
  write(folder + "h100.json",
        R"({"format": 1, "accelerator": "h100-sxm-80gb", "memory": {"source": "mine",
    "launch_us": 9, "share": 0.4},
    "training_factor": [{"dtype": "bfloat16", "factor": 1.25, "source": "mine"}]})");
}

void CalibrationTest::own_files() {
  const Accelerator& gaudi = *find_accelerator("gaudi3-128gb");
  QCOMPARE(matmul_basis(gaudi, DType::BF16), std::string("here"));
  QCOMPARE(kernels_of(gaudi).data.memory->share, 0.5);
  QCOMPARE(kernels_of(gaudi).data.collectives.size(), size_t{1});
  // One section of a person's own leaves the others.
  Machine h100;
  h100.accelerator = unowned(find_accelerator("h100-sxm-80gb"));
  QCOMPARE(kernels_of(*h100.accelerator).data.memory->source, std::string("mine"));
  QVERIFY(memory_bound_seconds(h100, 1) > 8.9e-6);
  QVERIFY(kernels_of(*h100.accelerator).data.matmul.size() >= 3);
  QVERIFY(QString::fromStdString(matmul_basis(*h100.accelerator, DType::BF16)).contains("isolated loops"));
  // A factor stretches the kernels of its precision, that of bfloat16 those of all that have none, and is not
  // handed on to relatives.
  Machine h800 = h100;
  h800.accelerator = unowned(find_accelerator("h800-sxm-80gb"));
  const MatmulShape shape{1, 8192, 8192, 8192};
  double own = 1;
  for (const TrainingFactor& f : kernels_of(*h800.accelerator).data.training)
    own = f.dtype == DType::BF16 ? f.factor : own;
  QVERIFY(own != 1.25);
  QVERIFY(std::fabs(matmul_seconds(h100, shape) / matmul_seconds(h800, shape) - 1.25 / own) < 0.01);
  MatmulShape eight = shape;
  eight.compute = DType::FP8;
  QVERIFY(std::fabs(matmul_seconds(h100, eight) / matmul_seconds(h800, eight) - 1.25 / own) < 0.01);
}

// A device of one's own is as fast in training as the relative whose tables it borrows, and says whose that
// is.
void CalibrationTest::relatives() {
  const Accelerator* mine = find_accelerator("h100-of-mine");
  QVERIFY(mine);
  const auto& training = kernels_of(*mine).data.training;
  QVERIFY(!training.empty() && training.front().source == "from the NVIDIA H100 SXM 80 GB: mine");
  Machine machine, h100;
  machine.accelerator = unowned(mine);
  h100.accelerator = unowned(find_accelerator("h100-sxm-80gb"));
  const MatmulShape shape{1, 4096, 4096, 4096};
  QCOMPARE(matmul_seconds(machine, shape), matmul_seconds(h100, shape));
  QCOMPARE(kernels_of(*mine).data.collectives.size(), size_t{0});
}

// The attention table of the mask is used, otherwise the table of the other mask, otherwise none.
void CalibrationTest::masks() {
  const Kernels& kernels = kernels_of(*find_accelerator("tpu-v6e"));
  QCOMPARE(kernels.of(AttentionPass::Forward, false).scale, 3.0);
  QCOMPARE(kernels.of(AttentionPass::Forward, true).scale, 2.0);
  QCOMPARE(kernels.of(AttentionPass::Backward, true).scale, 4.0);
  QVERIFY(kernels.of(AttentionPass::Decode, true).from.empty());
  QCOMPARE(attention_basis(*find_accelerator("tpu-v6e"), AttentionPass::Forward),
           std::string("of half of them"));
}

void CalibrationTest::own_mistakes() {
  QStringList all;
  for (const Problem& p : calibration_problems()) all << QString::fromStdString(to_string(p));
  QCOMPARE(all.size(), 2);
  const QString text = all.join('\n');
  QVERIFY2(text.contains("broken.json:6"), qPrintable(text));
  QVERIFY2(text.contains("unknown.json") && text.contains("\"abacus\""), qPrintable(text));
  QVERIFY(std::any_of(calibration_problems().begin(), calibration_problems().end(),
                      [](const Problem& p) { return p.code == ProblemCode::UnknownAccelerator; }));
}

void CalibrationTest::reads() {
  const auto read = read_calibration(kGood.toStdString(), "good.json");
  QVERIFY(std::holds_alternative<Calibration>(read));
  const Calibration& c = std::get<Calibration>(read);
  QCOMPARE(c.accelerator, std::string("gaudi3-128gb"));
  QCOMPARE(c.matmul.size(), size_t{1});
  QCOMPARE(c.matmul[0].tiles[0].first, 256.0);
  QCOMPARE(c.matmul[0].residual.values.size(), size_t{6});
  QCOMPARE(c.memory->launch_us, 7.0);
  QCOMPARE(c.collectives[0].us[1], 6.0);
}

void CalibrationTest::mistakes_data() {
  QTest::addColumn<QByteArray>("from");
  QTest::addColumn<QByteArray>("to");
  QTest::addColumn<QString>("where");
  QTest::addColumn<ProblemCode>("code");
  QTest::addColumn<QString>("words");
  QTest::newRow("no JSON") << QByteArray("\"matmul\": [") << QByteArray("\"matmul\": ")
                           << "bad.json:" << ProblemCode::JsonSyntax << "not JSON";
  QTest::newRow("format") << QByteArray("\"format\": 1") << QByteArray("\"format\": 2") << "bad.json:2"
                          << ProblemCode::UnknownFormat << "format 2 is not known";
  QTest::newRow("no accelerator") << QByteArray(" \"accelerator\": \"gaudi3-128gb\",\n") << QByteArray()
                                  << "bad.json:1" << ProblemCode::JsonMember << "\"accelerator\" is missing";
  QTest::newRow("misspelt key") << QByteArray("\"matmul\"") << QByteArray("\"mat_mul\"") << "bad.json:4"
                                << ProblemCode::JsonUnknownKey << "\"mat_mul\" is not a known key";
  QTest::newRow("misspelt key inside") << QByteArray("\"scale\"") << QByteArray("\"sclae\"") << "bad.json:6"
                                       << ProblemCode::JsonUnknownKey << "\"sclae\" is not a known key";
  QTest::newRow("dtype") << QByteArray("bfloat16") << QByteArray("bf16") << "bad.json:5"
                         << ProblemCode::DataValue << "\"bf16\" is not an element type";
  QTest::newRow("no source") << QByteArray("\"source\": \"here\", \"tiles\"") << QByteArray("\"tiles\"")
                             << "bad.json:" << ProblemCode::JsonMember << "\"source\" is missing";
  QTest::newRow("tile") << QByteArray("[[256, 256]]") << QByteArray("[[256]]") << "bad.json:5"
                        << ProblemCode::DataValue << "[256] is not a tile";
  QTest::newRow("no tiles") << QByteArray("[[256, 256]]") << QByteArray("[]") << "bad.json:5"
                            << ProblemCode::DataValue << "\"tiles\" is empty";
  QTest::newRow("scale") << QByteArray("\"scale\": 2") << QByteArray("\"scale\": \"2\"") << "bad.json:6"
                         << ProblemCode::DataValue << "\"scale\" is \"2\"";
  QTest::newRow("knots") << QByteArray("[64, 128, 256]") << QByteArray("[64, 256, 128]") << "bad.json:7"
                         << ProblemCode::DataValue << "not ascending";
  QTest::newRow("count") << QByteArray("0.1, 0.1, 0.1]") << QByteArray("0.1, 0.1]") << "bad.json:8"
                         << ProblemCode::DataValue << "\"log_residual\" holds 5 numbers";
  QTest::newRow("no number") << QByteArray("0.1, 0.1, 0.1]") << QByteArray("0.1, 0.1, null]") << "bad.json:8"
                             << ProblemCode::DataValue << "\"log_residual\" holds null";
  QTest::newRow("share") << QByteArray("\"share\": 0.5") << QByteArray("\"share\": 50") << "bad.json:10"
                         << ProblemCode::DataValue << "\"share\" is 50";
  QTest::newRow("curve") << QByteArray("[5, 6]") << QByteArray("[5]") << "bad.json:12"
                         << ProblemCode::DataValue << "\"us\" holds 1 numbers";
}

void CalibrationTest::mistakes() {
  QFETCH(QByteArray, from);
  QFETCH(QByteArray, to);
  QFETCH(QString, where);
  QFETCH(ProblemCode, code);
  QFETCH(QString, words);
  QVERIFY(kGood.contains(from));
  const auto read = read_calibration(QByteArray(kGood).replace(from, to).toStdString(), "bad.json");
  QVERIFY(std::holds_alternative<Problem>(read));
  const Problem& problem = std::get<Problem>(read);
  QVERIFY2(QString::fromStdString(problem.where).startsWith(where), problem.where.c_str());
  QVERIFY2(problem.code == code, to_string(problem).c_str());
  QVERIFY2(QString::fromStdString(problem.what).contains(words), problem.what.c_str());
  QVERIFY(!problem.accepted.empty());
}

void CalibrationTest::round_trip() {
  for (const char* id : {"h100-sxm-80gb", "b200-hgx-180gb", "gaudi3-128gb"}) {
    Calibration before = kernels_of(*find_accelerator(id)).data;
    before.accelerator = id;
    const std::string text = calibration_json(before);
    const auto read = read_calibration(text, id);
    QVERIFY2(std::holds_alternative<Calibration>(read),
             std::holds_alternative<Problem>(read) ? to_string(std::get<Problem>(read)).c_str() : "");
    QCOMPARE(calibration_json(std::get<Calibration>(read)), text);
  }
}

void CalibrationTest::interpolates() {
  ResidualGrid grid;
  grid.knots = {std::vector<double>{64, 128}, {64}, {64, 256}};
  grid.values = {0, 1, 2, 5};
  grid.prepare();
  QCOMPARE(grid.at({6, 6, 6}), 0.0);
  QCOMPARE(grid.at({7, 6, 8}), 5.0);
  QCOMPARE(grid.at({6.5, 9, 7}), 2.0);
  QCOMPARE(grid.at({1, 6, 40}), 1.0);  // beyond the edge as at the edge
  QCOMPARE(ResidualGrid{}.at({6, 6, 6}), 0.0);
}

void CalibrationTest::far_from_rows() {
  ResidualGrid grid;
  grid.knots = {std::vector<double>{1, 2, 4, 8, 16}, {1, 2, 4}, {1, 2}};
  const auto support = fit_residuals(grid, {{{0, 0, 0}, 0.3}, {{0, 0, 0}, 0.3}}, 0.05);
  QVERIFY(std::fabs(grid.at({4, 2, 1}) - 0.3) < 1e-3);
  QCOMPARE(support.front(), 2.0);
  QCOMPARE(support.back(), 0.0);
}

void CalibrationTest::disturbed_rows() {
  ResidualGrid grid;
  grid.knots = {std::vector<double>{1, 2}, {1}, {1}};
  std::vector<ResidualSample> samples(20, {{0, 0, 0}, 0.1});
  samples.push_back({{0, 0, 0}, 3});
  fit_residuals(grid, samples, 0.05);
  QVERIFY2(std::fabs(grid.at({0, 0, 0}) - 0.1) < 0.03, qPrintable(QString::number(grid.at({0, 0, 0}))));
}

void CalibrationTest::rows_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QList<int>>("counts");  // products, attention, memory, collectives
  QTest::newRow("product") << QByteArray("op,m,n,k,us\nmatmul,1,2,3,4.5\n") << QList<int>{1, 0, 0, 0};
  QTest::newRow("comments and blanks")
      << QByteArray("# a\n\n op , us , m,n,k\r\n#\r\ngemm, 4.5 ,1,2,3\r\n\r\n") << QList<int>{1, 0, 0, 0};
  QTest::newRow("all kinds") << QByteArray(
                                    "op,us,m,n,k,batch,heads,queries,head_dim,causal,bytes,ranks\n"
                                    "matmul,1,8,8,8,,,,,,,\nattention,1,,,,2,4,128,64,1,,\nmemory,1,,,,,,,,,"
                                    "1e6,\nall_gather,1,,,,,,,,,4096,8\nall_gather,2,,,,,,,,,8192,8\n")
                             << QList<int>{1, 1, 1, 2};
}

void CalibrationTest::rows() {
  QFETCH(QByteArray, text);
  QFETCH(QList<int>, counts);
  const auto read = read_measured_ops(text.toStdString(), "ops.csv");
  QVERIFY2(std::holds_alternative<MeasuredOps>(read),
           std::holds_alternative<Problem>(read) ? to_string(std::get<Problem>(read)).c_str() : "");
  const MeasuredOps& ops = std::get<MeasuredOps>(read);
  const QList<int> got{static_cast<int>(ops.matmul.size()), static_cast<int>(ops.attention.size()),
                       static_cast<int>(ops.memory.size()), static_cast<int>(ops.collectives.size())};
  QCOMPARE(got, counts);
  if (!ops.matmul.empty() && counts[1] == 0) {
    QCOMPARE(ops.matmul[0].us, 4.5);
    QCOMPARE(ops.matmul[0].shape.k, int64_t{3});
  }
  if (!ops.attention.empty()) {
    QCOMPARE(ops.attention[0].shape.kv_heads, int64_t{4});
    QCOMPARE(ops.attention[0].shape.keys, int64_t{128});
    QVERIFY(ops.attention[0].shape.causal && !ops.attention[0].shape.backward);
    QCOMPARE(ops.collectives[0].per_domain, int64_t{8});
  }
}

// Impossible rows, for example nanoseconds for microseconds, are rejected with their line.
void CalibrationTest::impossible() {
  const Accelerator& h100 = *find_accelerator("h100-sxm-80gb");
  const auto read = [](const QByteArray& us) {
    return std::get<MeasuredOps>(read_measured_ops(
        "op,m,n,k,us\nmatmul,4096,4096,4096,200\nmatmul,4096,4096,4096," + us.toStdString() + "\n",
        "ops.csv"));
  };
  QVERIFY(!impossible_row(read("190"), h100, "ops.csv"));
  const auto problem = impossible_row(read("0.2"), h100, "ops.csv");
  QVERIFY(problem && problem->code == ProblemCode::FasterThanPeak && problem->where == "ops.csv:3" &&
          problem->what.find("4,096 x 4,096 x 4,096 in 0.200 us is") == 0);
}

void CalibrationTest::row_mistakes_data() {
  QTest::addColumn<ProblemCode>("code");
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("where");
  QTest::addColumn<QString>("what");
  QTest::addColumn<QString>("accepted");
  const auto row = [](const char* name, ProblemCode code, const QByteArray& text, const char* where,
                      const char* what, const char* accepted) {
    QTest::newRow(name) << code << text << QString(where) << QString(what) << QString(accepted);
  };
  row("empty", ProblemCode::CsvColumns, "", "ops.csv:0", "no header line", "op,m,n,k,us");
  row("no rows", ProblemCode::CsvNoRows, "op,us\n", "ops.csv:1", "no rows", "at least one");
  row("unknown column", ProblemCode::CsvColumns, "op,us,x\nmatmul,1,2\n", "ops.csv:1",
      "\"x\" is not a column", "columns of op, us");
  row("column twice", ProblemCode::CsvColumns, "op,us,m,m\n", "ops.csv:1", "\"m\" occurs twice", "once");
  row("no times", ProblemCode::CsvColumns, "op,m,n,k\nmatmul,1,2,3\n", "ops.csv:1", "\"us\" is missing",
      "op and us");
  row("unknown op", ProblemCode::CsvRow, "op,us\n\nconvolution,1\n", "ops.csv:3", "op is \"convolution\"",
      "matmul, attention, memory, all_reduce");
  row("fields", ProblemCode::CsvRow, "op,us,m,n,k\nmatmul,1,2\n", "ops.csv:2", "3 fields", "5");
  row("size missing", ProblemCode::CsvRow, "op,us,m,n,k\nmatmul,1,2,,3\n", "ops.csv:2", "n is missing",
      "a whole number from 1");
  row("size without a column", ProblemCode::CsvRow, "op,us,m,n\nmatmul,1,2,3\n", "ops.csv:2", "k is missing",
      "a whole number from 1");
  row("size zero", ProblemCode::CsvRow, "op,us,m,n,k\nmatmul,1,2,0,3\n", "ops.csv:2", "n is \"0\"",
      "a whole number from 1");
  row("size no number", ProblemCode::CsvRow, "op,us,m,n,k\nmatmul,1,2,3x,3\n", "ops.csv:2", "n is \"3x\"",
      "a whole number from 1");
  row("a curve of one size", ProblemCode::CurveTooShort,
      "op,us,bytes,ranks\nall_to_all,5,1024,8\nall_to_all,6,1024,8\nall_gather,5,1024,8\nall_gather,5,2048,"
      "8\n",
      "ops.csv:3", "all_to_all of 8 ranks is measured with only one number of bytes",
      "a different number of bytes");
  row("domains that are not full", ProblemCode::CsvRow,
      "op,us,bytes,ranks,per_domain\nall_gather,5,1024,8,3\n", "ops.csv:2", "per_domain is 3",
      "a divisor of ranks, 8");
  row("time negative", ProblemCode::CsvRow, "op,us,m,n,k\nmatmul,-1,2,3,4\n", "ops.csv:2", "us is \"-1\"",
      "a number above 0");
  row("time not a number", ProblemCode::CsvRow, "op,us,m,n,k\nmatmul,nan,2,3,4\n", "ops.csv:2",
      "us is \"nan\"", "a number above 0");
  row("dtype", ProblemCode::CsvRow, "op,us,m,n,k,dtype\nmatmul,1,2,3,4,bf16\n", "ops.csv:2",
      "dtype is \"bf16\"", "bfloat16, float16");
  row("flag", ProblemCode::CsvRow, "op,us,batch,heads,queries,head_dim,causal\nattention,1,1,1,1,1,maybe\n",
      "ops.csv:2", "causal is \"maybe\"", "0 or 1");
  row("groups", ProblemCode::CsvRow, "op,us,batch,heads,kv_heads,queries,head_dim\nattention,1,1,8,3,1,1\n",
      "ops.csv:2", "kv_heads is 3", "a divisor of heads, 8");
  row("one rank", ProblemCode::CsvRow, "op,us,ranks,bytes\nall_reduce,1,1,8\n", "ops.csv:2", "ranks is \"1\"",
      "a whole number from 2");
  row("domain", ProblemCode::CsvRow, "op,us,ranks,per_domain,bytes\nall_reduce,1,4,8,8\n", "ops.csv:2",
      "per_domain is 8", "a divisor of ranks, 4");
  row("bytes", ProblemCode::CsvRow, "op,us,bytes\nmemory,1,\n", "ops.csv:2", "bytes is missing",
      "a number above 0");
}

void CalibrationTest::row_mistakes() {
  QFETCH(ProblemCode, code);
  QFETCH(QByteArray, text);
  QFETCH(QString, where);
  QFETCH(QString, what);
  QFETCH(QString, accepted);
  const auto read = read_measured_ops(text.toStdString(), "ops.csv");
  QVERIFY(std::holds_alternative<Problem>(read));
  const Problem& problem = std::get<Problem>(read);
  QVERIFY2(problem.code == code, to_string(problem).c_str());
  QCOMPARE(QString::fromStdString(problem.where), where);
  QVERIFY2(QString::fromStdString(problem.what).contains(what), problem.what.c_str());
  QVERIFY2(QString::fromStdString(problem.accepted).contains(accepted), problem.accepted.c_str());
}

// Rows of a device that follows the model but for an efficiency that falls with depth, and noise: the fit
// comes within the noise.
void CalibrationTest::recovers() {
  const Accelerator& device = *find_accelerator("tpu-v5p");
  MatmulCalibration truth = *kernels_of(device).matmul[0];
  truth.launch_us = 4;
  truth.wave = 0.5;
  std::mt19937 random(5);
  MeasuredOps ops;
  for (int i = 0; i < 600; ++i) {
    const auto size = [&](int least, int most) {
      return int64_t{1} << std::uniform_int_distribution<int>(least, most)(random);
    };
    MeasuredMatmul row{{1, size(4, 15), size(6, 15), size(6, 15)}, 0};
    const double noise = std::exp(std::normal_distribution<double>(0, 0.02)(random));
    row.us = 1.1e6 * noise * std::pow(static_cast<double>(row.shape.k), 0.03) *
             modelled_matmul_seconds(device, truth, row.shape);
    ops.matmul.push_back(row);
  }
  const CalibrationResult result = calibrate(device, ops, "made up");
  QCOMPARE(result.errors.size(), size_t{1});
  const CalibrationError& e = result.errors[0];
  QCOMPARE(e.rows, int64_t{600});
  QVERIFY(e.held_out.rows > 250 && e.held_out.rows < 350);
  QVERIFY2(e.held_out.median_percent < 3.5, qPrintable(QString::number(e.held_out.median_percent)));
  QVERIFY2(e.median_percent < 2.5, qPrintable(QString::number(e.median_percent)));
  QCOMPARE(result.calibration.accelerator, std::string("tpu-v5p"));
  QCOMPARE(result.calibration.matmul[0].source, std::string("made up"));
}

// Ten products leave constants alone and move everything by about as much.
void CalibrationTest::few_rows() {
  const Accelerator& device = *find_accelerator("tpu-v4");
  const MatmulCalibration before = *kernels_of(device).matmul[0];
  MeasuredOps ops;
  for (int64_t m = 512; ops.matmul.size() < 10; m += 512) {
    const MatmulShape shape{1, m, 4096, 4096};
    ops.matmul.push_back({shape, 1.3e6 * calibrated_matmul_seconds(device, before, shape)});
  }
  const CalibrationResult result = calibrate(device, ops, "made up");
  QCOMPARE(result.errors[0].held_out.rows, int64_t{0});
  QVERIFY(result.errors[0].median_percent < 2);
  const MatmulCalibration& after = result.calibration.matmul[0];
  QCOMPARE(after.launch_us, before.launch_us);
  const MatmulShape elsewhere{1, 1024, 28672, 8192};
  const double ratio = calibrated_matmul_seconds(device, after, elsewhere) /
                       calibrated_matmul_seconds(device, before, elsewhere);
  QVERIFY2(ratio > 1.2 && ratio < 1.4, qPrintable(QString::number(ratio)));
}

void CalibrationTest::memory_and_cache() {
  const Accelerator& device = *find_accelerator("tpu-v4");
  MeasuredOps ops;
  for (double bytes = 1e4; bytes < 1e10; bytes *= 1.3) {
    const double share = bytes < 3e7 ? 1.2 : 0.8;
    ops.memory.push_back({bytes, 3 + bytes / (device.memory_gbps * 1e9 * share) * 1e6});
  }
  const CalibrationResult result = calibrate(device, ops, "made up");
  const MemoryCalibration& memory = *result.calibration.memory;
  QVERIFY(std::fabs(memory.launch_us - 3) < 0.3);
  QVERIFY(std::fabs(memory.share - 0.8) < 0.03);
  QVERIFY2(memory.cache_mb > 15 && memory.cache_mb < 40, qPrintable(QString::number(memory.cache_mb)));
  QVERIFY(result.errors[0].median_percent < 3);
}

void CalibrationTest::curves() {
  MeasuredOps ops;
  ops.collectives = {{"all_gather", 8, 8, 2048, 6},
                     {"all_gather", 8, 8, 1024, 5},
                     {"all_gather", 8, 8, 1024, 4},
                     {"all_gather", 8, 8, 1024, 9},
                     {"all_gather", 16, 8, 1024, 7}};
  const CalibrationResult result = calibrate(*find_accelerator("h100-sxm-80gb"), ops, "made up");
  QCOMPARE(result.calibration.collectives.size(), size_t{2});
  const CollectiveCurve& curve = result.calibration.collectives[0];
  QCOMPARE(curve.bytes, (std::vector<double>{1024, 2048}));
  QCOMPARE(curve.us, (std::vector<double>{5, 6}));  // the median of what was measured more than once
  QVERIFY(result.errors.empty());
}

QTEST_GUILESS_MAIN(CalibrationTest)
#include "calibration_test.moc"
