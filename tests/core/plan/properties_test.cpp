// Properties of every design, checked on thousands of random designs.
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <map>
#include <set>

#include "bundle/bundle.h"
#include "bundle/checker.h"
#include "design/knobs/command_flags.h"
#include "design/knobs/knobs.h"
#include "model/library.h"
#include "plan/report.h"
#include "support/design_examination.h"
#include "support/random_designs.h"
#include "support/test_share.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

const int kDraws = cases(3000);
const int kBundles = cases(60);
constexpr int64_t kMaxBundleWorld = 16;

}  // namespace

class PropertiesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    std::mt19937 random(20240613);
    failures_.resize(kPropertyCount);
    for (int i = 0; i < kDraws; ++i) {
      const auto design = repaired(random_design(random), random);
      if (!design) continue;
      if (!examine(*design, failures_)) continue;
      ++valid_;
      architectures_.insert(design->model.architecture);
      for (const Knob& knob : knobs()) values_[knob.id].insert(knob_text(*design, knob));
      if (design->world() > 1 && design->world() <= kMaxBundleWorld && std::ssize(bundles_) < kBundles) {
        bundles_.push_back(*design);
        bundles_.back().cluster.accelerator = ClusterSpec().accelerator;  // other accelerators may have no
                                                                          // published link
      }
    }
    qInfo("%d valid designs of %d draws, %zu architectures", valid_, kDraws, architectures_.size());
  }

  // Otherwise the properties would be tested on few cases.
  void draws_cover_everything() {
    if (test_share() > 1) QSKIP("only a part of the designs is drawn");
    QVERIFY(valid_ > kDraws / 3);
    std::set<std::string> wanted;
    for (const Preset& preset : ModelLibrary::instance().presets()) wanted.insert(preset.model.architecture);
    QVERIFY(architectures_ == wanted);
    QStringList missing;
    for (const Knob& knob : knobs()) {
      if (knob.type == KnobType::Choice)
        for (const KnobChoice& choice : knob.choices)
          if (!values_[knob.id].contains(choice.value))
            missing << QString::fromStdString(knob.id + " " + choice.value);
      if (knob.type == KnobType::Boolean && values_[knob.id].size() < 2)
        missing << QString::fromStdString(knob.id);
    }
    QVERIFY2(missing.isEmpty(), qPrintable(missing.join(", ")));
    QCOMPARE(std::ssize(bundles_), kBundles);
  }

  void shards_add_up_to_the_model() { holds(Parameters); }
  void all_ranks_together_do_the_work_of_one() { holds(OpFlops); }
  void reports_count_every_op() { holds(StageFlops); }
  void what_is_sent_is_received() { holds(Transfers); }
  void groups_agree() { holds(Groups); }
  void gradients_reach_their_parameters() { holds(Gradients); }

  void bundles_are_good() {
    QTemporaryDir folder;
    int n = 0;
    for (const Design& design : bundles_) {
      const auto target = std::filesystem::path(folder.path().toStdString()) / std::to_string(n++);
      const auto result = export_bundle(*make_report(design), {.target = target});
      const auto* problem = std::get_if<Problem>(&result);
      QVERIFY2(!problem, problem ? (to_string(*problem) + "\n" + command_line(design)).c_str() : "");
      const CheckReport check = check_bundle(target);
      // The models are so small that ops may be too short for the clock of the simulator. This finding is
      // allowed.
      const bool good = check.finished &&
                        std::all_of(check.findings.begin(), check.findings.end(),
                                    [](const Finding& f) { return f.code == "ROOT_TOO_SHORT"; });
      QVERIFY2(good, (command_line(design) + "\n" + check_text(check)).c_str());
      std::filesystem::remove_all(target);
    }
  }

 private:
  // One design of each sort of failure.
  void holds(Property property) {
    const QStringList& failures = failures_[property];
    std::map<QString, QString> sorts;
    for (const QString& failure : failures)
      sorts.try_emplace(failure.section(':', 0, 0).section('\n', 0, 0), failure);
    for (const auto& [sort, failure] : sorts) qWarning("%s", qPrintable(failure));
    QVERIFY2(failures.isEmpty(),
             qPrintable(QString("%1 designs, one of each sort above").arg(failures.size())));
  }

  std::vector<QStringList> failures_;
  int valid_ = 0;
  std::set<std::string> architectures_;
  std::map<std::string, std::set<std::string>> values_;
  std::vector<Design> bundles_;
};

QTEST_GUILESS_MAIN(PropertiesTest)
#include "properties_test.moc"
