// Explore by goodput in the window: the objective, the fields of its service, mistakes, and the same answer
// as the core.
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>

#include "explore/goodput_search.h"
#include "explore_window.h"
#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/plot/save_menu.h"
#include "ui/session/page_settings.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/setting_row.h"
#include "ui/toolkit/theme.h"
#include "ui/views/explore/designs_model.h"
#include "ui/views/explore/explore_rows.h"
#include "ui/views/explore/scatter_canvas.h"
#include "ui/views/explore/service_fields.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

// Llama 3 8B in decode, and a space of few layouts.
struct GoodputWindow : ExploreWindow {
  GoodputWindow() {
    QVERIFY(!session.setKnob(QStringLiteral("mode"), QStringLiteral("decode")));
    session.endEdit();
    session.waitForEstimate();
    vary({{"tp", "1,2"}, {"pp", "1"}, {"batch", "16,32"}});
    setup().row("gpus")->setValues(QStringLiteral("1,2"));
  }
  ServiceFields& service() { return *setup().service(); }
  void chooseGoodput() {
    setup().objectiveBox()->setFocus();
    QTest::keyClick(setup().objectiveBox(), Qt::Key_End);
  }
  void type(const char* id, const char* text) {
    auto* line = qobject_cast<QLineEdit*>(service().row(id)->field());
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, QString::fromLatin1(text));
    QTest::keyClick(line, Qt::Key_Return);
  }
  PageSettings& settings() { return *main.findChild<PageSettings*>(); }
};

}  // namespace

class GoodputTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  // The fields belong to the objective, and are the settings of the page Requests.
  void theObjectiveHasAService() {
    GoodputWindow w;
    QVERIFY(!w.service().isVisible() && !w.setup().goodput());
    w.chooseGoodput();
    QVERIFY(w.service().isVisible() && w.setup().goodput());
    w.type("slo", "p99 tpot<30ms");
    QVERIFY(w.settings().pages().service.level.any());
    w.type("requests", "0");
    QVERIFY(w.service().row("requests")->issue()->isVisible());
    QVERIFY(!w.setup().ready() && !w.setup().runButton()->isEnabled());
    w.type("requests", "40");
    QVERIFY(w.setup().ready());
    QTest::mouseClick(w.service().allSettings(), Qt::LeftButton);
    QCOMPARE(w.view().pages()->current(), static_cast<int>(ExploreView::Requests));
    QTest::mouseClick(w.view().pages()->button(ExploreView::Designs), Qt::LeftButton);
    w.setup().objectiveBox()->setFocus();
    QTest::keyClick(w.setup().objectiveBox(), Qt::Key_Home);
    QVERIFY(!w.service().isVisible() && !w.setup().goodput());
  }
  // Without a limit the field of the level says so, until it is edited.
  void aMissingLevelIsShownAtItsField() {
    GoodputWindow w;
    w.chooseGoodput();
    QSignalSpy finished(w.view().job(), &ExploreJob::finished);
    QTest::mouseClick(w.setup().runButton(), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, test::kLongestRun);
    QVERIFY(w.view().job()->failure());
    QVERIFY(w.service().row("slo")->issue()->isVisible());
    w.type("slo", "p99 tpot<30ms");
    QVERIFY(!w.service().row("slo")->issue()->isVisible());
  }
  // The rows are those of the core's search, the largest rate first; picture and files have the rates.
  void searches() {
    GoodputWindow w;
    w.chooseGoodput();
    w.type("slo", "p99 ttft<1s, p99 tpot<30ms");
    w.type("requests", "40");
    w.search();
    const auto space = Space::make(w.setup().spec());
    const auto expected = search_goodput(std::get<0>(space), w.setup().options(), *w.setup().goodput());
    const GoodputResult& result = std::get<GoodputResult>(expected);
    QVERIFY2(result.entries.size() >= 2 && result.entries.front().per_gpu() > 0,
             qPrintable(QString("%1 engines, %2 designs, %3 per GPU")
                            .arg(result.entries.size())
                            .arg(result.search.counts.timed)
                            .arg(result.entries.empty() ? 0 : result.entries.front().per_gpu())));
    const ExploreRows& rows = *w.view().job()->rows();
    const int goodput = rows.column("goodput");
    QVERIFY(goodput >= 0 && rows.column("goodput_tpot") >= 0);
    for (size_t i = 0; i < result.entries.size(); ++i) {
      QCOMPARE(rows.index(static_cast<int>(i)), result.entries[i].point.index);
      QCOMPARE(rows.value(static_cast<int>(i), goodput), result.entries[i].per_gpu());
    }
    QVERIFY(std::isnan(rows.value(rows.rows() - 1, goodput)));  // the same engine with another batch
    QCOMPARE(w.scatter().columns().y, goodput);
    const Picture picture = w.view().saveMenu()->picture();
    QVERIFY(picture.csv().contains(QStringLiteral("goodput")));
    QCOMPARE(picture.json().toStdString(), goodput_json(result, *w.setup().goodput()));
  }
  void designsThatTrainAreRefused() {
    GoodputWindow w;
    QVERIFY(!w.session.setKnob(QStringLiteral("mode"), QStringLiteral("train")));
    w.session.endEdit();
    w.chooseGoodput();
    w.type("slo", "p99 tpot<30ms");
    QSignalSpy finished(w.view().job(), &ExploreJob::finished);
    QTest::mouseClick(w.setup().runButton(), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, test::kLongestRun);
    const QString refusal = w.setup().findChild<QLabel*>("space_refusal")->text();
    QVERIFY2(refusal.contains(QStringLiteral("train")) && refusal.contains(QStringLiteral("decode")),
             qPrintable(refusal));
  }
};

QTEST_MAIN(GoodputTest)
#include "goodput_test.moc"
