#include "ui/shell/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QMimeData>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "base/atomic_write.h"
#include "base/data_dir.h"
#include "base/units.h"
#include "design/document.h"
#include "model/huggingface/hf_files.h"
#include "model/library.h"
#include "report/page_report.h"
#include "ui/form/config_form.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/plot/save_menu.h"
#include "ui/session/comparisons.h"
#include "ui/session/page_settings.h"
#include "ui/shell/about_dialog.h"
#include "ui/shell/autosave.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/commands.h"
#include "ui/shell/document.h"
#include "ui/shell/export_dialog.h"
#include "ui/shell/export_job.h"
#include "ui/shell/frame_clock.h"
#include "ui/shell/importer.h"
#include "ui/shell/launch_text_dialog.h"
#include "ui/shell/machine_dialog.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/model_files.h"
#include "ui/shell/page_commands.h"
#include "ui/shell/panel_room.h"
#include "ui/shell/panes.h"
#include "ui/shell/problems_panel.h"
#include "ui/shell/recent_menu.h"
#include "ui/shell/recovery_bar.h"
#include "ui/shell/report_file.h"
#include "ui/shell/report_job.h"
#include "ui/shell/settings.h"
#include "ui/shell/shortcuts_dialog.h"
#include "ui/shell/status_bar.h"
#include "ui/shell/step_export.h"
#include "ui/shell/step_opener.h"
#include "ui/shell/top_bar.h"
#include "ui/shell/verdict_strip.h"
#include "ui/shell/view_picture.h"
#include "ui/shell/window_help.h"
#include "ui/toolkit/copy_command.h"
#include "ui/toolkit/file_slug.h"
#include "ui/toolkit/save_file_dialog.h"
#include "ui/toolkit/screen_room.h"
#include "ui/toolkit/table_search.h"
#include "ui/views/architecture/architecture_view.h"
#include "ui/views/communication/communication_view.h"
#include "ui/views/compute/compute_view.h"
#include "ui/views/explore/compare_page.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/explore/setup_panel.h"
#include "ui/views/graph/graph_view.h"
#include "ui/views/memory/memory_view.h"
#include "ui/views/serving/serving_page.h"
#include "ui/views/timeline/timeline_view.h"

namespace shardscape::ui {
namespace {

constexpr int kProblemsHeight = 180;
constexpr QSize kWindow(1440, 900), kLeastWindow(600, 360);
// Form and inspector get a share of the width, between their least and largest widths.
int form_width(int width) { return std::clamp(width * 22 / 100, 304, 340); }
int inspector_width(int width) { return std::clamp(width * 21 / 100, 264, 400); }

}  // namespace

MainWindow::MainWindow(Session* session, QWidget* parent)
    : QMainWindow(parent),
      session_(session),
      state_(new SelectionState(session, this)),
      job_(new ExportJob(this)),
      report_(new ReportJob(session_, this)),
      pages_(new PageSettings(this)),
      document_(new Document(session, pages_, this)),
      actions_(makeActions(this, session->undoStack())) {
  build();
  wireFile();
  wireView();
  wireCompare();
  wireHelp();
  setAcceptDrops(true);
  setMinimumSize(kLeastWindow);
  setWindowIcon(QIcon(":/icons/shardscape.svg"));
  resetLayout();
  actions_.views.front()->setChecked(true);
  updateTitle();
  new ModelFiles(session_, message_, this);
  new StepOpener(this);
}

// Deletes the views first: they use the selection state.
MainWindow::~MainWindow() { delete centralWidget(); }

void MainWindow::build() {
  fillMenuBar(menuBar(), actions_);
  auto* page = new QWidget(this);
  top_ = new TopBar(session_, actions_, page);
  message_ = new MessageBar(page);
  recovery_ = new RecoveryBar(page);
  verdict_ = new VerdictStrip(session_, page);
  columns_ = new QSplitter(Qt::Horizontal, page);
  form_ = new ConfigForm(session_, columns_);
  centre_ = new QSplitter(Qt::Vertical, columns_);
  side_ = new QStackedWidget(columns_);
  inspector_ = new InspectorPanel(state_, side_);
  auto* scroll = new QScrollArea(centre_);  // a small window scrolls the view
  scroll->setWidgetResizable(true);
  scroll->setFocusPolicy(Qt::NoFocus);
  tabs_ = new QTabWidget;
  tabs_->setAccessibleName(tr("Views"));
  tabs_->setMinimumSize(kLeastView);  // else the widest page would make every page scroll
  scroll->setWidget(tabs_);
  problems_ = new ProblemsPanel(session_, centre_);
  frame_clock_ = new FrameClock(session_, this);
  panel_room_ = new PanelRoom(this, this);
  panel_room_->add(actions_.inspector, kRoomForBoth);
  panel_room_->add(actions_.form, kRoomForOne);
  status_ = new StatusBar(session_, job_, frame_clock_, page);
  palette_ = new CommandPalette(this);
  panes_ = new Panes({form_, tabs_, problems_, side_}, this);

  tabs_->setDocumentMode(true);
  tabs_->tabBar()->setExpanding(false);
  tabs_->tabBar()->setFocusPolicy(Qt::TabFocus);
  graph_ = new GraphView(state_, tabs_);
  timeline_ = new TimelineView(state_, tabs_, pages_);
  explore_ = new ExploreView(state_, pages_, new ServingPage(state_, nullptr, pages_),
                             makeRequestsPage(state_, pages_, job_, this), tabs_);
  side_->addWidget(inspector_);
  side_->addWidget(explore_->setup());
  memory_ = new MemoryView(state_, tabs_);
  architecture_ = makeArchitecture();
  QWidget* views[] = {
      graph_,   memory_,      new ComputeView(state_, tabs_), new CommunicationView(state_, tabs_), timeline_,
      explore_, architecture_};
  static_assert(std::size(views) == std::size(kViewNames), "every name has a view");
  for (int i = 0; i < viewNames().size(); ++i) tabs_->addTab(views[i], viewNames()[i]);

  for (QSplitter* splitter : {columns_, centre_}) {
    splitter->setHandleWidth(1);
    splitter->setChildrenCollapsible(false);
  }
  columns_->setStretchFactor(1, 1);
  centre_->setStretchFactor(0, 1);

  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  for (QWidget* widget :
       {static_cast<QWidget*>(top_), static_cast<QWidget*>(recovery_), static_cast<QWidget*>(verdict_)})
    layout->addWidget(widget);
  layout->addWidget(columns_, 1);
  layout->addWidget(status_);
  setCentralWidget(page);
  page->setFocusPolicy(Qt::ClickFocus);
  page->setFocus();  // no field has the focus at the start
}

void MainWindow::wireFile() {
  connect(actions_.new_design, &QAction::triggered, document_, &Document::newDesign);
  connect(actions_.open, &QAction::triggered, this, [this] {
    if (const QString path = document_->chooseFile(); !path.isEmpty()) openFile(path);
  });
  connect(actions_.save, &QAction::triggered, document_, &Document::save);
  connect(actions_.save_as, &QAction::triggered, document_, &Document::saveAs);
  connect(actions_.save_picture, &QAction::triggered, this, &MainWindow::saveView);
  connect(actions_.export_trace, &QAction::triggered, this, &MainWindow::exportTrace);
  connect(actions_.report, &QAction::triggered, this, &MainWindow::askForReport);
  connect(actions_.quit, &QAction::triggered, qApp, &QApplication::closeAllWindows);
  connect(actions_.new_window, &QAction::triggered, this, [this] { make_window_(); });
  actions_.new_window->setVisible(false);  // until there is a window maker
  connect(actions_.open_recent->menu<RecentMenu*>(), &RecentMenu::fileRequested, this, &MainWindow::openFile);
  connect(recovery_, &RecoveryBar::restoreRequested, this, &MainWindow::restoreStudy);
  connect(actions_.copy_command, &QAction::triggered, this,
          [this] { copyCommandLine(session_->design(), verdict_); });
  connect(actions_.copy_json, &QAction::triggered, this,
          [this] { copyDesignJson(session_->design(), verdict_); });
  verdict_->addActions({actions_.copy_command, actions_.copy_json});
  verdict_->setContextMenuPolicy(Qt::ActionsContextMenu);
  connect(actions_.export_bundle, &QAction::triggered, this, [this] {
    exportDialog()->show();
    exportDialog()->raise();
    exportDialog()->activateWindow();
  });
  connect(actions_.copy, &QAction::triggered, this, [this] {
    // Sends Ctrl+C to the focused widget, which knows what to copy.
    QKeyEvent press(QEvent::KeyPress, Qt::Key_C, Qt::ControlModifier);
    QApplication::sendEvent(focusWidget() ? focusWidget() : this, &press);
  });
  connect(document_, &Document::failed, message_, &MessageBar::show);
  connect(document_, &Document::succeeded, message_, &QWidget::hide);
  connect(document_, &Document::changed, this, &MainWindow::updateTitle);
  connect(session_, &Session::designChanged, message_, &MessageBar::endNote);
  message_->followJobs({this, session_});
  connect(report_, &ReportJob::written, this,
          [this](const QString& path) { status_->showMessage(tr("Wrote the report to %1").arg(path)); });
  connect(report_, &ReportJob::failed, this, [this](const QString& problem) {
    status_->showMessage({});
    if (!problem.isEmpty()) message_->show(tr("The report was not written. %1").arg(problem));
  });
  connect(session_, &Session::adapted, this, &MainWindow::noteAdapted);
  auto* as_long = new QAction(this);  // sets the context length to the sequence length
  connect(as_long, &QAction::triggered, this, [this] {
    session_->setKnob(QStringLiteral("context_length"), QString::number(session_->design().workload.seq));
  });
  connect(session_, &Session::lengthsDiffer, this, [this, as_long](qint64 context, qint64 seq) {
    const QString of_cache = QString::fromStdString(grouped(context)),
                  of_sequences = QString::fromStdString(grouped(seq));
    message_->note(tr("Decode uses the context length, %1 tokens. The sequence length, %2, applies to "
                      "training and prefill.")
                       .arg(of_cache, of_sequences),
                   as_long, tr("Use %1").arg(of_sequences));
  });
  connect(session_->undoStack(), &QUndoStack::cleanChanged, this, &MainWindow::updateTitle);
  for (const auto signal : {&Session::designChanged, &Session::searchChanged})
    connect(session_, signal, this, &MainWindow::updateTitle);
  connect(session_->comparisons(), &Comparisons::changed, this, &MainWindow::updateTitle);
  connect(pages_, &PageSettings::changed, this, &MainWindow::updateTitle);
}

void MainWindow::wireView() {
  for (int i = 0; i < actions_.views.size(); ++i)
    connect(actions_.views[i], &QAction::triggered, this, [this, i] { showView(i); });
  connect(tabs_, &QTabWidget::currentChanged, this, [this](int index) {
    actions_.views[index]->setChecked(true);
    for (QAction* action : {actions_.zoom_in, actions_.zoom_out, actions_.fit})
      action->setEnabled(tabs_->currentWidget() == graph_ || tabs_->currentWidget() == timeline_ ||
                         tabs_->currentWidget() == explore_);
    placeSide();
  });
  connect(explore_, &ExploreView::pageShown, this, &MainWindow::placeSide);
  connectThemes(actions_);
  connect(actions_.find, &QAction::triggered, this, &MainWindow::find);
  connect(actions_.next_pane, &QAction::triggered, panes_, [this] { panes_->next(true); });
  connect(actions_.previous_pane, &QAction::triggered, panes_, [this] { panes_->next(false); });
  connect(actions_.filter, &QAction::triggered, this, [this] {
    actions_.form->setChecked(true);
    form_->focusFilter();
  });
  const auto either = [this](void (GraphView::*graph)(), void (TimelineView::*timeline)(),
                             void (ExploreView::*explore)()) {
    return [this, graph, timeline, explore] {
      if (tabs_->currentWidget() == explore_) return (explore_->*explore)();
      tabs_->currentWidget() == timeline_ ? (timeline_->*timeline)() : (graph_->*graph)();
    };
  };
  connect(actions_.zoom_in, &QAction::triggered, this,
          either(&GraphView::zoomIn, &TimelineView::zoomIn, &ExploreView::zoomIn));
  connect(actions_.zoom_out, &QAction::triggered, this,
          either(&GraphView::zoomOut, &TimelineView::zoomOut, &ExploreView::zoomOut));
  connect(actions_.fit, &QAction::triggered, this,
          either(&GraphView::fit, &TimelineView::fit, &ExploreView::fit));
  // A link of the inspector opens the timeline.
  connect(state_, &SelectionState::selectionChanged, this, [this](const QObject* by) {
    if (!by && state_->selection().kind == SelectionKind::Span) tabs_->setCurrentWidget(timeline_);
  });
  connect(actions_.form, &QAction::toggled, form_, &QWidget::setVisible);
  connect(actions_.inspector, &QAction::toggled, this, &MainWindow::placeSide);
  connect(actions_.problems, &QAction::toggled, this, &MainWindow::showProblems);
  connect(actions_.machine, &QAction::triggered, this, [this] {
    if (!machine_) {
      machine_ = new MachineDialog(session_, this);
      help_->addTo(machine_, HelpTopic::Machine);
    }
    machine_->show();
    machine_->raise();
    machine_->activateWindow();
  });
  connect(form_, &ConfigForm::architectureRequested, this,
          [this] { tabs_->setCurrentWidget(architecture_); });
  connect(form_, &ConfigForm::machineRequested, actions_.machine, &QAction::trigger);
  connect(actions_.reset_layout, &QAction::triggered, this, [this] {
    settings::forgetLayout(this);
    resetLayout();
  });
  connect(status_, &StatusBar::problemsRequested, actions_.problems, &QAction::toggle);
  connect(verdict_, &VerdictStrip::problemsRequested, this, [this] { actions_.problems->setChecked(true); });
  connect(actions_.find_layout, &QAction::triggered, verdict_, &VerdictStrip::findLayout);
  connect(problems_, &ProblemsPanel::closeRequested, this, [this] { actions_.problems->setChecked(false); });
  connect(verdict_, &VerdictStrip::fieldRequested, session_, &Session::requestField);
  connect(session_, &Session::fieldRequested, this, [this](const QString& id) {
    actions_.form->setChecked(true);
    form_->focusKnob(id);
  });
  connect(problems_, &ProblemsPanel::memoryRequested, this, [this] { tabs_->setCurrentWidget(memory_); });
  connect(session_, &Session::unitsChanged, this, [this] { settings::setUnits(session_->units()); });
}

// The architecture editor draws graphs with the canvas of the graph view.
ArchitectureView* MainWindow::makeArchitecture() {
  auto* scene = new GraphScene(this);
  auto* canvas = new GraphCanvas(scene, tabs_);
  const auto show = [scene](std::shared_ptr<const Report> report) {
    const bool first = scene->expanded().empty();
    scene->setReport(report);
    if (first) scene->expandAll(GraphTree(report).unit_node(1, 0));  // the first layer
  };
  return new ArchitectureView(session_, canvas, show, tabs_);
}

// The right panel: the search setup, nothing for the architecture editor, else the inspector.
void MainWindow::placeSide() {
  side_->setVisible(actions_.inspector->isChecked() && tabs_->currentWidget() != architecture_);
  const bool searches = tabs_->currentWidget() == explore_ && !explore_->usesInspector();
  side_->setCurrentWidget(searches ? static_cast<QWidget*>(explore_->setup()) : inspector_);
}

void MainWindow::wireCompare() {
  Comparisons* pinned = session_->comparisons();
  const auto follow = [this, pinned] {
    actions_.pin->setEnabled(!pinned->full() && pinned->find(session_->design()) < 0);
    actions_.compare_file->setEnabled(!pinned->full());
    for (QAction* action : {actions_.side_by_side, actions_.unpin}) action->setEnabled(pinned->size() > 0);
  };
  connect(pinned, &Comparisons::changed, this, follow);
  connect(session_, &Session::designChanged, this, follow);
  follow();
  connect(actions_.pin, &QAction::triggered, explore_, &ExploreView::pinPresent);
  connect(actions_.compare_file, &QAction::triggered, this, &MainWindow::compareFile);
  connect(explore_, &ExploreView::fileRequested, this, &MainWindow::compareFile);
  connect(actions_.unpin, &QAction::triggered, pinned, &Comparisons::clear);
  connect(actions_.side_by_side, &QAction::triggered, this, [this] {
    tabs_->setCurrentWidget(explore_);
    explore_->showPage(ExploreView::Compare);
  });
}

void MainWindow::wireHelp() {
  connect(actions_.palette, &QAction::triggered, this, [this] {
    palette_->open(paletteCommands(actions_, session_, form_) +
                   pageCommands(explore_, [this] { tabs_->setCurrentWidget(explore_); }));
  });
  help_ = new WindowHelp(this);
  help_->addButton(tabs_);
  wireImport();
  connect(actions_.shortcuts, &QAction::triggered, this, [this] {
    auto* sheet = new ShortcutsDialog(actions_, this);
    sheet->setAttribute(Qt::WA_DeleteOnClose);
    help_->addTo(sheet, HelpTopic::Shortcuts);
    sheet->show();
  });
  connect(actions_.about, &QAction::triggered, this, [this] { showAbout(this); });
}

void MainWindow::wireImport() {
  importer_ = new Importer(session_, document_, message_, help_, this);
  connect(actions_.import_file, &QAction::triggered, importer_, &Importer::choose);
  connect(actions_.paste_launch, &QAction::triggered, importer_, &Importer::paste);
  connect(actions_.open_run, &QAction::triggered, importer_, &Importer::chooseRun);
  connect(actions_.copy_launch, &QAction::triggered, this, [this] {
    auto* dialog = new LaunchTextDialog(session_, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    help_->addTo(dialog, HelpTopic::Import);
    dialog->open();
  });
  connect(importer_, &Importer::architectureRequested, this,
          [this] { tabs_->setCurrentWidget(architecture_); });
}

ExportDialog* MainWindow::exportDialog() {
  if (!export_) {
    export_ = new ExportDialog(session_, job_, this);
    help_->addTo(export_, HelpTopic::Export);
  }
  return export_;
}

void MainWindow::showView(int index) {
  tabs_->setCurrentIndex(index);
  panes_->focus(tabs_->currentWidget());
}

void MainWindow::showView(const QString& name) {
  if (const qsizetype index = viewNames().indexOf(name); index >= 0) showView(static_cast<int>(index));
}

void MainWindow::setWindowMaker(std::function<MainWindow*()> make) {
  make_window_ = std::move(make);
  actions_.new_window->setVisible(true);
}

void MainWindow::keepUnsaved(const QString& folder) {
  autosave_ = new Autosave(session_, document_, folder, this);
  autosave_->setView([this] { return tabs_->tabText(tabs_->currentIndex()); });
  connect(autosave_, &Autosave::failed, message_, &MessageBar::show);
}

HelpWindow* MainWindow::help() const { return help_->documentation(); }

void MainWindow::offerUnsaved(const QString& folder) { recovery_->offer(folder); }

// Unsaved work in this window stays: the study then gets a window of its own.
void MainWindow::restoreStudy(const Recovery& recovery, const std::shared_ptr<StudyFile>& file) {
  MainWindow* window = document_->modified() && make_window_ ? make_window_() : this;
  window->document_->restore(recovery);
  if (window->autosave_) window->autosave_->adopt(file);
  window->showView(QString::fromStdString(recovery.view));
}

void MainWindow::reopenLast() {
  const QString path = settings::lastDocument();
  if (!settings::reopensLast() || !QFileInfo::exists(path)) return;
  const bool ended = settings::openingDocument() == path;
  settings::setOpeningDocument(ended ? QString() : path);
  if (ended)
    return message_->show(
        tr("%1 was not opened: the program ended the last time before it showed a step of it.").arg(path));
  connect(
      session_, &Session::estimateArrived, this, [] { settings::setOpeningDocument({}); },
      Qt::SingleShotConnection);
  document_->openPath(path);
}

void MainWindow::find() {
  QWidget* view = tabs_->currentWidget();
  if (view == timeline_) return timeline_->activateSearch();
  if (QAbstractItemView* table = view == graph_ ? nullptr : TableSearch::tableIn(view)) {
    TableSearch::open(table);
    return;
  }
  tabs_->setCurrentWidget(graph_);
  graph_->activateSearch();
}

void MainWindow::showProblems(bool visible) {
  problems_->setVisible(visible);
  if (visible) problems_->table()->setFocus();
}

// Copies the inspector's text, if no focused widget handled the copy.
void MainWindow::copy() { inspector_->copy(); }

void MainWindow::saveView() {
  const auto picture = [this] {
    return viewPicture(tabs_->currentWidget(), document_->title(), tabs_->tabText(tabs_->currentIndex()));
  };
  auto* menu = new SaveMenu(picture, session_, this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->popup(tabs_->mapToGlobal(
      QPoint(tabs_->width() - menu->sizeHint().width() - 20, tabs_->tabBar()->height() + 4)));
}

void MainWindow::compareFile() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Compare with a design"),
                                                    settings::designFolder(),
                                                    tr("Shardscape designs (*.json);;All files (*)"));
  if (path.isEmpty()) return;
  const auto loaded = load_design(path.toStdString());
  if (const auto* problem = std::get_if<Problem>(&loaded))
    return message_->show(tr("The file was not pinned. %1").arg(QString::fromStdString(to_string(*problem))));
  message_->hide();
  session_->comparisons()->add(std::get<Design>(loaded),
                               QStringLiteral("%1: %2").arg(QFileInfo(path).completeBaseName(),
                                                            Comparisons::nameOf(std::get<Design>(loaded))));
  actions_.side_by_side->trigger();
}

void MainWindow::exportTrace() {
  const QByteArray trace = timeline_->trace();
  if (trace.isEmpty())
    return message_->show(
        tr("There is no timeline to export: the step of this design has not been simulated."));
  const QString suggestion = QDir(settings::designFolder())
                                 .filePath(timeline_->picture().file_name + QStringLiteral(".json"));
  const QString path = askWhereToSave(this, tr("Export timeline for Perfetto"), suggestion,
                                      tr("Trace events (*.json)"), QStringLiteral("json"));
  if (path.isEmpty()) return;
  if (const auto problem = atomic_write(path.toStdString(),
                                        {trace.constData(), static_cast<size_t>(trace.size())}))
    return message_->show(
        tr("The timeline was not exported. %1").arg(QString::fromStdString(to_string(*problem))));
  message_->hide();
}

void MainWindow::askForReport() {
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Write a report"), QDir(settings::designFolder()).filePath(slug(document_->title()) + ".html"),
      reportFilter());
  if (!path.isEmpty()) writeReport(path);
}

void MainWindow::writeReport(const QString& path) {
  if (report_->running())
    return message_->show(
        tr("The report was not written: another one is being written. Try again in a moment."));
  const auto report = session_->report();
  if (!session_->current() || !report || !report->valid())
    return message_->show(tr("The report was not written: the design has problems. Fix them first."));
  session_->waitForEstimate();
  if (const auto estimate = session_->estimate(); !session_->estimated() || !estimate->simulation)
    return message_->show(tr("The report was not written. %1")
                              .arg(QString::fromStdString(estimate ? estimate->no_time_reason : "")));
  const bool comparison = tabs_->currentWidget() == explore_ && explore_->compare()->isVisible() &&
                          session_->comparisons()->size() > 0 && session_->comparisons()->ready();
  message_->hide();
  status_->showMessage(tr("Writing the report"));
  report_->write(path, comparison);
}

void MainWindow::updateTitle() {
  setWindowTitle(document_->title() + "[*] - Shardscape");
  setWindowModified(document_->modified());
  setWindowFilePath(document_->path());
}

void MainWindow::resetLayout() {
  actions_.form->setChecked(true);
  actions_.inspector->setChecked(true);
  actions_.problems->setChecked(false);
  problems_->setVisible(false);
  if (!isVisible()) resizeOnScreen(this, kWindow);
  panel_room_->reset();
  const int form = form_width(width()), inspector = inspector_width(width());
  columns_->setSizes({form, std::max(1, width() - form - inspector), inspector});
  centre_->setSizes({std::max(1, height() - kProblemsHeight), kProblemsHeight});
}

void MainWindow::restoreLayout() {
  if (const QByteArray geometry = settings::windowGeometry(); !geometry.isEmpty()) restoreGeometry(geometry);
  if (const QByteArray state = settings::splitterState(); !state.isEmpty()) columns_->restoreState(state);
  settings::restorePages(this);
  graph_->setFlow(static_cast<FlowChoice>(settings::graphFlow()));
  actions_.form->setChecked(settings::formVisible());
  actions_.inspector->setChecked(settings::inspectorVisible());
  panel_room_->reset();
  tabs_->setCurrentIndex(std::max(0, static_cast<int>(viewNames().indexOf(settings::lastView()))));
}

void MainWindow::rememberLayout() {
  settings::setWindowGeometry(saveGeometry());
  settings::setSplitterState(columns_->saveState());
  settings::rememberPages(this);
  settings::setGraphFlow(static_cast<int>(graph_->flow()));
  settings::setFormVisible(panel_room_->wanted(actions_.form));
  settings::setInspectorVisible(panel_room_->wanted(actions_.inspector));
  settings::setLastView(tabs_->tabText(tabs_->currentIndex()));
  settings::setLastDocument(document_->path());
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!document_->mayDiscard() || !report_->finish()) return event->ignore();
  job_->cancel();  // removes the partial bundle
  rememberLayout();
  if (autosave_) autosave_->finish();
  settings::setOpeningDocument({});
  help_->close();
  event->accept();
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) return copy();
  if (event->matches(QKeySequence::Paste)) return importer_->paste();
  QMainWindow::keyPressEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (Importer::accepts(event->mimeData())) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  event->acceptProposedAction();
  importer_->open(event->mimeData());
}

void MainWindow::noteAdapted(const QString& model, const QStringList& changes, const QString& published) {
  const QString list = changes.join(QStringLiteral(", "));
  const QString text = published.isEmpty() ? tr("Changed to fit %1: %2.").arg(model, list)
                       : changes.isEmpty()
                           ? tr("Set to the published layout of %1: %2.").arg(model, published)
                           : tr("Set to the published layout of %1: %2. Changed to fit: %3.")
                                 .arg(model, published, list);
  message_->note(text, actions_.undo);
}

void MainWindow::openFile(const QString& path) { importer_->openFile(path); }

}  // namespace shardscape::ui
