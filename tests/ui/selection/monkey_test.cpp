// Random actions in the window: edits, pinned designs, views, and selections from every source. The seed
// decides the order. After each action the view is drawn, and its marks must refer to things that exist.
#include <QAbstractButton>
#include <QPushButton>
#include <QTest>
#include <random>

#include "offscreen.h"
#include "selection_window.h"
#include "support/longest_run.h"
#include "ui/plot/canvas.h"
#include "ui/selection/collective_selection.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/search_field.h"
#include "ui/toolkit/theme.h"
#include "ui/views/explore/compare_page.h"
#include "ui/views/explore/explore_view.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

constexpr int kSteps = 100;  // actions of each seed; SHARDSCAPE_MONKEY_STEPS overrides the number
const std::initializer_list<std::pair<const char*, std::vector<const char*>>> kEdits = {
    {"tp", {"1", "2", "4"}},
    {"pp", {"1", "2", "3", "4"}},
    {"dp", {"1", "2", "4"}},
    {"cp", {"1", "2"}},
    {"ep", {"1", "2"}},
    {"virtual_stages", {"1", "2"}},
    {"batch", {"4", "16", "64"}},
    {"microbatch", {"1", "2", "16"}},
    {"layers", {"4", "8", "12"}},
    {"seq", {"1024", "4096"}},
    {"context_length", {"1024", "8192"}},
    {"mode", {"train", "prefill", "decode"}},
    {"sequence_parallel", {"true", "false"}},
    {"recompute", {"none", "selective", "full"}},
    {"schedule", {"1f1b", "gpipe", "zb-h1", "dualpipe"}},
    {"sync", {"ddp-flat", "ddp-buckets", "distributed-optimizer", "fsdp2", "zero-1", "zero-3"}}};
const char* const kPresets[] = {"llama3-8b", "gpt2", "deepseek-v2-lite", "mamba2-130m"};

}  // namespace

class MonkeyTest : public SelectionWindow {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  std::mt19937 random_;
  QString did_;

  int below(size_t n) { return n == 0 ? 0 : static_cast<int>(random_() % n); }
  template <typename List>
  const auto& any(const List& list) {
    return *(std::begin(list) + below(std::size(list)));
  }
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
      case 4:
        did_ = "pin";
        return static_cast<void>(pinned->add(session_->design(), Comparisons::nameOf(session_->design())));
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
        did_ = "an unknown accelerator";  // a design without a simulated step
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

  // A random selection, as a link of the inspector or a hidden view could make it.
  Selection anySelection() {
    Selection selection;
    const auto of = session_->report();
    if (!of || !of->valid()) return selection;
    selection.kind = static_cast<SelectionKind>(below(static_cast<size_t>(SelectionKind::Time) + 1));
    const StageReport& stage = any(of->stages);
    selection.stage = stage.stage;
    switch (selection.kind) {
      case SelectionKind::Op:
      case SelectionKind::Block:
      case SelectionKind::Unit: {
        const GraphTree tree(of);
        selection.unit = below(static_cast<size_t>(tree.units()));
        const Segment& segment = tree.segment(tree.segment_of(selection.unit));
        if (selection.kind == SelectionKind::Op) selection.op = below(segment.ops.size());
        if (selection.kind == SelectionKind::Op) selection.kernel = once_in(2);
        if (selection.kind == SelectionKind::Block) selection.block = below(segment.blocks.size());
        for (int s = 0; s < tree.stages(); ++s)
          for (const auto& [begin, end] : tree.units_of(s))
            if (selection.unit >= begin && selection.unit < end) selection.stage = s;
        if (once_in(3) && tree.is_layer(selection.unit)) selection.units = 1 + below(4);
        break;
      }
      case SelectionKind::Span:
        if (!session_->estimated() || !session_->estimate()->simulation) return {};
        selection.span = below(
            session_->estimate()->simulation->stages[static_cast<size_t>(selection.stage)].spans.size());
        break;
      case SelectionKind::Collective:
      case SelectionKind::Group: {
        if (stage.collectives.empty()) return {};
        const Selection row = selectionOfCollective(stage, any(stage.collectives));
        selection.group = row.group;
        if (selection.kind == SelectionKind::Collective) selection = row;
        break;
      }
      case SelectionKind::Memory:
        selection.memory = static_cast<MemoryCategory>(below(kAllMemoryCategories));
        break;
      case SelectionKind::Flops: {
        if (stage.flops.empty()) return {};
        const FlopsValue& row = any(stage.flops);
        selection.phase = row.phase;
        selection.flops = flops_group(row.kind);
        if (once_in(2)) selection.row = {row.kind, row.compute};
        break;
      }
      case SelectionKind::Time:
        selection.stage = -1;
        selection.time = static_cast<TimeCategory>(below(kTimeCategoryCount));
        break;
      case SelectionKind::Nothing: break;
    }
    return selection;
  }

  void selectFromAHiddenSource() {
    did_ = "select";
    if (once_in(3)) {
      const QVector<InspectedLink> links = window_->selection()->inspection().links;
      if (!links.isEmpty()) return window_->selection()->selectInAllViews(any(links).selection, nullptr);
    }
    window_->selection()->selectInAllViews(anySelection(),
                                           once_in(2) ? nullptr : static_cast<QObject*>(this));
  }

  void look() {
    switch (below(10)) {
      case 0: did_ = "stage"; return window_->selection()->setStage(below(4));
      case 1: did_ = "rank"; return window_->selection()->setRank(below(16));
      case 2:
        did_ = "theme";
        return Theme::instance().setMode(once_in(2) ? Theme::Mode::Dark : Theme::Mode::Light);
      case 3:
        did_ = "units";
        return session_->setUnits(once_in(2) ? UnitSystem::Binary : UnitSystem::Decimal);
      case 4:
        did_ = "size";
        return window_->resize(any(std::vector<QSize>{{1440, 900}, {1280, 800}, {1024, 700}}));
      case 5:
        did_ = "page of Explore";
        window_->tabs()->setCurrentWidget(window_->explore());
        return window_->explore()->showPage(
            any(std::vector<int>{ExploreView::Compare, ExploreView::Compare, ExploreView::SensitivityTab,
                                 ExploreView::Scaling, ExploreView::Serving, ExploreView::Requests}));
      case 6: {
        did_ = "search";
        auto* field = window_->tabs()->currentWidget()->findChild<SearchField*>();
        if (!field) return;
        field->activate();
        QTest::keyClicks(
            field,
            QString::fromLatin1(any(std::vector<const char*>{"attention", "2", "all", "stage 1", "norm"})));
        if (once_in(2)) QTest::keyClick(field, Qt::Key_Return);
        return;
      }
      default:
        did_ = "view";
        window_->tabs()->setCurrentIndex(below(static_cast<size_t>(window_->tabs()->count())));
    }
  }

  static bool takesMouse(const QWidget* widget) {
    if (widget->objectName() == QLatin1String("selection_clear")) return true;
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
      return button->isCheckable();  // other buttons may open a file dialog
    return qobject_cast<const Canvas*>(widget) || qobject_cast<const ChartTable*>(widget);
  }

  // Clicks or presses keys on a random visible widget.
  void touch() {
    QList<QWidget*> all = window_->tabs()->currentWidget()->findChildren<QWidget*>();
    if (auto* clear = window_->findChild<QWidget*>(QStringLiteral("selection_clear"))) all << clear;
    all.removeIf([](const QWidget* widget) {
      return !widget->isVisible() || !widget->isEnabled() || !takesMouse(widget);
    });
    if (all.isEmpty()) return;
    QWidget* widget = any(all);
    did_ = QStringLiteral("touch %1 %2")
               .arg(QLatin1String(widget->metaObject()->className()), widget->objectName());
    auto* table = qobject_cast<ChartTable*>(widget);
    QWidget* hit = table ? table->viewport() : widget;
    const QPoint at(below(static_cast<size_t>(std::max(1, hit->width()))),
                    below(static_cast<size_t>(std::max(1, hit->height()))));
    if (!once_in(3)) {
      QTest::mouseMove(hit, at);
      return QTest::mouseClick(hit, Qt::LeftButton, once_in(8) ? Qt::ControlModifier : Qt::NoModifier, at);
    }
    const Qt::Key keys[] = {Qt::Key_Left,  Qt::Key_Right,  Qt::Key_Up,       Qt::Key_Down,   Qt::Key_Home,
                            Qt::Key_End,   Qt::Key_PageUp, Qt::Key_PageDown, Qt::Key_Return, Qt::Key_Escape,
                            Qt::Key_Space, Qt::Key_M,      Qt::Key_N};
    widget->setFocus();
    for (int times = 1 + below(4); times > 0; --times) QTest::keyClick(widget, any(keys));
  }

  void waitUntilIdle() {
    session_->waitForEstimate();
    QTRY_VERIFY_WITH_TIMEOUT(session_->comparisons()->ready(), test::kLongestRun);
    view<GraphView>()->waitForGraph();
    QCoreApplication::processEvents();
  }

  // All marks refer to things that exist.
  void checkMarks() {
    const Selection& selection = window_->selection()->selection();
    const Report* of = session_->report().get();
    QVERIFY(selection.kind == SelectionKind::Nothing ||
            selection.stage < static_cast<int>(of->stages.size()));
    QVERIFY(window_->selection()->resolvedSelection().selection() == selection ||
            window_->selection()->resolvedSelection().nothing());
    for (const ChartPage* page : window_->findChildren<ChartPage*>()) {
      const StageChart* chart = page->chart();
      for (const int series : chart->marked())
        QVERIFY(series >= 0 && chart->data().ownSeries(0, series) >= 0);
      for (const BarMark& mark : chart->markedComparedBars())
        QVERIFY(mark.member > 0 && mark.member < chart->data().members() &&
                mark.stage < chart->data().stages(mark.member) &&
                chart->data().ownSeries(mark.member, mark.series) >= 0);
      for (const int row : page->table()->selectedSourceRows())
        QVERIFY(row < page->table()->sorted()->sourceModel()->rowCount());
    }
    const TimelineView* timeline = view<TimelineView>();
    const ItemRef& box = timeline->canvas()->selected();
    QVERIFY(!box.valid() || timeline->canvas()->stepOf(box).member == box.member);
    for (const GanttStep& step : timeline->canvas()->steps())
      for (int s = 0; s < step.lanes->stages(); ++s)
        for (int lane = 0; lane < static_cast<int>(step.lanes->of(s).size()); ++lane)
          if (const auto count = static_cast<int>(step.lanes->of(s)[static_cast<size_t>(lane)].items.size());
              count > 0)
            (void)timeline->selectsBox({s, lane, count - 1, step.member});
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
    for (uint seed = asked ? first : 2; seed < (asked ? first + 1 : 5); ++seed)
      QTest::addRow("seed %u", seed) << seed;
  }
  void anyOrder() {
    QFETCH(uint, seed);
    random_.seed(seed);
    Theme::instance().setMode(Theme::Mode::Light);
    session_ = std::make_unique<Session>();
    set(*session_, {{"layers", "8"},
                    {"tp", "2"},
                    {"pp", "2"},
                    {"dp", "2"},
                    {"batch", "16"},
                    {"microbatch", "1"},
                    {"seq", "1024"}});
    window_ = std::make_unique<MainWindow>(session_.get());
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    const int asked = qEnvironmentVariableIntValue("SHARDSCAPE_MONKEY_STEPS"),
              steps = asked > 0 ? asked : kSteps;
    const bool talks = qEnvironmentVariableIsSet("SHARDSCAPE_MONKEY_TALKS");
    for (int step = 0; step < steps; ++step) {
      const int what = below(20);
      did_.clear();
      if (talks) fprintf(stderr, "%d: %d ", step, what);
      if (what < 4)
        edit();
      else if (what < 6)
        changeDesigns();
      else if (what < 9)
        look();
      else if (what < 12)
        selectFromAHiddenSource();
      else
        touch();
      if (talks)
        fprintf(stderr, "%s, tab %d, selection %d\n", qPrintable(did_), window_->tabs()->currentIndex(),
                int(window_->selection()->selection().kind));
      if (once_in(2))
        waitUntilIdle();  // in the other half of the cases, the next action follows during the computation
      else
        QCoreApplication::processEvents();
      QVERIFY(!window_->tabs()->currentWidget()->grab().isNull());
      checkMarks();
      if (QTest::currentTestFailed()) {
        qWarning("seed %u, step %d: %s", seed, step, qPrintable(did_));
        return;
      }
    }
    waitUntilIdle();
  }
};

QTEST_MAIN(MonkeyTest)
#include "monkey_test.moc"
