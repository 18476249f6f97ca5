// The list of changes that save memory, and the divider between the charts and the table of the Memory view.
#include <QLabel>
#include <QPushButton>
#include <QSplitterHandle>
#include <QTest>
#include <QUndoStack>

#include "mouse.h"
#include "offscreen.h"
#include "timeline_parts.h"
#include "ui/plot/chart_table.h"
#include "ui/session/memory_advisor.h"
#include "ui/shell/settings.h"
#include "ui/toolkit/page_splitter.h"
#include "ui/toolkit/theme.h"
#include "ui/views/memory/advice_list.h"
#include "ui/views/memory/memory_view.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

constexpr int kAdviceMs = 120'000;  // on a busy machine

struct View {
  explicit View(bool fits) {
    if (!fits) set(session, {{"tp", "1"}, {"pp", "1"}, {"dp", "8"}, {"sync", "ddp-flat"}});
    if (fits) pipelined(session);
    open(view);
  }
  bool advised() const { return view.advice()->isFor(session.estimate().get()); }
  AdviceList& list() { return *view.adviceList(); }
  QStringList words(int row) const {
    QStringList out;
    for (const QLabel* label :
         view.adviceList()->applyButtons()[row]->parentWidget()->findChildren<QLabel*>())
      out << label->text();
    return out;
  }
  Session session;
  SelectionState state{&session};
  MemoryView view{&state};
};

}  // namespace

class AdviceListTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() {
    Theme::instance().setMode(Theme::Mode::Light);
    settings::forgetLayout();
  }

  // A design that does not fit shows the list without a click. Each row says whether its design fits.
  void aClickAppliesAChange() {
    View w(false);
    QVERIFY(!w.session.report()->memory->fits);
    QTRY_VERIFY_WITH_TIMEOUT(w.advised(), kAdviceMs);
    QVERIFY(w.list().isVisible() && !w.view.table()->isVisible());
    const std::vector<MemoryAdvice> advice = w.view.advice()->advice();
    QCOMPARE(size_t(w.list().applyButtons().size()), advice.size());
    int fitting = -1;
    for (int i = 0; i < w.list().applyButtons().size(); ++i) {
      const bool fits = advice[static_cast<size_t>(i)].fits;
      QVERIFY2(w.words(i).contains(fits ? "fits" : "does not fit"), qPrintable(w.words(i).join(", ")));
      QVERIFY(!w.list().applyButtons()[i]->accessibleName().isEmpty());
      if (fits && fitting < 0) fitting = i;
    }
    QVERIFY(fitting >= 0);
    const Design before = w.session.design();
    const int steps = w.session.undoStack()->count();
    QPushButton* button = w.list().applyButtons()[fitting];
    button->setFocus();
    QTest::keyClick(button, Qt::Key_Space);
    QTRY_COMPARE(w.session.undoStack()->count(), steps + 1);
    QVERIFY(!w.list().isEnabled());  // the rows belong to the earlier design
    w.session.waitForEstimate();
    QVERIFY(w.session.report()->memory->fits);
    w.session.undoStack()->undo();
    QCOMPARE(w.session.design(), before);
  }

  // A design that fits shows the table; the button shows the list in its place. Arrows go through the list.
  void theButtonShowsTheList() {
    View w(true);
    QTRY_VERIFY_WITH_TIMEOUT(w.advised(), kAdviceMs);
    QVERIFY(w.view.table()->isVisible() && !w.list().isVisible());
    QTest::mouseClick(w.view.panelButton(), Qt::LeftButton);
    QVERIFY(!w.view.table()->isVisible() && w.list().isVisible());
    const auto& buttons = w.list().applyButtons();
    QVERIFY(buttons.size() > 1);
    buttons[0]->setFocus();
    QTest::keyClick(buttons[0], Qt::Key_Down);
    QVERIFY(buttons[1]->hasFocus());
    QTest::mouseClick(w.view.panelButton(), Qt::LeftButton);
    QVERIFY(w.view.table()->isVisible() && !w.list().isVisible());
  }

  void theDividerIsRemembered() {
    QList<int> moved;
    {
      View w(true);
      PageSplitter& splitter = *w.view.splitter();
      const int before = w.view.table()->height();
      drag_divider(splitter.handle(1), -40);
      QVERIFY(w.view.table()->height() > before);
      moved = splitter.sizes();
      settings::rememberPages(&w.view);
    }
    View w(true);
    settings::restorePages(&w.view);
    QVERIFY(w.view.splitter()->moved());
    QCOMPARE(w.view.splitter()->sizes(), moved);
  }
};

QTEST_MAIN(AdviceListTest)
#include "advice_list_test.moc"
