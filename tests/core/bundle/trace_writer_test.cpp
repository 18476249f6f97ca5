// The problem that an export reports does not depend on which of several threads was first.
#include "bundle/trace_writer.h"

#include <QTest>
#include <atomic>
#include <set>
#include <thread>

#include "chakra/image.h"
#include "chakra/lower.h"
#include "model/parallel_loop.h"

using namespace shardscape;

namespace {

constexpr size_t kClasses = 4, kRanks = 40;

// Lets other threads have a problem before this one, if there are others.
void let_others_pass(const std::atomic<int>& problems) {
  for (int i = 0; i < 20'000 && problems == 0; ++i) std::this_thread::yield();
}

class OneByte : public TraceSource::Encoder {
 public:
  TraceImage image(const SlotTexts& texts, const std::stop_token&) const override { return {"x", texts, {}}; }
};

// Classes of ranks with files of one byte. Some classes cannot be lowered.
class SmallSource : public TraceSource {
 public:
  explicit SmallSource(std::set<size_t> refused) : refused_(std::move(refused)) {}
  std::vector<FileClass> classes() const override {
    std::vector<FileClass> out(kClasses);
    for (size_t c = 0; c < kClasses; ++c) {
      out[c].index = c;
      for (size_t k = 0; k < kRanks; ++k) out[c].ranks.push_back(static_cast<int64_t>(c * kRanks + k));
    }
    return out;
  }
  SlotTexts texts(const FileClass&, size_t) const override { return {}; }
  std::unique_ptr<Encoder> encoder(FileClass& of, const std::stop_token&) const override {
    if (!refused_.contains(of.index)) return std::make_unique<OneByte>();
    if (of.index == *refused_.begin()) let_others_pass(problems_);
    ++problems_;
    throw LoweringError("class " + std::to_string(of.index));
  }

 private:
  const std::set<size_t> refused_;
  mutable std::atomic<int> problems_{0};
};

// Some files cannot be written.
class SomeFail : public ByteSink {
 public:
  explicit SomeFail(std::set<std::string> failing) : failing_(std::move(failing)) {}
  std::optional<Problem> write(const std::string& name, std::string_view) override {
    ++written_;
    if (!failing_.contains(name)) return std::nullopt;
    if (name == *failing_.begin()) let_others_pass(problems_);
    ++problems_;
    return Problem(ProblemCode::DiskFull, name, "", "");
  }
  int written() const { return written_; }

 private:
  const std::set<std::string> failing_;
  std::atomic<int> problems_{0}, written_{0};
};

}  // namespace

class TraceWriterTest : public QObject {
  Q_OBJECT

 private slots:
  void everythingIsWritten() {
    const SmallSource source({});
    SomeFail sink({});
    const auto totals = write_traces(source, {}, sink, {}, {});
    QVERIFY(std::holds_alternative<TraceTotals>(totals));
    QCOMPARE(std::get<TraceTotals>(totals).ranks, static_cast<int64_t>(kClasses * kRanks));
    QCOMPARE(sink.written(), static_cast<int>(kClasses * kRanks));
  }

  // Of files that cannot be written, and of classes that cannot be lowered.
  void theFirstProblemIsReported_data() {
    QTest::addColumn<QStringList>("files");
    QTest::addColumn<QList<int>>("classes");
    QTest::addColumn<QString>("reported");
    QTest::newRow("ranks of one class")
        << QStringList{"trace.10.et", "trace.39.et"} << QList<int>{} << "trace.10.et";
    QTest::newRow("ranks of several classes")
        << QStringList{"trace.111.et", "trace.120.et", "trace.159.et"} << QList<int>{} << "trace.111.et";
    QTest::newRow("a class") << QStringList{} << QList<int>{2} << "class 2";
    QTest::newRow("several classes") << QStringList{} << QList<int>{1, 2, 3} << "class 1";
    QTest::newRow("all classes") << QStringList{} << QList<int>{0, 1, 2, 3} << "class 0";
  }
  void theFirstProblemIsReported() {
    QFETCH(QStringList, files);
    QFETCH(QList<int>, classes);
    QFETCH(QString, reported);
    std::set<std::string> failing;
    for (const QString& file : files) failing.insert(file.toStdString());
    const std::set<size_t> refused(classes.begin(), classes.end());
    for (const int threads : {1, 4})
      for (int run = 0; run < 20; ++run) {
        const SmallSource source(refused);
        SomeFail sink(failing);
        QString found;
        with_loop_threads(threads, [&] {
          const auto made = write_traces(source, {}, sink, {}, {});
          if (const auto* problem = std::get_if<Problem>(&made))
            found = QString::fromStdString(refused.empty() ? problem->where : problem->what);
        });
        QCOMPARE(found, reported);
      }
  }
};

QTEST_GUILESS_MAIN(TraceWriterTest)
#include "trace_writer_test.moc"
