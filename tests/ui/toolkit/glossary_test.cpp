// Terms of the glossary in the window: a tip with one sentence, and a dotted underline.
#include <QHeaderView>
#include <QHelpEvent>
#include <QImage>
#include <QTabWidget>
#include <QTest>

#include "offscreen.h"
#include "ui/inspector/fact_row.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/table_model.h"
#include "ui/shell/verdict_strip.h"
#include "ui/toolkit/copy_label.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/glossary.h"
#include "ui/views/communication/collectives_model.h"
#include "ui/views/communication/communication_view.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

// A table with a caption that is a term, and one that is not.
class Captions : public TableModel {
 public:
  Captions() {
    assign({{"Exposed communication", "exposed", true, {}}, {"Another long caption", "other", true, {}}},
           {{number_cell(1, "1"), number_cell(2, "2")}});
  }
};

// The longest run of pixels in a row of the image that repeats every three pixels, as the underline does.
int longest_dots(const QImage& image) {
  int longest = 0;
  for (int y = 0; y < image.height(); ++y) {
    int run = 0;
    for (int x = 0; x + 3 < image.width(); ++x) {
      const bool changes = image.pixel(x, y) != image.pixel(x + 1, y) ||
                           image.pixel(x + 1, y) != image.pixel(x + 2, y);
      run = changes && image.pixel(x, y) == image.pixel(x + 3, y) ? run + 1 : 0;
      longest = std::max(longest, run);
    }
  }
  return longest;
}

}  // namespace

class GlossaryTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  ElidedLabel* labelOf(const QWidget* where, const QString& text) const {
    for (ElidedLabel* label : where->findChildren<ElidedLabel*>())
      if (label->text() == text) return label;
    return nullptr;
  }

 private Q_SLOTS:
  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

  void termsAreFound_data() {
    QTest::addColumn<QString>("term");
    QTest::addColumn<QString>("words");
    QTest::newRow("MFU") << "MFU"
                         << "share of the GPU's dense peak";
    QTest::newRow("a name") << "Tensor parallel"
                            << "ranks that share each layer";
    QTest::newRow("an abbreviation") << "tp"
                                     << "ranks that share each layer";
    QTest::newRow("two lines") << "Decode context parallelism"
                               << "context of their KV heads";
    // Every level of the network (hardware/network_level.h) is a term.
    for (const auto& [level, words] : {std::pair{"Level", "highest part of the network"},
                                       {"node", "one server"},
                                       {"rack", "scale-up links join"},
                                       {"scale-up", "NVLink or a similar link"},
                                       {"rail", "same local number in several nodes"},
                                       {"leaf", "first switch behind a NIC"},
                                       {"spine", "join leaf switches"},
                                       {"pods", "oversubscribed level"}})
      QTest::newRow(level) << QString(level) << QString(words);
    QTest::newRow("no term") << "Step"
                             << "";
  }
  void termsAreFound() {
    QFETCH(QString, term);
    QFETCH(QString, words);
    const QString sentence = Glossary::instance().sentence(term);
    QVERIFY2(sentence.contains(words) && sentence.isEmpty() == words.isEmpty(), qPrintable(sentence));
  }

  void theVerdictExplainsItsCells() {
    for (const char* term : {"MFU", "Bubble", "Exposed communication"}) {
      ElidedLabel* label = labelOf(window_->verdictStrip(), QString(term));
      QVERIFY2(label, term);
      QCOMPARE(label->toolTip(), Glossary::instance().tip(term));
      QVERIFY(label->toolTip().startsWith(term));
    }
    ElidedLabel* step = labelOf(window_->verdictStrip(), "Step");
    QVERIFY(step && step->toolTip().isEmpty());
  }

  // The dots are pixels below the text of a term.
  void termsHaveADottedUnderline() {
    ElidedLabel plain(nullptr, Theme::instance().uiFont(20)), term(nullptr, Theme::instance().uiFont(20));
    for (ElidedLabel* label : {&plain, &term}) {
      label->setText("Bubble");
      label->resize(label->sizeHint());
    }
    term.setTerm("Bubble");
    const QImage one = plain.grab().toImage(), other = term.grab().toImage();
    QVERIFY(one != other);
    const int last = one.height() - 1;
    int changes = 0;
    for (int x = 1; x < other.width(); ++x) changes += other.pixel(x, last) != other.pixel(x - 1, last);
    QVERIFY2(changes > 10, qPrintable(QString::number(changes)));
  }

  void captionsOfTablesAreExplained() {
    Captions model;
    ChartTable table;
    table.setTable(&model);
    table.resize(600, 200);
    table.show();
    QVERIFY(QTest::qWaitForWindowExposed(&table));
    QHeaderView& header = *table.horizontalHeader();
    const auto dots = [&](int section) {
      const QRect place(header.sectionViewportPosition(section), 0, header.sectionSize(section),
                        header.height());
      return longest_dots(header.viewport()->grab(place).toImage());
    };
    QVERIFY2(dots(0) > 30, qPrintable(QString::number(dots(0))));
    QVERIFY2(dots(1) < 15, qPrintable(QString::number(dots(1))));
    QCOMPARE(model.headerData(0, Qt::Horizontal, Qt::ToolTipRole).toString(),
             Glossary::instance().tip("Exposed communication"));
    QVERIFY(model.headerData(1, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
  }

  // The level of a collective, in the table of the Communication view and in the inspector.
  void levelsAreExplained() {
    session_->waitForEstimate();
    auto& view = *window_->findChild<CommunicationView*>();
    window_->tabs()->setCurrentWidget(&view);
    const CollectivesModel& model = *view.model();
    const QModelIndex level = model.index(0, CollectivesModel::Level);
    QCOMPARE(level.data().toString(), QString("node"));
    QVERIFY(level.data(TableModel::TermRole).toBool());
    QVERIFY(!level.siblingAtColumn(CollectivesModel::Level + 1).data(TableModel::TermRole).toBool());
    const QString tip = level.data(Qt::ToolTipRole).toString();
    QVERIFY2(tip.startsWith(Glossary::instance().tip("node") + '\n') && tip.contains("in 1 scale-up domain"),
             qPrintable(tip));
    QCOMPARE(model.headerData(CollectivesModel::Level, Qt::Horizontal, Qt::ToolTipRole).toString(),
             Glossary::instance().tip("Level"));
    FactRow row(nullptr), other(nullptr);
    row.set("Level", "rail: 64 ranks in 8 scale-up domains, 8 in each");
    QVERIFY(row.findChild<CopyLabel*>()->isTerm());
    QCOMPARE(row.toolTip(), Glossary::instance().tip("rail") + '\n' + Glossary::instance().tip("Level"));
    other.set("Peak", "550 GFLOP / 989 TFLOP/s");  // "Peak" of the glossary is the peak of memory
    QVERIFY(other.toolTip().isEmpty() && !other.findChild<CopyLabel*>()->isTerm());
    // The dots are below the name.
    row.resize(360, 40);
    const QImage with = row.grab().toImage();
    row.findChild<CopyLabel*>()->setTerm(false);
    QVERIFY(with != row.grab().toImage());
  }

  void theFormExplainsItsTerms() {
    KnobRow* row = window_->form()->row("tp");
    ElidedLabel* label = labelOf(row, "Tensor parallel");
    QVERIFY(label && label->isTerm());
    QVERIFY2(row->toolTip().contains("ranks that share each layer"), qPrintable(row->toolTip()));
  }
};

QTEST_MAIN(GlossaryTest)
#include "glossary_test.moc"
