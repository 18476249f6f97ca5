// Which combinations are refused: random ones of all knobs meet exactly the refusals that the README lists
// ("What does not combine"), beside numbers that do not fit each other.
#include <QFile>
#include <QRegularExpression>
#include <QtTest>
#include <algorithm>
#include <map>
#include <random>

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

// Sizes, degrees and counts; a number that is out of its range alone.
std::vector<Reason> of_numbers() {
  std::vector<Reason> out;
  for (const char* text : {
           "^(batch|microbatch|dp): .*(does not split into|is less than one microbatch)",
           "^batch: DualPipeV? wants",
           "^batch: interleaved stages take microbatches in groups",
           "^cp: Ulysses cannot spread",
           "^cp: a tensor-parallel rank has .* cannot share out evenly",
           "^dispatch_dtype: tokens of .* do not split into blocks",
           "^dispatcher: .* lie unevenly over",
           "^dispatcher: this all-to-all cannot split a hidden size",
           "^distribute_saved_activations: checkpoints of .* do not split",
           "^dp_shard: .* copies of the states do not divide",
           "^dp_shard: .* replicas do not split into groups",
           "^dp_shard: groups of one replica shard nothing",
           "^dp_shard: there are no replicas to shard over",
           "^ep: .* experts do not split over",
           "^ep: .* cannot be taken evenly out of",
           "^(ep|experts): .*(no (experts|layer with experts)|there are none)",
           "^e?tp: an expert FFN size of .* does not split",
           "^(hidden|ffn|expert_ffn|heads|head_dim|rope_head_dim|nope_head_dim|q_rank|kv_rank|ssm_dt_rank|"
           "ssm_expand|seq): \\w+ wants .* in multiples of",
           "^expert_groups: .* do not split into",
           "^groups_per_token: (a token cannot pick|picking from|a token that picks)",
           "^experts_per_token: .* cannot be picked",
           "^kv_heads: .* query heads cannot share",
           "^kv_heads: latent attention makes keys and values for all",
           "^microbatch_group: groups of .* do not fill the pipeline",
           "^pad_to_capacity: there is no capacity",
           "^pp: .* stages are more than",
           "^pp: DualPipe mirrors",
           "^rope_head_dim: a rotation turns pairs",
           "^scatter_gather_pipeline: a message of",
           "^seq: (context parallelism|sequence parallelism|a zigzag ring) cannot",
           "^(seq|context_length): a (sequence|context) of .* is longer than the table",
           "^context_length: a context of .* does not split over cp",
           "^dcp: .* do not split (into|over)",
           "^sequence_parallel: sequence parallelism splits the new tokens of a microbatch",
           "^ssm_groups: .* cannot form",
           "^ssm_head_dim: .* do not split into heads",
           "^stage_layers:",
           "^tp: .* groups? of a Mamba-2 mixer cannot be split",
           "^tp: .* do(es)? not split over tp",
           "^tp: .* KV heads cannot be copied evenly",
           "^ulysses_degree: .* KV heads do not spread",
           "^ulysses_degree: .* ranks do not divide cp",
           "^virtual_stages: .* layers.* do not split evenly",
           "^pod_size|^scaleup_domain: ",
           "^\\w+: [0-9,.-]+ is too (small|large)",
       })
    out.push_back(reason(text, QLatin1String(text)));
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
  std::vector<Reason> combinations = documented(), numbers = of_numbers();
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
      const auto meets = [&](std::vector<Reason>& reasons) {
        return std::count_if(reasons.begin(), reasons.end(),
                             [&](Reason& r) { return r.pattern.match(text).hasMatch() && ++r.seen > 0; });
      };
      const auto combined = meets(combinations), numeric = meets(numbers);
      if (combined + numeric != 1) ++unknown[QString(text).replace(QRegularExpression("[0-9,]+"), "#")];
      combination = combination || combined > 0;
      number = number || numeric > 0;
      QVERIFY2(!p.fixes.empty() || numeric > 0, qPrintable(text));
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
