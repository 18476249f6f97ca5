// The documentation window: navigation by keys and mouse, and a target for every link.
#include <QAbstractTextDocumentLayout>
#include <QDesktopServices>
#include <QDir>
#include <QFileInfo>
#include <QScrollBar>
#include <QTabWidget>
#include <QTest>
#include <QTextBlock>
#include <QToolButton>

#include "base/problem.h"
#include "design/knobs/knobs.h"
#include "offscreen.h"
#include "ui/form/config_form.h"
#include "ui/help/help_browser.h"
#include "ui/help/help_library.h"
#include "ui/help/help_tree.h"
#include "ui/help/help_window.h"
#include "ui/shell/actions.h"
#include "ui/shell/help_topics.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/search_field.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/views/communication/communication_view.h"
#include "ui/views/compute/compute_view.h"
#include "ui/views/explore/explore_view.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

struct Link {
  QUrl target;
  int position;
};

QVector<Link> linksOf(const QTextDocument& document) {
  QVector<Link> links;
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    for (auto it = block.begin(); !it.atEnd(); ++it) {
      const QString href = it.fragment().charFormat().anchorHref();
      if (!href.isEmpty()) links.push_back({QUrl(href), it.fragment().position()});
    }
  }
  return links;
}

QStringList picturesOf(const QTextDocument& document) {
  QStringList names;
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    for (auto it = block.begin(); !it.atEnd(); ++it) {
      const QTextImageFormat format = it.fragment().charFormat().toImageFormat();
      if (format.isValid()) names << format.name();
    }
  }
  return names;
}

}  // namespace

class HelpTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }
  QList<QUrl> opened_;
  Q_INVOKABLE void openOutside(const QUrl& url) { opened_ << url; }

 private:
  HelpWindow* help() const { return window_->help(); }
  HelpBrowser* browser() const { return help()->browser(); }
  void pressF1() {
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    QTest::keyClick(window_.get(), Qt::Key_F1);
  }
  void openHelp() {
    pressF1();
    QVERIFY(help());
    QVERIFY(QTest::qWaitForWindowActive(help()));
  }
  void clickAt(int position) {
    browser()->goTo(position);
    QTextCursor cursor(browser()->document());
    cursor.setPosition(position + 1);
    QTest::mouseClick(browser()->viewport(), Qt::LeftButton, {}, browser()->cursorRect(cursor).center());
  }
  void search(const QString& words) {
    QTest::keyClick(browser(), Qt::Key_F, Qt::ControlModifier);
    QVERIFY(help()->searchField()->hasFocus());
    QTest::keyClicks(help()->searchField(), words);
  }
  // The line of the cursor is the target: the last section of a page cannot be scrolled to the top.
  QString lineAtCursor() const { return browser()->textCursor().block().text(); }
  QString lineAtTop() const { return browser()->document()->findBlock(browser()->top()).text(); }

 private Q_SLOTS:
  void init() {
    openWindow();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  }
  void cleanup() { closeWindow(); }

  void everyPageIsListed() {
    const QDir docs(SHARDSCAPE_SOURCE_DIR "/docs");
    QSet<QString> files, listed;
    for (const QString& folder : {QString(), QString("models/")}) {
      for (const QString& file : QDir(docs.filePath(folder)).entryList({"*.md"}))
        files << folder + QFileInfo(file).completeBaseName();
    }
    HelpLibrary library;
    for (int page = 0; page < library.size(); ++page) {
      QVERIFY2(!library.title(page).isEmpty(), qPrintable(library.name(page)));
      if (!library.name(page).startsWith("../")) listed << library.name(page);
    }
    QCOMPARE(listed, files);
  }

  void everyLinkLeadsSomewhere() {
    HelpLibrary library;
    int links = 0, pictures = 0;
    for (int page = 0; page < library.size(); ++page) {
      const QTextDocument& document = *library.document(page);
      for (const Link& link : linksOf(document)) {
        if (!link.target.isRelative()) continue;
        ++links;
        QVERIFY2(library.resolve(link.target, page),
                 qPrintable(library.name(page) + ": " + link.target.toString()));
      }
      for (const QString& picture : picturesOf(document)) {
        ++pictures;
        QVERIFY2(QFileInfo::exists(library.absolute(picture, page).toLocalFile()), qPrintable(picture));
      }
    }
    QVERIFY(links > 50);
    QVERIFY(pictures > 3);
  }

  void everyTopicExists() {
    HelpLibrary library;
    for (int topic = 0; topic < kHelpTopicCount; ++topic) {
      const QString link = helpLink(static_cast<HelpTopic>(topic));
      QVERIFY2(library.resolve(QUrl(link)), qPrintable(link));
    }
  }

  // The panel shows the code of each problem in a tooltip.
  void problemsOpenThePageOfTheCodes() {
    HelpLibrary library;
    const auto place = library.resolve(QUrl(helpLink(HelpTopic::Problems)));
    QVERIFY(place);
    const QString page = library.document(place->page)->toPlainText();
    for (const ProblemCode code : {ProblemCode::HeadsIndivisibleByTp, ProblemCode::ValueWithoutEffect})
      QVERIFY(page.contains(QString::fromStdString(std::string(code_text(code)))));
  }

  void equalHeadingsHaveTheirOwnAnchors() {
    HelpLibrary library;
    const auto first = library.resolve(QUrl("json.md#attention")),
               second = library.resolve(QUrl("json.md#attention-1"));
    QVERIFY(first && second);
    QVERIFY(first->position < second->position);
    QVERIFY(!library.resolve(QUrl("json.md#no-such-heading")));
    QVERIFY(!library.resolve(QUrl("https://example.org/guide.md")));
  }

  void f1OpensThePageOfTheView_data() {
    QTest::addColumn<int>("view");
    QTest::addColumn<QString>("page");
    const QStringList pages{"models/graph",     "models/memory", "models/kernels", "models/collectives",
                            "models/schedules", "models/search", "guide"};
    QCOMPARE(pages.size(), viewNames().size());
    for (int view = 0; view < pages.size(); ++view)
      QTest::newRow(qPrintable(viewNames()[view])) << view << pages[view];
  }
  void f1OpensThePageOfTheView() {
    QFETCH(int, view);
    QFETCH(QString, page);
    window_->showView(view);
    window_->tabs()->currentWidget()->setFocus();
    pressF1();
    QVERIFY(help() && help()->isVisible());
    QCOMPARE(help()->shown(), page);
    // The button next to the tabs opens the same page, wherever the focus is.
    window_->form()->focusKnob("seq");
    pressF1();
    QCOMPARE(help()->shown(), QString("json"));
    QCOMPARE(lineAtCursor(), QString("seq"));  // the row of the field
    auto* button = window_->findChild<QToolButton*>("about_view");
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(help()->shown(), page);
  }

  // Every knob has a row in the documentation.
  void everyKnobHasItsRow() {
    HelpLibrary library;
    for (const Knob& knob : knobs()) {
      const auto place = library.resolve(QUrl(knobHelpLink(knob)));
      QVERIFY2(place, knob.id.c_str());
      QTextCursor cursor(library.document(place->page));
      cursor.setPosition(place->position);
      QCOMPARE(cursor.block().text(), QString::fromStdString(knob.id));
    }
  }

  void f1InADialogOpensItsSection_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<QString>("line");
    QTest::newRow("export") << 0 << "Export a bundle and run it in ASTRA-sim";
    QTest::newRow("machine") << 1 << "Use your own accelerators, networks and models";
    QTest::newRow("shortcuts") << 2 << "The window";
    QTest::newRow("examples") << 3 << "Start from an example";
  }
  void f1InADialogOpensItsSection() {
    QFETCH(int, which);
    QFETCH(QString, line);
    const Actions& actions = window_->actions();
    QAction* opens[] = {actions.export_bundle, actions.machine, actions.shortcuts, actions.examples};
    opens[which]->trigger();
    QTRY_VERIFY(QApplication::activeWindow() && QApplication::activeWindow() != window_.get());
    QTest::keyClick(QApplication::activeWindow(), Qt::Key_F1);
    QVERIFY(help() && help()->isVisible());
    QCOMPARE(lineAtCursor(), line);
  }

  void partsOfAViewHaveTheirOwnPlace() {
    const auto first_line = [&] {
      pressF1();
      return lineAtCursor();
    };
    window_->showView(2);
    qobject_cast<ComputeView*>(window_->tabs()->currentWidget())->setAlternativeShown(true);
    QCOMPARE(first_line(), QString("Time of a layer"));
    window_->showView(3);
    qobject_cast<CommunicationView*>(window_->tabs()->currentWidget())->setAlternativeShown(true);
    QCOMPARE(first_line(), QString("Mesh axes and placement"));
    window_->showView(5);
    QTest::mouseClick(window_->explore()->pages()->button(ExploreView::SensitivityTab), Qt::LeftButton);
    QCOMPARE(first_line(), QString("Sensitivity"));
    window_->explore()->showPage(ExploreView::Serving);
    QCOMPARE(first_line(), QString("Inference"));
    window_->explore()->showPage(ExploreView::Requests);
    QCOMPARE(first_line(), QString("Requests"));
  }

  void wordsAreFoundOnAllPages() {
    openHelp();
    search("caching allocator");
    HelpTree* tree = help()->tree();
    QVERIFY(tree->topLevelItemCount() > 1);
    QCOMPARE(tree->topLevelItem(0)->text(0),
             QString("Memory"));  // first, because a heading of this page has the words
    QVERIFY(tree->topLevelItem(0)->childCount() > 0);
    QTest::keyClick(help()->searchField(), Qt::Key_Return);
    QCOMPARE(help()->shown(), QString("models/memory"));
    const auto near_top = [&] { return lineAtTop().toLower(); };
    QVERIFY2(near_top().contains("caching") && near_top().contains("allocator"), qPrintable(near_top()));
    const int first = browser()->textCursor().position();
    QTest::keyClick(help()->searchField(), Qt::Key_Return);
    QVERIFY(browser()->textCursor().position() > first);
    QTest::keyClick(help()->searchField(), Qt::Key_Return, Qt::ShiftModifier);
    QCOMPARE(browser()->textCursor().position(), first);
    // These words occur on one page only.
    QVERIFY(browser()->extraSelections().size() > 2);
    QTest::keyClick(browser(), Qt::Key_F3);
    const int marked = browser()->textCursor().selectionStart();
    QVERIFY(marked > first);
    QTest::keyClick(browser(), Qt::Key_F3);
    QVERIFY(browser()->textCursor().selectionStart() > marked);
    QTest::keyClick(browser(), Qt::Key_F3, Qt::ShiftModifier);
    QCOMPARE(browser()->textCursor().selectionStart(), marked);
    QCOMPARE(help()->shown(), QString("models/memory"));
  }

  void aFoundLineIsReachedByTheMouse() {
    openHelp();
    search("pareto");
    HelpTree* tree = help()->tree();
    QTreeWidgetItem* last = tree->topLevelItem(tree->topLevelItemCount() - 1);
    QTreeWidgetItem* line = last->child(last->childCount() - 1);
    tree->scrollToItem(line);
    QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualItemRect(line).center());
    QVERIFY(line->toolTip(0).contains("pareto", Qt::CaseInsensitive));
    QVERIFY2(line->toolTip(0).startsWith(lineAtCursor()),
             qPrintable(lineAtCursor()));  // the line, or the first cell of its table row
    QTest::keyClick(browser(), Qt::Key_Escape);
    QCOMPARE(help()->searchField()->text(), QString());
    QVERIFY(browser()->extraSelections().isEmpty());
    QVERIFY(help()->isVisible());
    QTest::keyClick(browser(), Qt::Key_Escape);
    QVERIFY(!help()->isVisible());
  }

  void nothingIsFound() {
    openHelp();
    search("xyzzy");
    QCOMPARE(help()->tree()->topLevelItemCount(), 0);
    QVERIFY(help()->searchField()->matchesText().contains(help()->searchField()->width() < 200 ? "0"
                                                                                               : "no match"));
    QTest::keyClick(help()->searchField(), Qt::Key_Return);
    QTest::keyClick(browser(), Qt::Key_F3);
    QTest::keyClick(help()->searchField(), Qt::Key_Escape);
    QVERIFY(browser()->hasFocus());
    QVERIFY(help()->tree()->topLevelItemCount() > 10);
  }

  void linksLeadToPagesAndBack() {
    window_->showView(1);
    openHelp();
    const QVector<Link> links = linksOf(*browser()->document());
    const auto link = std::find_if(links.begin(), links.end(), [](const Link& candidate) {
      return candidate.target.toString() == "graph.md#saved-tensors";
    });
    QVERIFY(link != links.end());
    QVERIFY(!help()->backButton()->isEnabled());
    clickAt(link->position);
    QCOMPARE(help()->shown(), QString("models/graph"));
    QCOMPARE(lineAtTop(), QString("Saved tensors"));
    QTest::mouseClick(help()->backButton(), Qt::LeftButton);
    QCOMPARE(help()->shown(), QString("models/memory"));
    QVERIFY(std::abs(browser()->top() - link->position) < 400);  // back at the place of the followed link
    QTest::keyClick(browser(), Qt::Key_Right, Qt::AltModifier);
    QCOMPARE(help()->shown(), QString("models/graph"));
    QVERIFY(!help()->forwardButton()->isEnabled());
    QTest::keyClick(browser(), Qt::Key_Left, Qt::AltModifier);
    QCOMPARE(help()->shown(), QString("models/memory"));
    QTest::keyClick(browser(), Qt::Key_Left, Qt::AltModifier);  // the history has no earlier page
    QCOMPARE(help()->shown(), QString("models/memory"));
  }

  void webLinksAreOpenedInTheBrowser() {
    openHelp();
    QDesktopServices::setUrlHandler("https", this, "openOutside");
    const QString before = help()->shown();
    Q_EMIT browser()->highlighted(QUrl("https://example.org/paper"));
    QVERIFY(labelSays(help(), "https://example.org/paper"));
    QVERIFY(opened_.isEmpty());
    Q_EMIT browser()->anchorClicked(QUrl("https://example.org/paper"));
    QDesktopServices::unsetUrlHandler("https");
    QCOMPARE(opened_, QList<QUrl>{QUrl("https://example.org/paper")});
    QCOMPARE(help()->shown(), before);
  }

  void sectionsAreReachedByKeys() {
    window_->showView(1);
    openHelp();
    HelpTree* tree = help()->tree();
    QCOMPARE(tree->currentItem()->text(0), QString("Memory"));
    tree->setFocus();
    QTest::keyClick(tree, Qt::Key_Down);
    QTest::keyClick(tree, Qt::Key_Down);
    QCOMPARE(lineAtTop(), QString("Model states"));
    QTest::keyClick(tree, Qt::Key_Up);
    QCOMPARE(lineAtTop(), QString("Categories"));
  }

  void everyTextIsLegible_data() {
    QTest::addColumn<Theme::Mode>("mode");
    QTest::newRow("light") << Theme::Mode::Light;
    QTest::newRow("dark") << Theme::Mode::Dark;
  }
  void everyTextIsLegible() {
    QFETCH(Theme::Mode, mode);
    openHelp();
    search("stage");
    const QString before = lineAtTop();
    Theme::instance().setMode(mode);
    QCOMPARE(lineAtTop(), before);
    QVERIFY(!browser()->extraSelections().isEmpty());
    const Colors& colors = Theme::instance().colors();
    for (QTextBlock block = browser()->document()->begin(); block.isValid(); block = block.next()) {
      for (auto it = block.begin(); !it.atEnd(); ++it) {
        if (it.fragment().charFormat().isImageFormat()) continue;
        const QColor ink = it.fragment().charFormat().foreground().color();
        for (const QColor& ground : {colors.panel, colors.ground})
          QVERIFY2(contrast(ink, ground) >= 4.5, qPrintable(it.fragment().text()));
      }
    }
    for (const QTextEdit::ExtraSelection& mark : browser()->extraSelections())
      QVERIFY(contrast(mark.format.foreground().color(), mark.format.background().color()) >= 4.5);
    Theme::instance().setMode(Theme::Mode::Light);
  }

  // Every text of a page is laid out, also below pictures.
  void everyTextHasRoom() {
    openHelp();
    HelpLibrary library;
    for (int page = 0; page < library.size(); ++page) {
      help()->open(library.name(page) + ".md");
      QTest::qWait(1);
      const QTextDocument& document = *browser()->document();
      for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (block.text().trimmed().isEmpty()) continue;
        const double height = document.documentLayout()->blockBoundingRect(block).height();
        QVERIFY2(height > 10, qPrintable(library.name(page) + ": " + block.text()));
      }
    }
  }

  void picturesFitTheColumn() {
    openHelp();
    help()->open("guide.md");
    for (const QSize size : {QSize(700, 500), QSize(1700, 900)}) {
      help()->resize(size);
      QTest::qWait(1);
      const QTextFrameFormat page = browser()->document()->rootFrame()->frameFormat();
      const double column = browser()->viewport()->width() - page.leftMargin() - page.rightMargin();
      QVERIFY(column <= 820.5);
      for (QTextBlock block = browser()->document()->begin(); block.isValid(); block = block.next()) {
        for (auto it = block.begin(); !it.atEnd(); ++it) {
          const QTextImageFormat format = it.fragment().charFormat().toImageFormat();
          if (format.isValid()) QVERIFY(format.width() > 100 && format.width() <= column);
        }
      }
      QCOMPARE(browser()->horizontalScrollBar()->maximum(), 0);
    }
  }

  void sizeIsRemembered() {
    openHelp();
    help()->resize(900, 620);
    help()->close();
    closeWindow();
    openWindow();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    openHelp();
    QCOMPARE(help()->size(), QSize(900, 620));
    window_->close();
    QVERIFY(!help()->isVisible());
  }
};

QTEST_MAIN(HelpTest)
#include "help_test.moc"
