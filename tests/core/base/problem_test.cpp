// The codes of problems: their texts, the wording of some messages, and a test for every code.
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>
#include <set>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "support/validation_rules.h"

using namespace shardscape;
using namespace shardscape::test;

static_assert(!std::is_default_constructible_v<Problem>, "there is no problem without a code");

namespace {

// Codes that no test compares.
const std::set<std::string_view> kUntested{// Failures of the program.
                                           "search-failed", "export-failed", "design-not-computed",
                                           "size-overflow",  // Data files that only a user can add.
                                           "profile-without-experts", "source-missing", "op-axes",
                                           // Printed by the command line, whose tests read the messages.
                                           "network-approximated", "unknown-command", "operand-missing",
                                           "ops-left-out", "tokens-missing", "campaign-of-inference",
                                           // A picture beyond the memory of the computer.
                                           "picture-too-large"};

// The enumerators, in the order of the enum.
const QStringList kNames{
#define PROBLEM(code, text, meaning) QStringLiteral(#code),
#include "base/problem_codes.def"
#undef PROBLEM
};

// Enumerators that tests name. Those of refusals_test.cpp are a set of which random designs meet some.
std::set<QString> compared_codes() {
  std::set<QString> found;
  const QRegularExpression word(QStringLiteral("\\b[A-Z][A-Za-z0-9]+\\b"));
  QDirIterator files(SHARDSCAPE_SOURCE_DIR "/tests", {"*_test.cpp"}, QDir::Files,
                     QDirIterator::Subdirectories);
  while (files.hasNext()) {
    QFile file(files.next());
    if (file.fileName().endsWith("/refusals_test.cpp") || !file.open(QIODevice::ReadOnly)) continue;
    const QString text = QString::fromUtf8(file.readAll());
    if (!text.contains(QStringLiteral("ProblemCode"))) continue;
    for (auto match = word.globalMatch(text); match.hasNext();) found.insert(match.next().captured());
  }
  return found;
}

// settings: "tp=8 pp=2"
void set_all(Design& design, const QString& settings) {
  Fix fix{settings.toStdString(), {}};
  for (const QString& setting : settings.split(' '))
    fix.settings.emplace_back(setting.section('=', 0, 0).toStdString(),
                              setting.section('=', 1).toStdString());
  apply(design, fix);
}

}  // namespace

class ProblemTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void texts_are_unique_and_plain() {
    const QRegularExpression plain(QStringLiteral("^[a-z0-9]+(-[a-z0-9]+)*$"));
    std::set<std::string_view> texts;
    QCOMPARE(qsizetype(problem_kinds().size()), kNames.size());
    for (size_t i = 0; i < problem_kinds().size(); ++i) {
      const ProblemKind& kind = problem_kinds()[i];
      QCOMPARE(static_cast<size_t>(kind.code), i);
      QVERIFY2(plain.match(QString::fromLatin1(kind.text.data(), qsizetype(kind.text.size()))).hasMatch(),
               qPrintable(kNames[qsizetype(i)]));
      QVERIFY2(texts.insert(kind.text).second, qPrintable(kNames[qsizetype(i)]));
      QVERIFY(!kind.meaning.empty());
      QCOMPARE(code_text(kind.code), kind.text);
    }
  }

  void every_code_is_compared() {
    const std::set<QString> compared = compared_codes();
    QStringList missing;
    size_t untested = 0;
    for (qsizetype i = 0; i < kNames.size(); ++i) {
      const bool listed = kUntested.contains(problem_kinds()[size_t(i)].text);
      untested += listed;
      if (compared.contains(kNames[i]) == listed) missing << kNames[i];
    }
    QVERIFY2(missing.isEmpty(),
             qPrintable("compared by no test, or listed needlessly: " + missing.join(", ")));
    QCOMPARE(untested, kUntested.size());
  }

  // Conditions that the tests by topic do not have.
  void designs_have_codes_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QString>("settings");
    QTest::addColumn<ProblemCode>("code");
    const auto row = [](const char* preset, const char* settings, ProblemCode code) {
      QTest::addRow("%s", std::string(code_text(code)).c_str()) << preset << settings << code;
    };
    row("mixtral-8x7b", "expert_ffn=0", ProblemCode::ExpertFfnMissing);
    row("mixtral-8x7b", "dispatcher=alltoall_seq tp=3", ProblemCode::AllToAllSeqHiddenIndivisible);
    row("mixtral-8x7b", "dp=8 ep=8 hidden=4100 dispatch_dtype=fp8", ProblemCode::DispatchBlocksIndivisible);
    row("mixtral-8x7b", "mode=decode cp=2 ep=2 microbatch=1", ProblemCode::DecodeTokensIndivisibleByEp);
    row("deepseek-moe-16b", "expert_ffn=1407 shared_experts=1 tp=2",
        ProblemCode::SharedExpertsIndivisibleByTp);
    row("deepseek-v3", "shared_experts=0", ProblemCode::SharedExpertsMissing);
    row("gpt-oss-20b", "mode=decode tp=8 dcp=2", ProblemCode::DcpWithSinks);
    row("llama3-8b", "mode=decode tp=4 dcp=3", ProblemCode::DcpIndivisible);
    row("llama3-8b", "mode=decode sequence_parallel=true microbatch=1",
        ProblemCode::DecodeTokensIndivisibleByTp);
    row("llama3-8b", "mode=decode cp=3 context_length=8192", ProblemCode::ContextIndivisible);
    row("llama3-8b", "mode=decode pp=1 microbatch=1 batch=32", ProblemCode::DecodeMicrobatchesExceedStages);
    row("gpt3-175b", "mode=decode context_length=8192", ProblemCode::ContextLongerThanPositions);
    row("llama3-8b", "schedule=dualpipe sync=ddp-buckets reduce_every_microbatch=true",
        ProblemCode::EagerReduceWithBothWays);
    row("llama3-8b", "in_network_reduction=none collective_algorithm=in-network",
        ProblemCode::CollectiveWithoutReduction);
    row("llama3-8b", "oversubscription=2 pod_size=12", ProblemCode::PodCutsDomain);
  }
  void designs_have_codes() {
    QFETCH(QString, preset);
    QFETCH(QString, settings);
    QFETCH(ProblemCode, code);
    Design design = default_design();
    QVERIFY(apply_preset(design, preset.toStdString()));
    set_all(design, settings);
    const std::vector<Problem> problems = validate(design);
    QVERIFY2(std::any_of(problems.begin(), problems.end(), [&](const Problem& p) { return p.code == code; }),
             listing(problems).c_str());
  }

  void missing_experts_come_before_shared_experts() {
    Design design = default_design();
    QVERIFY(apply_preset(design, "deepseek-v3"));
    set_all(design, "experts=0 shared_experts=0");
    std::vector<ProblemCode> codes;
    for (const Problem& p : validate(design))
      if (p.where == "experts" || p.where == "shared_experts") codes.push_back(p.code);
    QVERIFY(codes == (std::vector{ProblemCode::ExpertsMissing, ProblemCode::SharedExpertsMissing}));
  }

  void messages_say_the_numbers_data() {
    QTest::addColumn<QString>("settings");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* settings, const char* message) {
      QTest::newRow(settings) << settings << message;
    };
    row("heads=36 kv_heads=4 ffn=14336 hidden=4096 tp=8",
        "tp: 36 heads do not split over tp = 8; accepted: a divisor of 36: 1, 2, 3, 4, 6, 9, 12, 18 or 36");
    row("ffn=14337", "tp: an FFN size of 14,337 does not split over tp = 2; accepted: a divisor of 14,337");
    row("stage_layers=16,15",
        "stage_layers: the listed stages hold 31 layers, but the model has 32; accepted: 2 numbers that add "
        "up to 32, each at least 1 (first and last at least 0), or nothing for an even split");
    row("batch=31",
        "batch: a batch of 31 is not a multiple of microbatch x dp = 1 x 2; accepted: a multiple of 2");
    row("dp=131072 batch=131072",
        "dp: tp x pp x dp = 2 x 2 x 131,072 gives 524,288 ranks; accepted: a product of at most 131,072");
    row("kv_rank=512",
        "kv_rank: the llama architecture has no latent attention; the value has no effect; accepted: 0");
  }
  void messages_say_the_numbers() {
    QFETCH(QString, settings);
    QFETCH(QString, message);
    Design design = default_design();
    set_all(design, settings);
    const std::vector<Problem> problems = validate(design);
    const auto says = [&](const Problem& p) {
      return QString::fromStdString(to_string(p)).startsWith(message);
    };
    QVERIFY2(std::any_of(problems.begin(), problems.end(), says), listing(problems).c_str());
  }
};

QTEST_APPLESS_MAIN(ProblemTest)
#include "problem_test.moc"
