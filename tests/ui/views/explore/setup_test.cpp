// The set-up of a search, by mouse and keys: chips for values, typed values, conditions with completion.
#include <QAbstractItemView>
#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>
#include <QToolButton>
#include <algorithm>

#include "explore/constraint.h"
#include "explore_window.h"
#include "offscreen.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_chips.h"
#include "ui/views/explore/condition_row.h"

using namespace shardscape;
using namespace shardscape::ui;

class SetupTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void chipsChooseValues() {
    ExploreWindow w;
    DimensionRow* row = w.setup().row("schedule");
    QVERIFY(row->chips()->isVisible() && !row->field()->isVisible());
    const auto press = [&](const char* value) {
      QPushButton* chip = row->chips()->chip(value);
      QVERIFY(chip);
      if (!chip->isVisible()) QTest::mouseClick(row->chips()->moreChip(), Qt::LeftButton);
      QVERIFY(chip->isVisible());
      QTest::mouseClick(chip, Qt::LeftButton);
    };
    QVERIFY(row->chips()->chip("1f1b")->isChecked());
    QVERIFY(!row->chips()->chip("gpipe")->isChecked());
    QVERIFY(!row->chips()->chip("gpipe")->isVisible());  // folded, as most schedules are not chosen
    press("gpipe");
    QVERIFY2(row->values().split(',').contains("gpipe"), qPrintable(row->values()));
    press("1f1b");
    QVERIFY(!row->values().split(',').contains("1f1b"));
    QVERIFY(!w.setup().usual());
    const auto dimensions = w.setup().spec().dimensions;
    const auto it = std::find_if(dimensions.begin(), dimensions.end(),
                                 [](const auto& d) { return d.first == "schedule"; });
    QVERIFY(it != dimensions.end());
    QCOMPARE(QString::fromStdString(it->second), row->values());
    // A chip of a dimension that does not vary makes it vary.
    QTest::mouseClick(row->tick(), Qt::LeftButton, {}, QPoint(10, row->tick()->height() / 2));
    QVERIFY(!row->used());
    press("1f1b");
    QVERIFY(row->used());
    QVERIFY(row->values().split(',').contains("1f1b"));
  }

  void chipsByKeys() {
    ExploreWindow w;
    DimensionRow* row = w.setup().row("tp");
    QVERIFY(row->chips()->isVisible());
    row->focusValues();
    QWidget* first = w.main.focusWidget();
    QVERIFY(row->chips()->isAncestorOf(first));
    QTest::keyClick(first, Qt::Key_Right);
    auto* second = qobject_cast<QPushButton*>(w.main.focusWidget());
    QVERIFY(second && second != first && row->chips()->isAncestorOf(second));
    const bool before = second->isChecked();
    QTest::keyClick(second, Qt::Key_Space);
    QCOMPARE(second->isChecked(), !before);
    QTest::keyClick(second, Qt::Key_Return);
    QCOMPARE(second->isChecked(), before);
    QTest::keyClick(second, Qt::Key_Left);
    QCOMPARE(w.main.focusWidget(), first);
  }

  // "all" and single values exclude each other.
  void allOrSingleDegrees() {
    ExploreWindow w;
    DimensionRow* row = w.setup().row("pp");
    QCOMPARE(row->values(), QString("all"));
    QVERIFY(row->chips()->chip("all")->isChecked());
    for (const char* value : {"1", "2"}) {
      if (!row->chips()->chip(value)->isVisible())
        QTest::mouseClick(row->chips()->moreChip(), Qt::LeftButton);
      QTest::mouseClick(row->chips()->chip(value), Qt::LeftButton);
    }
    QCOMPARE(row->values(), QString("1,2"));
    QTest::mouseClick(row->chips()->chip("all"), Qt::LeftButton);
    QCOMPARE(row->values(), QString("all"));
  }

  void valuesCanBeTyped() {
    ExploreWindow w;
    DimensionRow* row = w.setup().row("microbatch");
    QVERIFY(!row->field()->isVisible());
    QTest::mouseClick(row->typeButton(), Qt::LeftButton);
    QVERIFY(row->field()->isVisible() && !row->chips()->isVisible());
    QCOMPARE(w.main.focusWidget(), row->field());
    QTest::keyClicks(row->field(), "1..8*2");  // replaces what is there
    QCOMPARE(row->values(), QString("1..8*2"));
    QVERIFY(!row->refused());
    QTest::mouseClick(row->typeButton(), Qt::LeftButton);
    QVERIFY(row->chips()->isVisible());
    for (const char* value : {"1", "2", "4", "8"}) QVERIFY(row->chips()->chip(value)->isChecked());
    // So many values have no chips.
    QTest::mouseClick(row->typeButton(), Qt::LeftButton);
    QTest::keyClicks(row->field(), "1..512");
    QVERIFY(row->field()->isVisible() && !row->refused());
    QVERIFY(row->field()->width() > w.setup().width() / 2);
    // Words of a choice are completed, after a comma too.
    DimensionRow* sync = w.setup().row("sync");
    QTest::mouseClick(sync->typeButton(), Qt::LeftButton);
    QTest::keyClicks(sync->field(), "fsdp2,dist");
    QCompleter* completer = sync->field()->completer();
    QVERIFY(completer->completionCount() > 0);
    QTest::keyClick(completer->popup(), Qt::Key_Down);
    QTest::keyClick(completer->popup(), Qt::Key_Return);
    QTRY_COMPARE(sync->values(), QString("fsdp2,distributed-optimizer"));
    QTRY_VERIFY(!sync->refused());
  }

  // Conditions take the names that the table shows, and complete them.
  void conditionsKnowTheColumns() {
    ExploreWindow w;
    w.searchSmall();
    for (const ValueColumn& column : w.page().rows()->columns()) {
      const Knob* knob = find_knob(column.id.toStdString());
      if (knob && knob->type != KnobType::Integer) continue;
      const auto parsed = Constraint::parse((column.heading + " > 0").toStdString());
      QVERIFY2(std::holds_alternative<Constraint>(parsed), qPrintable(column.heading));
    }
    const int before = w.page().rows()->rows(), step = w.page().rows()->column("step_time");
    const double limit = w.page().rows()->value(before / 2, step);
    QTest::mouseClick(w.setup().findChild<QPushButton*>("add_condition"), Qt::LeftButton);
    ConditionRow* condition = w.setup().conditions().front();
    QTest::keyClicks(condition->field(), "tp <= 8 and ste");
    QCompleter* completer = condition->field()->completer();
    QVERIFY(completer->popup()->isVisible());
    QTest::keyClick(completer->popup(), Qt::Key_Down);
    QTest::keyClick(completer->popup(), Qt::Key_Return);
    QTRY_COMPARE(condition->text(), QString("tp <= 8 and step"));
    QTest::keyClicks(condition->field(), " < " + QString::number(limit, 'g', 12));
    QVERIFY2(!condition->refused(), qPrintable(condition->issue()->text()));
    w.search();
    QVERIFY(w.page().rows()->rows() > 0 && w.page().rows()->rows() < before);
    for (int row = 0; row < w.page().rows()->rows(); ++row)
      QVERIFY(w.page().rows()->value(row, w.page().rows()->column("step_time")) < limit);
  }

  // No list of the panel is narrower than its text.
  void nothingIsClipped() {
    ExploreWindow w;
    w.main.resize(1280, 800);
    QCoreApplication::processEvents();
    auto* objective = w.setup().findChild<QComboBox*>("objective");
    for (int i = 0; i < objective->count(); ++i)
      QVERIFY2(objective->fontMetrics().horizontalAdvance(objective->itemText(i)) < objective->width() - 36,
               qPrintable(objective->itemText(i)));
    for (const char* id : {"schedule", "sync", "recompute", "tp", "pp"}) {
      const ValueChips* chips = w.setup().row(id)->chips();
      for (const QString& value : chips->values())
        if (const QPushButton* chip = chips->chip(value); chip->isVisible())
          QVERIFY2(chips->rect().contains(chip->geometry()) &&
                       chip->fontMetrics().horizontalAdvance(chip->text()) + 12 <= chip->width(),
                   qPrintable(value));
    }
  }
};

QTEST_MAIN(SetupTest)
#include "setup_test.moc"
