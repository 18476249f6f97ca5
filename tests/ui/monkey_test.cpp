// Someone who tries everything: knobs, pinned designs, views, and selections from every source, in an order that only the seed knows.
// After each of these the window is drawn, and what it marks is of the step, the designs and the tables that there are.
#include <QAbstractButton>
#include <QPushButton>
#include <QTest>
#include <random>

#include "offscreen.h"
#include "ui/explore/explore_view.h"  // before the graph's search, whose results have the same name
#include "picks_window.h"
#include "ui/charts/mesh_canvas.h"
#include "ui/explore/compare_page.h"
#include "ui/explore/grouped_bars.h"
#include "ui/explore/scaling_chart.h"
#include "ui/explore/scatter_canvas.h"
#include "ui/explore/serving_canvas.h"
#include "ui/explore/tornado.h"
#include "ui/state/comparisons.h"
#include "ui/theme/theme.h"
#include "ui/widgets/search_field.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

constexpr int kSteps = 160;  // of each seed: some seconds; SHARDSCAPE_MONKEY_STEPS says otherwise
const std::initializer_list<std::pair<const char*, std::vector<const char*>>> kEdits = {
    {"tp", {"1", "2", "4"}}, {"pp", {"1", "2", "3", "4"}}, {"dp", {"1", "2", "4"}}, {"cp", {"1", "2"}}, {"ep", {"1", "2"}},
    {"virtual_stages", {"1", "2"}}, {"batch", {"4", "16", "64"}}, {"microbatch", {"1", "2", "16"}}, {"layers", {"4", "8", "12"}},
    {"seq", {"1024", "4096"}}, {"context_length", {"1024", "8192"}}, {"mode", {"train", "prefill", "decode"}},
    {"sequence_parallel", {"true", "false"}}, {"recompute", {"none", "selective", "full"}}, {"schedule", {"1f1b", "gpipe", "zb-h1", "dualpipe"}},
    {"sync", {"ddp-flat", "ddp-buckets", "distributed-optimizer", "fsdp2", "zero-1", "zero-3"}}};
const char* const kPresets[] = {"llama3-8b", "gpt2", "deepseek-v2-lite", "mamba2-130m"};

}  // namespace

class MonkeyTest : public PicksWindow {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  std::mt19937 random_;
  QString did_;

  int below(size_t n) { return n == 0 ? 0 : static_cast<int>(random_() % n); }
  template <typename List>
  const auto& any(const List& list) { return *(std::begin(list) + below(std::size(list))); }
  bool once_in(int n) { return below(static_cast<size_t>(n)) == 0; }

  void edit() {
    const auto& [id, values] = any(kEdits);
    const char* value = any(values);
    did_ = QStringLiteral("%1 %2").arg(QLatin1String(id), QLatin1String(value));
    (void)session_->setKnob(QString::fromLatin1(id), QString::fromLatin1(value));
    if (once_in(3)) session_->endEdit();
  }

  void changeDesigns() {
    Comparisons* pinned = session_->comparisons();
    switch (below(9)) {
      case 0: did_ = "undo"; return session_->undoStack()->undo();
      case 1: did_ = "redo"; return session_->undoStack()->redo();
      case 2: did_ = "preset"; return session_->applyPreset(QString::fromLatin1(any(kPresets)));
      case 3:
      case 4: did_ = "pin"; return static_cast<void>(pinned->add(session_->design(), Comparisons::nameOf(session_->design())));
      case 5:
        did_ = "unpin";
        if (pinned->size() > 0) pinned->remove(below(static_cast<size_t>(pinned->size())));
        return;
      case 6: {
        did_ = "take a pinned design";
        if (pinned->size() == 0) return;
        const Design taken = any(pinned->all()).design;
        return session_->setDesign(taken, "swap");
      }
      case 7: {
        if (!once_in(4)) return;
        did_ = "an accelerator that nobody knows";  // there is no time of a step
        Design unknown = session_->design();
        unknown.cluster.accelerator = "abacus";
        return session_->setDesign(unknown, "abacus");
      }
      default: {
        if (!once_in(4)) return;
        did_ = "another document";
        Design other;
        apply_preset(other, any(kPresets));
        session_->reset(other);
        if (once_in(2)) pinned->clear();
      }
    }
  }

  // What could be selected somewhere, as a link of the inspector or a view that is not shown would.
  Pick anyPick() {
    Pick pick;
    const auto of = session_->report();
    if (!of || !of->valid()) return pick;
    pick.kind = static_cast<PickKind>(below(static_cast<size_t>(PickKind::Time) + 1));
    const StageReport& stage = any(of->stages);
    pick.stage = stage.stage;
    switch (pick.kind) {
      case PickKind::Op:
      case PickKind::Block:
      case PickKind::Unit: {
        const Outline outline(of);
        pick.unit = below(static_cast<size_t>(outline.units()));
        const Segment& segment = outline.segment(outline.segment_of(pick.unit));
        if (pick.kind == PickKind::Op) pick.op = below(segment.ops.size());
        if (pick.kind == PickKind::Op) pick.kernel = once_in(2);
        if (pick.kind == PickKind::Block) pick.block = below(segment.blocks.size());
        for (int s = 0; s < outline.stages(); ++s)
          for (const auto& [begin, end] : outline.units_of(s))
            if (pick.unit >= begin && pick.unit < end) pick.stage = s;
        if (once_in(3) && outline.is_layer(pick.unit)) pick.units = 1 + below(4);
        break;
      }
      case PickKind::Span:
        if (!session_->estimated() || !session_->estimate()->simulation) return {};
        pick.span = below(session_->estimate()->simulation->stages[static_cast<size_t>(pick.stage)].spans.size());
        break;
      case PickKind::Collective:
      case PickKind::Group: {
        if (stage.collectives.empty()) return {};
        const Pick row = pick_of_row(stage, any(stage.collectives));
        pick.group = row.group;
        if (pick.kind == PickKind::Collective) pick = row;
        break;
      }
      case PickKind::Memory: pick.memory = static_cast<MemoryCategory>(below(kAllMemoryCategories)); break;
      case PickKind::Flops: {
        if (stage.flops.empty()) return {};
        const FlopsValue& row = any(stage.flops);
        pick.phase = row.phase;
        pick.flops = flops_group(row.kind);
        if (once_in(2)) pick.row = {row.kind, row.compute};
        break;
      }
      case PickKind::Time:
        pick.stage = -1;
        pick.time = static_cast<TimeCategory>(below(kTimeCategoryCount));
        break;
      case PickKind::Nothing: break;
    }
    return pick;
  }

  void pickOutOfSight() {
    did_ = "pick";
    if (once_in(3)) {
      const QVector<InspectedLink> links = session_->inspection().links;
      if (!links.isEmpty()) return session_->setPick(any(links).pick, nullptr);
    }
    session_->setPick(anyPick(), once_in(2) ? nullptr : static_cast<QObject*>(this));
  }

  void look() {
    switch (below(10)) {
      case 0: did_ = "stage"; return session_->setStage(below(4));
      case 1: did_ = "rank"; return session_->setRank(below(16));
      case 2: did_ = "theme"; return Theme::instance().setMode(once_in(2) ? Theme::Mode::Dark : Theme::Mode::Light);
      case 3: did_ = "units"; return session_->setUnits(once_in(2) ? UnitSystem::Binary : UnitSystem::Decimal);
      case 4: did_ = "size"; return window_->resize(any(std::vector<QSize>{{1440, 900}, {1280, 800}, {1024, 700}}));
      case 5:
        did_ = "page of Explore";
        window_->tabs()->setCurrentWidget(window_->explore());
        return window_->explore()->showPage(any(std::vector<int>{ExploreView::Compare, ExploreView::Compare, ExploreView::WhatMatters, ExploreView::Scaling, ExploreView::Serving}));
      case 6: {
        did_ = "search";
        auto* field = window_->tabs()->currentWidget()->findChild<SearchField*>();
        if (!field) return;
        field->activate();
        QTest::keyClicks(field, QString::fromLatin1(any(std::vector<const char*>{"attention", "2", "all", "stage 1", "norm"})));
        if (once_in(2)) QTest::keyClick(field, Qt::Key_Return);
        return;
      }
      default:
        did_ = "view";
        window_->tabs()->setCurrentIndex(below(static_cast<size_t>(window_->tabs()->count())));
    }
  }

  static bool takesMouse(const QWidget* widget) {
    if (widget->objectName() == QLatin1String("pick_clear")) return true;
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) return button->isCheckable();  // others may ask for a file
    return widget->inherits("QCustomPlot") || qobject_cast<const BreakdownBar*>(widget) || qobject_cast<const GanttCanvas*>(widget) || qobject_cast<const MemoryCurve*>(widget) ||
           qobject_cast<const RooflineCanvas*>(widget) || qobject_cast<const MeshCanvas*>(widget) || qobject_cast<const GraphCanvas*>(widget) || qobject_cast<const ChartTable*>(widget) ||
           qobject_cast<const GroupedBars*>(widget) || qobject_cast<const Tornado*>(widget) || qobject_cast<const ScalingChart*>(widget) || qobject_cast<const ServingCanvas*>(widget) ||
           qobject_cast<const ScatterCanvas*>(widget);
  }

  // By mouse or keys in what is shown.
  void touch() {
    QList<QWidget*> all = window_->tabs()->currentWidget()->findChildren<QWidget*>();
    if (auto* clear = window_->findChild<QWidget*>(QStringLiteral("pick_clear"))) all << clear;
    all.removeIf([](const QWidget* widget) { return !widget->isVisible() || !widget->isEnabled() || !takesMouse(widget); });
    if (all.isEmpty()) return;
    QWidget* widget = any(all);
    did_ = QStringLiteral("touch %1 %2").arg(QLatin1String(widget->metaObject()->className()), widget->objectName());
    auto* table = qobject_cast<ChartTable*>(widget);
    QWidget* hit = table ? table->viewport() : widget;
    const QPoint at(below(static_cast<size_t>(std::max(1, hit->width()))), below(static_cast<size_t>(std::max(1, hit->height()))));
    if (!once_in(3)) {
      QTest::mouseMove(hit, at);
      return QTest::mouseClick(hit, Qt::LeftButton, once_in(8) ? Qt::ControlModifier : Qt::NoModifier, at);
    }
    const Qt::Key keys[] = {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down, Qt::Key_Home, Qt::Key_End, Qt::Key_PageUp, Qt::Key_PageDown, Qt::Key_Return, Qt::Key_Escape, Qt::Key_Space, Qt::Key_M, Qt::Key_N};
    widget->setFocus();
    for (int times = 1 + below(4); times > 0; --times) QTest::keyClick(widget, any(keys));
  }

  void settle() {
    session_->waitForEstimate();
    QTRY_VERIFY_WITH_TIMEOUT(session_->comparisons()->ready(), 30'000);
    view<GraphView>()->waitForGraph();
    QCoreApplication::processEvents();
  }

  // Nothing is marked that there is not.
  void checkMarks() {
    const Pick& pick = session_->pick();
    const Report* of = session_->report().get();
    QVERIFY(pick.kind == PickKind::Nothing || pick.stage < static_cast<int>(of->stages.size()));
    QVERIFY(session_->picked().pick() == pick || session_->picked().nothing());
    for (const ChartPage* page : window_->findChildren<ChartPage*>()) {
      const StageChart* chart = page->chart();
      for (const int series : chart->marked()) QVERIFY(series >= 0 && series < static_cast<int>(chart->data().series.size()));
      for (const int row : page->table()->selectedSourceRows()) QVERIFY(row < page->table()->sorted()->sourceModel()->rowCount());
    }
    const TimelineView* timeline = view<TimelineView>();
    for (const GanttStep& step : timeline->canvas()->steps())
      for (int s = 0; s < step.lanes->stages(); ++s)
        for (int lane = 0; lane < static_cast<int>(step.lanes->of(s).size()); ++lane)
          if (const auto count = static_cast<int>(step.lanes->of(s)[static_cast<size_t>(lane)].items.size()); count > 0) (void)timeline->picksBox({s, lane, count - 1, step.member});
  }

 private Q_SLOTS:
  void cleanup() {
    if (session_) session_->undoStack()->setClean();
    window_.reset();
    session_.reset();
  }

  void anyOrder_data() {
    QTest::addColumn<uint>("seed");
    bool asked = false;
    const uint first = qEnvironmentVariableIntValue("SHARDSCAPE_MONKEY_SEED", &asked);
    for (uint seed = asked ? first : 1; seed < (asked ? first + 1 : 5); ++seed) QTest::addRow("seed %u", seed) << seed;
  }
  void anyOrder() {
    QFETCH(uint, seed);
    random_.seed(seed);
    Theme::instance().setMode(Theme::Mode::Light);
    session_ = std::make_unique<Session>();
    set(*session_, {{"layers", "8"}, {"tp", "2"}, {"pp", "2"}, {"dp", "2"}, {"batch", "16"}, {"microbatch", "1"}, {"seq", "1024"}});
    window_ = std::make_unique<MainWindow>(session_.get());
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    const int asked = qEnvironmentVariableIntValue("SHARDSCAPE_MONKEY_STEPS"), steps = asked > 0 ? asked : kSteps;
    const bool talks = qEnvironmentVariableIsSet("SHARDSCAPE_MONKEY_TALKS");
    for (int step = 0; step < steps; ++step) {
      const int what = below(20);
      did_.clear();
      if (talks) fprintf(stderr, "%d: %d ", step, what);
      if (what < 4) edit();
      else if (what < 6) changeDesigns();
      else if (what < 9) look();
      else if (what < 12) pickOutOfSight();
      else touch();
      if (talks) fprintf(stderr, "%s, tab %d, pick %d\n", qPrintable(did_), window_->tabs()->currentIndex(), int(session_->pick().kind));
      if (once_in(2)) settle();  // or the next thing happens while this one is still worked out
      else QCoreApplication::processEvents();
      QVERIFY(!window_->grab().isNull());
      checkMarks();
      if (QTest::currentTestFailed()) {
        qWarning("seed %u, step %d: %s", seed, step, qPrintable(did_));
        return;
      }
    }
    settle();
  }
};

QTEST_MAIN(MonkeyTest)
#include "monkey_test.moc"
