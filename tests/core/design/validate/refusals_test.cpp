// Which combinations are refused: random ones of all knobs meet exactly the refusals that the README lists
// ("What does not combine"), beside numbers that do not fit each other.
#include <QFile>
#include <QRegularExpression>
#include <QtTest>
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "design/knobs/knob_access.h"
#include "design/validate/validate.h"
#include "support/random_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr int kDesigns = 40000;

struct Reason {
  QString text;
  QRegularExpression pattern;
  int seen = 0;
};

Reason reason(const QString& text, const QString& pattern) { return {text, QRegularExpression(pattern)}; }

// What the first column of the section's table has in backticks; … stands for anything.
std::vector<Reason> documented() {
  QFile file(SHARDSCAPE_SOURCE_DIR "/docs/limits.md");
  if (!file.open(QIODevice::ReadOnly)) return {};
  const QString section = QString::fromUtf8(file.readAll())
                              .section(QStringLiteral("## What does not combine"), 1)
                              .section(QStringLiteral("\n## "), 0, 0);
  std::vector<Reason> out;
  for (const QString& line : section.split('\n')) {
    if (!line.startsWith(QStringLiteral("| `"))) continue;
    const QStringList phrases = line.section(QStringLiteral(" | "), 0, 0).split('`');
    for (qsizetype i = 1; i < phrases.size(); i += 2)
      out.push_back(reason(
          phrases[i], QRegularExpression::escape(phrases[i])
                          .replace(QRegularExpression::escape(QStringLiteral("…")), QStringLiteral(".+"))));
  }
  return out;
}

// Degrees, schedules and experts that do not fit each other.
constexpr ProblemCode kOfDegrees[] = {ProblemCode::BatchIndivisible,
                                      ProblemCode::DualPipeMicrobatches,
                                      ProblemCode::MicrobatchesIndivisibleByPp,
                                      ProblemCode::UlyssesKvHeadsIndivisible,
                                      ProblemCode::SsmGroupsIndivisibleByCp,
                                      ProblemCode::LinearHeadsIndivisible,
                                      ProblemCode::LinearHeadsIndivisibleByTp,
                                      ProblemCode::LinearHeadsIndivisibleByCp,
                                      ProblemCode::TowerIndivisibleByTp,
                                      ProblemCode::TowerMergeFixed,
                                      ProblemCode::ImageSizeIndivisible,
                                      ProblemCode::ImagesExceedSequence,
                                      ProblemCode::ImagesIndivisible,
                                      ProblemCode::DispatchBlocksIndivisible,
                                      ProblemCode::EpUnevenOverNodes,
                                      ProblemCode::ExpertGroupsUnevenOverNodes,
                                      ProblemCode::AllToAllSeqHiddenIndivisible,
                                      ProblemCode::FlexWithZeroExperts,
                                      ProblemCode::ZeroExpertsIndivisible,
                                      ProblemCode::WeighedTokensWithSeveralExperts,
                                      ProblemCode::CheckpointsIndivisible,
                                      ProblemCode::ExpertsExceedShardGroup,
                                      ProblemCode::DpShardIndivisible,
                                      ProblemCode::DpShardOfOneRank,
                                      ProblemCode::DpShardWithoutReplicas,
                                      ProblemCode::ExpertsIndivisibleByEp,
                                      ProblemCode::EpIndivisibleRanks,
                                      ProblemCode::ExpertsUnevenOverTp,
                                      ProblemCode::ExpertTokensIndivisibleByTp,
                                      ProblemCode::EpInDenseModel,
                                      ProblemCode::ExpertsInDenseModel,
                                      ProblemCode::ExpertsMissing,
                                      ProblemCode::ExpertFfnIndivisible,
                                      ProblemCode::SharedExpertsMissing,
                                      ProblemCode::SharedExpertsIndivisibleByTp,
                                      ProblemCode::QuantizedFeaturesIndivisible,
                                      ProblemCode::QuantizedTokensIndivisible,
                                      ProblemCode::ExpertGroupsIndivisible,
                                      ProblemCode::GroupsPerTokenOutOfRange,
                                      ProblemCode::GroupsHoldTooFewExperts,
                                      ProblemCode::GroupsExceedExpertsPerToken};
// Sizes that do not fit each other; a number that is out of its range alone.
constexpr ProblemCode kOfSizes[] = {ProblemCode::ExpertsPerTokenOutOfRange,
                                    ProblemCode::KvHeadsIndivisible,
                                    ProblemCode::LayerPatternLength,
                                    ProblemCode::CarriedUnmade,
                                    ProblemCode::TooManyKvSplits,
                                    ProblemCode::LatentKvHeadsDiffer,
                                    ProblemCode::MicrobatchGroupTooSmall,
                                    ProblemCode::PaddingWithoutCapacity,
                                    ProblemCode::MoreStagesThanLayers,
                                    ProblemCode::VisionStageLayers,
                                    ProblemCode::DualPipeOddStages,
                                    ProblemCode::OddRopeHeadDim,
                                    ProblemCode::RopeHeadDimTooLarge,
                                    ProblemCode::MessageIndivisibleByTp,
                                    ProblemCode::SeqIndivisibleByCp,
                                    ProblemCode::SeqIndivisibleByTp,
                                    ProblemCode::ZigzagSeqIndivisible,
                                    ProblemCode::SeqLongerThanPositions,
                                    ProblemCode::ContextLongerThanPositions,
                                    ProblemCode::ContextIndivisible,
                                    ProblemCode::DcpIndivisible,
                                    ProblemCode::IndexDimUnscaled,
                                    ProblemCode::IndexDimRotated,
                                    ProblemCode::IndexQueriesUncompressed,
                                    ProblemCode::IndexBlockUnfit,
                                    ProblemCode::CompressRatioTooLarge,
                                    ProblemCode::CompressBlocksSplit,
                                    ProblemCode::CacheEntryUnfit,
                                    ProblemCode::OutputGroupsIndivisible,
                                    ProblemCode::OutputGroupsIndivisibleByTp,
                                    ProblemCode::DecodeTokensIndivisibleByTp,
                                    ProblemCode::SsmGroupsIndivisible,
                                    ProblemCode::SsmHeadsIndivisible,
                                    ProblemCode::StageLayersInvalid,
                                    ProblemCode::StageLayersCount,
                                    ProblemCode::StageLayersSum,
                                    ProblemCode::SsmGroupsIndivisibleByTp,
                                    ProblemCode::SsmChannelsIndivisibleByTp,
                                    ProblemCode::HeadsIndivisibleByTp,
                                    ProblemCode::KvHeadsIndivisibleByTp,
                                    ProblemCode::FfnIndivisibleByTp,
                                    ProblemCode::UlyssesDegreeNotInCp,
                                    ProblemCode::LayersIndivisibleByVirtualStages,
                                    ProblemCode::PodCutsDomain,
                                    ProblemCode::DomainCutsNodes,
                                    ProblemCode::ValueTooSmall,
                                    ProblemCode::ValueTooLarge};

std::set<ProblemCode> of_numbers() {
  std::set<ProblemCode> out(std::begin(kOfDegrees), std::end(kOfDegrees));
  out.insert(std::begin(kOfSizes), std::end(kOfSizes));
  return out;
}

// A forward and a backward at once want much together. Without draws, which designs after it would follow.
void settle_for_pairs(Design& d) {
  ParallelSpec& p = d.parallel;
  p.ep_comm_overlap = true;
  p.ep = std::max<int64_t>(p.ep, 2);
  p.schedule = ScheduleKind::OneFOneB;
  p.virtual_stages = p.pp > 1 ? std::max<int64_t>(p.virtual_stages, 2) : 1;
  p.sync = SyncStrategy::DistributedOptimizer;
}

}  // namespace

class RefusalsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void combinations_are_documented();
};

void RefusalsTest::combinations_are_documented() {
  std::vector<Reason> combinations = documented();
  const std::set<ProblemCode> numbers = of_numbers();
  QVERIFY(combinations.size() > 15);
  std::mt19937 random(5);
  std::map<QString, int> unknown;
  int refused = 0, by_numbers = 0;
  for (int i = 0; i < kDesigns; ++i) {
    Design d = random_design(random);
    // Sizes that nothing divides, now and then.
    for (size_t k = random() % 4; k > 0; --k) {
      const Knob& knob = knobs()[random() % knobs().size()];
      if (knob.type == KnobType::Integer)
        (void)set_knob(d, knob,
                       std::to_string(std::clamp<int64_t>(
                           knob_integer(d, knob) + static_cast<int64_t>(random() % 8), knob.min, knob.max)));
    }
    if (d.model.experts > 0 && (i % 8 == 0 || d.model.mtp_layers > 1)) settle_for_pairs(d);
    bool combination = false, number = false;
    for (const Problem& p : validate(d)) {
      if (p.severity != Severity::Error) continue;
      const QString text = QString::fromStdString(p.where + ": " + p.what);
      const auto combined = std::count_if(combinations.begin(), combinations.end(), [&](Reason& r) {
        return r.pattern.match(text).hasMatch() && ++r.seen > 0;
      });
      const bool numeric = numbers.contains(p.code);
      if (combined + numeric != 1) ++unknown[QString(text).replace(QRegularExpression("[0-9,]+"), "#")];
      combination = combination || combined > 0;
      number = number || numeric;
      QVERIFY2(!p.fixes.empty() || numeric, qPrintable(text));
    }
    refused += combination;
    by_numbers += number && !combination;
  }
  for (const auto& [text, count] : unknown) qWarning("%d x %s", count, qPrintable(text));
  qInfo("%d designs: %d refused as a combination, %d for numbers alone", kDesigns, refused, by_numbers);
  for (const Reason& r : combinations) {
    qInfo("%6d %s", r.seen, qPrintable(r.text));
    QVERIFY2(r.seen > 0, qPrintable(r.text));
  }
  QVERIFY(unknown.empty());
}

QTEST_APPLESS_MAIN(RefusalsTest)
#include "refusals_test.moc"
