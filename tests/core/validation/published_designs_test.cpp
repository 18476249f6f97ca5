// Published training designs that ran must fit: Llama 3.1 405B (arXiv 2407.21783, table 4) and DeepSeek-V3
// (arXiv 2412.19437, section 3).
#include <QtTest>

#include "memory/estimate.h"
#include "validation/validation.h"

using namespace shardscape;

namespace {

Design published(const char* set) {
  auto result = read_measured_set(std::string(SHARDSCAPE_TEST_DATA "/measured/") + set + ".json");
  if (auto* problem = std::get_if<Problem>(&result)) qFatal("%s", to_string(*problem).c_str());
  return std::get<MeasuredSet>(result).rows.at(0).design;
}

// Llama 3.1 405B on 16,384 GPUs.
Design llama(int64_t cp) {
  Design d = published("llama3");
  d.parallel.cp = cp;
  d.parallel.dp = 128 / cp;
  d.workload.seq = 8192 * cp;
  d.workload.batch = d.parallel.dp * 16;
  return d;
}

}  // namespace

class PublishedDesignsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theyFit_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("Llama 3.1 405B, cp 1") << "cp 1";
    QTest::newRow("Llama 3.1 405B, cp 16") << "cp 16";
    QTest::newRow("DeepSeek-V3") << "deepseek";
  }
  void theyFit() {
    QFETCH(QString, name);
    const bool deepseek = name == "deepseek";
    Design d = deepseek ? published("deepseek_v3") : llama(name == "cp 1" ? 1 : 16);
    const auto fits = [](const Design& design) {
      const auto report = estimate(design);
      if (!report->valid()) qFatal("the design is not valid");
      return report->memory->fits;
    };
    QVERIFY(fits(d));
    // Without the mechanisms, they do not.
    if (deepseek)
      d.workload.activation_cache = ActivationCache::Same;
    else
      d.parallel.reduce_every_microbatch = false;
    QVERIFY(!fits(d));
  }
};

QTEST_APPLESS_MAIN(PublishedDesignsTest)
#include "published_designs_test.moc"
