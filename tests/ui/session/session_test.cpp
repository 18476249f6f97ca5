#include <QSignalSpy>
#include <QTest>

#include "campaign/campaign.h"
#include "design/knobs/knobs.h"
#include "memory/estimate.h"
#include "memory/memory_timeline.h"
#include "offscreen.h"
#include "plan/rank_mesh.h"
#include "report/campaign_report.h"
#include "serving/inference.h"
#include "support/longest_run.h"
#include "ui/inspector/design_summary.h"
#include "ui/selection/selection_state.h"
#include "ui/session/memory_problem.h"
#include "ui/session/session.h"
#include "ui/session/staleness.h"
#include "ui/shell/settings.h"
#include "ui/toolkit/substituted_formula.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

Expr parsed(const char* text) { return std::get<Expr>(Expr::parse(text)); }

}  // namespace

class SessionTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void opensComputed() {
    Session session;
    session.waitForReport();
    QVERIFY(session.current());
    QVERIFY(!session.computing());
    QVERIFY(session.report()->valid());
    QCOMPARE(session.report()->ranks, 8);
    QVERIFY(session.report()->design == default_design());
  }

  void editRecomputesInTheBackground() {
    Session session;
    session.waitForReport();
    const auto before = session.report();
    QVERIFY(!session.setKnob("seq", "4,096"));
    QVERIFY(session.computing());
    QVERIFY(!session.current());
    QCOMPARE(session.report(), before);  // the last result stays until the new one is ready
    QTRY_VERIFY(session.current());
    QCOMPARE(session.report()->design.workload.seq, 4096);
  }

  void staleResultsAreDropped() {
    Session session;
    session.waitForReport();
    QVector<qint64> seen;
    connect(&session, &Session::reportChanged, &session, [&] {
      if (session.current()) seen << session.report()->design.workload.seq;
    });
    for (int i = 1; i <= 20; ++i) session.setKnob("seq", QString::number(1024 * i));
    QTRY_VERIFY(session.current());
    QTest::qWait(50);
    QCOMPARE(seen, QVector<qint64>{20480});
  }

  void refusedTextChangesNothing() {
    Session session;
    const Design before = session.design();
    for (const char* text : {"0", "-3", "eight", "", "99999999999999999999"}) {
      const auto problem = session.setKnob("tp", text);
      QVERIFY2(problem.has_value(), text);
      QVERIFY(!problem->accepted.empty());
    }
    QVERIFY(session.setKnob("no_such_knob", "1").has_value());
    QVERIFY(session.design() == before);
    QVERIFY(session.undoStack()->isClean());
  }

  void wrongDesignKeepsTheLastReport() {
    Session session;
    session.waitForReport();
    const auto good = session.report();
    QVERIFY(!session.setKnob("tp", "5"));
    session.waitForReport();
    QVERIFY(!session.current());
    QVERIFY(!session.computing());
    QVERIFY(has_errors(session.problems()));
    QCOMPARE(session.report(), good);
    const auto& problems = session.problems();
    const auto found = std::find_if(problems.begin(), problems.end(),
                                    [](const Problem& p) { return !p.fixes.empty(); });
    QVERIFY(found != problems.end());
    const Fix fix = found->fixes.front();
    session.applyFix(fix);
    session.waitForReport();
    QVERIFY(session.current());
  }

  // A valid edit, followed by an invalid one before the step of the first was simulated. Report and estimate
  // both belong to the valid design.
  void afterAnErrorReportAndEstimateAreOfOneDesign() {
    Session session;
    session.waitForEstimate();
    const auto first = session.estimate();
    QVERIFY(!session.setKnob("pp", "4"));
    session.waitForReport();
    QVERIFY(!session.setKnob("ep", "7"));
    session.waitForReport();
    QVERIFY(!session.current());
    QCOMPARE(static_cast<int>(session.report()->stages.size()), 4);
    QTRY_VERIFY(session.estimate()->report == session.report());
    QVERIFY(session.estimate() != first);
    QVERIFY(!session.estimated());  // the estimate does not belong to the present design
  }

  void stalenessIsSeenOnlyWhenItLasts() {
    Session session;
    session.waitForEstimate();
    Staleness of_report(&session, Staleness::Of::Report, nullptr);
    QSignalSpy changes(&of_report, &Staleness::changed);
    session.setKnob("seq", "4,096");
    QVERIFY(!of_report.stale());
    session.waitForEstimate();
    QCOMPARE(changes.size(), 0);
    session.setKnob("tp", "5");
    session.waitForReport();
    QVERIFY(of_report.stale());  // no newer result will come
    session.setKnob("tp", "2");
    session.waitForReport();
    QVERIFY(!of_report.stale());
    QCOMPARE(changes.size(), 2);
  }

  void quickEditsOfOneKnobAreOneStep() {
    Session session;
    for (const char* text : {"4", "40", "409", "4096"}) session.setKnob("seq", text);
    QCOMPARE(session.undoStack()->count(), 1);
    session.setKnob("batch", "64");
    QCOMPARE(session.undoStack()->count(), 2);
    session.endEdit();
    session.setKnob("batch", "128");
    QCOMPARE(session.undoStack()->count(), 3);
    session.undoStack()->undo();
    QCOMPARE(session.design().workload.batch, 64);
    session.undoStack()->undo();
    session.undoStack()->undo();
    QVERIFY(session.design() == default_design());
    session.undoStack()->redo();
    QCOMPARE(session.design().workload.seq, 4096);
  }

  void anEditAndItsReversalAreNoStep() {
    Session session;
    const QString seq = QString::number(session.design().workload.seq);
    session.setKnob("seq", "1024");
    session.setKnob("seq", seq);
    QCOMPARE(session.undoStack()->count(), 0);
    QVERIFY(session.undoStack()->isClean());
  }

  void presetIsOneStep() {
    Session session;
    session.applyPreset("llama3-70b");
    QCOMPARE(session.design().model.layers, 80);
    QCOMPARE(session.design().parallel.tp, default_design().parallel.tp);
    QCOMPARE(session.undoStack()->count(), 1);
    session.undoStack()->undo();
    QVERIFY(session.design() == default_design());
    session.applyPreset("no-such-model");
    QCOMPARE(session.undoStack()->count(), 0 + 1);
  }

  // The summary of the inspector has the name of a model that is no preset, and the training run.
  void theSummaryHasNameAndRun() {
    Session session;
    Design design = session.design();
    design.model.preset.clear();
    design.name = "my model";
    session.setDesign(design, "import");
    session.waitForEstimate();
    QCOMPARE(designSummary(session).title, QString("my model"));
    QVERIFY(designSummary(session).figures.isEmpty());
    session.setKnob("tokens", "1000000000000");
    session.waitForEstimate();
    const auto figures = designSummary(session).figures;
    const auto value_of = [&](const QString& name) {
      const auto it = std::find_if(figures.begin(), figures.end(),
                                   [&](const auto& f) { return f.first == name; });
      return it == figures.end() ? QString() : it->second;
    };
    const Campaign run = campaign(*session.report(), *session.estimate()->simulation);
    QCOMPARE(value_of("Time"), QString::fromStdString(band_text(run.days, "days")));
    QVERIFY2(value_of("Dollars").startsWith('$'), qPrintable(value_of("Dollars")));
    QVERIFY2(value_of("Energy").contains("MWh"), qPrintable(value_of("Energy")));
  }

  // A published layout replaces the parallelism and the workload: the result does not depend on the design
  // before. The message says so.
  void publishedLayoutsStartAnew() {
    Session session, other;
    QSignalSpy adapted(&session, &Session::adapted);
    session.applyPreset("llama3.1-405b", true);
    QCOMPARE(adapted.size(), 1);
    QVERIFY2(adapted[0][2].toString().startsWith("4,608 H100, tp "), qPrintable(adapted[0][2].toString()));
    for (const auto& [id, text] : {std::pair{"tp_comm_overlap", "true"}, {"recompute", "full"}, {"cp", "2"}})
      other.setKnob(id, text);
    other.applyPreset("qwen3-235b-a22b", true);
    other.applyPreset("llama3.1-405b", true);
    QCOMPARE(other.design(), session.design());
    // A server keeps its layout: what is published is for training.
    Session server;
    server.setDesign(serving_design(server.design(), Mode::Decode, 16, 4096), "serve");
    const ParallelSpec before = server.design().parallel;
    server.applyPreset("llama3-70b", true);
    QCOMPARE(server.design().parallel.tp, before.tp);
    QCOMPARE(server.design().workload.mode, Mode::Decode);
  }

  void anotherModelTakesWhatFits() {
    Session session;
    QSignalSpy adapted(&session, &Session::adapted);
    session.applyPreset("deepseek-v3");
    QCOMPARE(adapted.size(), 0);
    for (const auto& [id, text] :
         {std::pair{"tp", "2"}, {"pp", "4"}, {"dp", "64"}, {"ep", "64"}, {"batch", "4096"}})
      QVERIFY(!session.setKnob(id, text));
    session.waitForReport();
    QVERIFY(session.current());
    const int steps = session.undoStack()->count();
    session.applyPreset("mixtral-8x7b");
    session.waitForReport();
    QVERIFY(session.current());
    QCOMPARE(session.undoStack()->count(), steps + 1);
    QCOMPARE(session.design().parallel.ep, 8);
    QCOMPARE(session.design().parallel.dp, 64);
    QCOMPARE(adapted.size(), 1);
    QCOMPARE(adapted[0][0].toString(), QString("Mixtral 8x7B"));
    QVERIFY2(adapted[0][1].toStringList().contains(QString("Expert parallel (ep) 64 → 8")),
             qPrintable(adapted[0][1].toStringList().join(' ')));
    // A model that was tried in between leaves no values behind.
    session.applyPreset("llama3-8b");
    QCOMPARE(session.design().parallel.ep, 1);
    session.applyPreset("deepseek-v3");
    QCOMPARE(session.design().parallel.ep, 64);
    session.applyPreset("llama3-8b");
    session.setKnob("seq", "2048");
    session.applyPreset("deepseek-v3");  // after an edit, values from before the trial are not restored
    QCOMPARE(session.design().parallel.ep, 1);
    QCOMPARE(session.design().workload.seq, 2048);
    session.undoStack()->undo();
    QCOMPARE(session.design().model.preset, std::string("llama3-8b"));
  }

  void verdictAndProblemsAgree() {
    Session session;
    session.waitForEstimate();
    QVERIFY(session.report()->memory->fits);
    QVERIFY(session.allProblems().empty());
    session.setKnob("microbatch", "4");
    session.setKnob("seq", "16384");
    session.waitForEstimate();
    QVERIFY(!session.report()->memory->fits);
    QCOMPARE(session.allProblems().size(), size_t{1});
    QVERIFY(session.allProblems()[0].code == ProblemCode::MemoryExceeded);
    QVERIFY(session.problems().empty());  // the design is valid
    QTRY_VERIFY_WITH_TIMEOUT(!session.allProblems()[0].fixes.empty(), test::kLongestRun);
    const Problem problem = session.allProblems()[0];
    QVERIFY2(problem.what.find("does not fit: stage 0 needs ") == 0, problem.what.c_str());
    QCOMPARE(problem.accepted, std::string("at most 80 GiB"));
    session.applyFix(problem.fixes.front());
    session.waitForReport();
    QVERIFY(session.report()->memory->fits);
    QVERIFY(session.allProblems().empty());
    session.setKnob("tp", "5");
    session.waitForReport();
    for (const Problem& left : session.allProblems())
      QVERIFY(!isMemoryProblem(left));  // only valid designs have memory problems
  }

  // A design whose tensors fit, but whose native allocator segments do not. The note appears after the
  // estimate, and goes when the cause is removed.
  void fragmentationIsANote() {
    Session session;
    for (const auto& [knob, value] : {std::pair{"tp", "2"},
                                      {"pp", "1"},
                                      {"dp", "4"},
                                      {"batch", "32"},
                                      {"microbatch", "1"},
                                      {"seq", "8192"},
                                      {"sequence_parallel", "false"},
                                      {"sync", "fsdp2"},
                                      {"memory_capacity", "54"}})
      QVERIFY(!session.setKnob(knob, value));
    session.waitForEstimate();
    QVERIFY(session.report()->memory->fits);
    QTRY_COMPARE_WITH_TIMEOUT(session.allProblems().size(), size_t{1}, test::kLongestRun);
    const Problem note = session.allProblems()[0];
    QVERIFY(note.code == ProblemCode::MemoryMayNotFit && note.severity == Severity::Note);
    QVERIFY(!isMemoryProblem(note) && isOfMemory(note));
    QVERIFY(note.what.find("expandable_segments:True") != std::string::npos && session.segmentsNote());
    QVERIFY(!session.setKnob("memory_capacity", "80"));
    session.waitForEstimate();
    QVERIFY(session.allProblems().empty() && !session.segmentsNote());
  }

  // The fix sets the pass times of the schedule to the times of the simulated step.
  void passTimesAreANote() {
    Session session;
    for (const auto& [knob, value] :
         {std::pair{"pp", "4"}, {"batch", "64"}, {"microbatch", "1"}, {"schedule", "zb-auto"}})
      QVERIFY(!session.setKnob(knob, value));
    session.waitForEstimate();
    const auto notes = [&] {
      std::vector<Problem> all = session.allProblems();
      std::erase_if(all, [](const Problem& p) { return p.where != "pass_times"; });
      return all;
    };
    QCOMPARE(notes().size(), size_t{1});
    const double before = session.estimate()->simulation->step_seconds;
    session.applyFix(notes().front().fixes.front());
    session.waitForEstimate();
    QVERIFY(session.design().parallel.passes.times.size() == 4 && notes().empty());
    QVERIFY(session.estimate()->simulation->step_seconds <= before * (1 + 1e-9));
    session.setKnob("schedule", "1f1b");
    session.waitForEstimate();
    QVERIFY(notes().empty());
  }

  void stageAndRankFollowEachOther() {
    Session session;
    SelectionState state(&session);
    session.waitForReport();
    QSignalSpy changed(&state, &SelectionState::stageChanged);
    state.setStage(1);
    QCOMPARE(stage_of_rank(*session.report(), state.rank()), 1);
    state.setRank(0);
    QCOMPARE(state.stage(), 0);
    QCOMPARE(changed.count(), 2);
    state.setRank(99999);
    state.setStage(7);
    QCOMPARE(changed.count(), 2);
    state.setStage(1);
    session.setKnob("pp", "1");
    session.waitForReport();
    QCOMPARE(state.stage(), 0);
    QVERIFY(state.rank() < session.report()->ranks);
  }

  // Views mark a remapped selection, so they must show the report that it was remapped to.
  void aRemappedSelectionIsAnnouncedAfterTheReport() {
    Session session;
    SelectionState state(&session);
    session.waitForReport();
    Selection activations;
    activations.kind = SelectionKind::Memory;
    activations.stage = 1;
    activations.memory = MemoryCategory::Activations;
    state.selectInAllViews(activations, nullptr);
    QCOMPARE(state.stage(), 1);
    session.setKnob("pp", "1");
    QStringList order;
    connect(&state, &SelectionState::stageChanged, this, [&] { order << "stage"; });
    connect(&session, &Session::reportChanged, this, [&] { order << "report"; });
    connect(&state, &SelectionState::selectionChanged, this, [&](const QObject* by) {
      order << "selection";
      QCOMPARE(by, &state);
      QCOMPARE(state.resolvedSelection().report(), session.report().get());
    });
    session.waitForReport();
    QCOMPARE(order, QStringList({"stage", "report", "selection"}));
    QCOMPARE(state.selection().stage, 0);
    order.clear();
    session.reset(session.design());
    QCOMPARE(state.selection(), Selection{});
    QCOMPARE(order, QStringList({"selection", "report"}));
  }

  void substitutedText_data() {
    QTest::addColumn<QString>("formula");
    QTest::addColumn<QString>("expected");
    QTest::newRow("product") << "8*b*S*D"
                             << "8·1·8,192·4,096";
    QTest::newRow("fraction") << "2*b*S*D/(cp*tp)"
                              << "2·1·8,192·4,096/(1·2)";
    QTest::newRow("one below") << "S/tp"
                               << "8,192/2";
    QTest::newRow("power") << "S^2*D - 3"
                           << "8,192²·4,096 - 3";
    QTest::newRow("inverse") << "1/tp"
                             << "1/2";
    QTest::newRow("zero") << "0"
                          << "0";
    QTest::newRow("constant") << "12"
                              << "12";
    QTest::newRow("unknown symbol") << "2*unheard_of"
                                    << "2·unheard_of";
  }
  void substitutedText() {
    QFETCH(QString, formula);
    QFETCH(QString, expected);
    Binding binding;
    for (const auto& [name, value] : {std::pair{"b", 1}, {"S", 8192}, {"D", 4096}, {"tp", 2}, {"cp", 1}}) {
      binding.set(Symbol::intern(name), value);
    }
    QCOMPARE(substituted(parsed(qPrintable(formula)), binding), expected);
  }

  void summaryIsNeverEmpty() {
    Session session;
    session.waitForReport();
    const Inspection summary = designSummary(session);
    QVERIFY(!summary.isEmpty());
    QVERIFY(!summary.values.isEmpty());
    QVERIFY(!summary.rows.isEmpty());
    QVERIFY(!summary.why.isEmpty());
    for (const InspectedValue& value : summary.values) {
      QVERIFY(!value.formula.isEmpty());
      QVERIFY(!value.substituted.isEmpty());
      QVERIFY(!value.value.isEmpty());
    }
  }

  void settingsComeBack() {
    QCOMPARE(settings::themeChoice(), ThemeChoice::System);
    for (const ThemeChoice choice : {ThemeChoice::Dark, ThemeChoice::Light, ThemeChoice::System}) {
      settings::setThemeChoice(choice);
      QCOMPARE(settings::themeChoice(), choice);
    }
    settings::setUnits(UnitSystem::Decimal);
    QCOMPARE(settings::units(), UnitSystem::Decimal);
    settings::setFormVisible(false);
    settings::forgetLayout();
    QVERIFY(settings::formVisible());
    settings::setExportFolder("/no/such/folder");
    QCOMPARE(settings::exportFolder(), QDir::homePath());
  }
};

QTEST_MAIN(SessionTest)
#include "session_test.moc"
