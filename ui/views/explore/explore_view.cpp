#include "ui/views/explore/explore_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QShowEvent>
#include <QStackedWidget>
#include <QStyle>
#include <QVBoxLayout>

#include "explore/values.h"
#include "memory/estimate.h"
#include "serving/inference.h"
#include "ui/plot/missing_cost_line.h"
#include "ui/plot/save_menu.h"
#include "ui/plot/view_page.h"
#include "ui/selection/selection_state.h"
#include "ui/session/comparisons.h"
#include "ui/session/session.h"
#include "ui/session/staleness.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/file_slug.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/toolkit/wrapping_bar.h"
#include "ui/views/explore/compare_page.h"
#include "ui/views/explore/designs_model.h"
#include "ui/views/explore/designs_page.h"
#include "ui/views/explore/sensitivity_page.h"
#include "ui/views/explore/setup_panel.h"

namespace shardscape::ui {
namespace {

constexpr const char* kDegrees[] = {"tp", "cp", "pp", "dp"};

}  // namespace

ExploreView::ExploreView(SelectionState* state, PageSettings* settings, ViewPage* serving, ViewPage* requests,
                         QWidget* parent)
    : QWidget(parent),
      session_(state->session()),
      job_(new ExploreJob(this)),
      setup_(new SetupPanel(session_, job_, settings, this)),
      serving_(serving),
      requests_(requests) {
  setObjectName(QStringLiteral("explore_view"));
  setup_->setVisible(false);  // until the window places the panel
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(16, 10, 16, 12);
  layout->setSpacing(0);
  layout->addWidget(makeTop());
  layout->addSpacing(4);
  note_ = new QLabel(this);
  note_->setObjectName(QStringLiteral("explore_note"));
  note_->setProperty("role", "small");
  note_->setWordWrap(true);
  layout->addWidget(note_);
  missing_cost_ = new MissingCostLine(session_, this);
  layout->addWidget(missing_cost_);
  layout->addSpacing(4);
  stack_ = new QStackedWidget(this);
  designs_ = new DesignsPage(stack_);
  compare_ = new ComparePage(state, stack_);
  sensitivity_ = new SensitivityPage(SensitivityPage::Kind::Sensitivity, session_, stack_);
  scaling_ = new SensitivityPage(SensitivityPage::Kind::Scaling, session_, stack_);
  for (QWidget* page :
       {static_cast<QWidget*>(designs_), static_cast<QWidget*>(compare_), static_cast<QWidget*>(sensitivity_),
        static_cast<QWidget*>(scaling_), static_cast<QWidget*>(serving_), static_cast<QWidget*>(requests_)})
    stack_->addWidget(page);
  layout->addWidget(stack_, 1);
  followParts(state);
  designs_->setUnits(session_->units());
  designs_->setComparable(Comparisons::kMaxPinned - session_->comparisons()->size(),
                          session_->comparisons()->size());
  followSearch();
  showState();
}

void ExploreView::followParts(SelectionState* state) {
  connect(pages_, &SegmentedControl::chosen, this, &ExploreView::showPage);
  connect(job_, &ExploreJob::started, this, [this] {
    same_search_ = false;
    showPage(Designs);
  });
  connect(job_, &ExploreJob::rowsChanged, this, &ExploreView::followRows);
  connect(job_, &ExploreJob::progressed, this, &ExploreView::showState);
  connect(job_, &ExploreJob::finished, this, [this] {
    if (job_->rows() && !job_->failure()) session_->setSearch(job_->rows()->shared());
    showState();
  });
  connect(session_, &Session::searchChanged, this, &ExploreView::followSearch);
  connect(session_, &Session::documentReplaced, this, [this] {
    if (job_->running()) job_->setResult(nullptr);  // a search of the document before
  });
  connect(setup_, &SetupPanel::runChanged, this, &ExploreView::showRun);
  connect(setup_, &SetupPanel::requestsRequested, this, [this] { showPage(Requests); });
  connect(setup_, &SetupPanel::edited, this, [this] {
    showState();
    showMarked();
  });
  connect(designs_, &DesignsPage::makeCurrentRequested, this, &ExploreView::makeCurrent);
  connect(designs_, &DesignsPage::compareRequested, this, [this](const std::vector<int>& rows) {
    for (const int row : rows)
      if (!session_->comparisons()->full())
        session_->comparisons()->add(designs_->rows()->design(row), designs_->rows()->name(row));
  });
  connect(designs_, &DesignsPage::showComparisonRequested, this, [this] { showPage(Compare); });
  connect(compare_, &ComparePage::makeCurrentRequested, this,
          [this](const Design& design) { session_->setDesign(design, tr("compared design")); });
  connect(compare_, &ComparePage::pinRequested, this, &ExploreView::pinPresent);
  connect(compare_, &ComparePage::fileRequested, this, &ExploreView::fileRequested);
  connect(session_->comparisons(), &Comparisons::changed, this, [this] {
    const int pinned = session_->comparisons()->size();
    showMarked();
    showMissingCost();
    designs_->setComparable(Comparisons::kMaxPinned - pinned, pinned);
    pages_->setLabel(Compare, pinned > 0 ? tr("Compare %1").arg(pinned + 1) : tr("Compare"));
  });
  for (SensitivityPage* page : {sensitivity_, scaling_})
    connect(page, &SensitivityPage::explained, state, &SelectionState::inspect);
  for (ViewPage* page : {static_cast<ViewPage*>(sensitivity_), static_cast<ViewPage*>(scaling_), serving_})
    connect(page, &ViewPage::makeCurrentRequested, this,
            [this](const Design& design, const QString& what) { session_->setDesign(design, what); });
  connect(designs_, &DesignsPage::axesChanged, this, [this] {
    const auto& rows = job_->rows();
    if (!rows) return;
    const auto objective = [&](int column) { return column < 0 ? -1 : rows->column(column).objective; };
    setup_->setFront(objective(designs_->scatter()->columns().x),
                     objective(designs_->scatter()->columns().y));
  });
  connect(session_, &Session::designChanged, this, &ExploreView::showState);
  connect(session_, &Session::computingChanged, this, &ExploreView::showState);
  connect(session_, &Session::estimateChanged, this, &ExploreView::showMarked);
  connect(session_, &Session::unitsChanged, this, [this] { designs_->setUnits(session_->units()); });
}

QStringList ExploreView::pageNames() {
  return {tr("Designs"), tr("Compare"), tr("Sensitivity"), tr("Scaling"), tr("Serving"), tr("Requests")};
}

QWidget* ExploreView::makeTop() {
  auto* top = new WrappingBar({}, this);
  heading_ = new ElidedLabel(top, Theme::instance().uiFont(14, QFont::DemiBold));
  auto* title = new QHBoxLayout;
  title->setSpacing(8);
  title->addWidget(heading_, 1);
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  pages_ = new SegmentedControl(tr("Page"), pageNames(), top);
  pages_->setObjectName(QStringLiteral("explore_pages"));
  row->addWidget(pages_);
  auto* save = new QPushButton(tr("Save"), top);
  save->setAccessibleName(tr("Save the designs"));
  save_menu_ = new SaveMenu([this] { return picture(); }, session_, save);
  save->setMenu(save_menu_);
  save->setMinimumWidth(74);
  run_ = new QPushButton(top);
  run_->setObjectName(QStringLiteral("run_search_here"));
  run_->setVisible(false);
  connect(run_, &QPushButton::clicked, setup_, &SetupPanel::runOrCancel);
  title->addWidget(run_);
  title->addWidget(save);  // a narrow window has no room for it next to the pages
  top->add(title, 1);
  top->add(row, 0);
  setup_->installEventFilter(this);
  return top;
}

// The panel has the Search button. While the panel is hidden (F7) the button is in this view.
bool ExploreView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == setup_ && (event->type() == QEvent::Show || event->type() == QEvent::Hide)) showRun();
  return QWidget::eventFilter(watched, event);
}

void ExploreView::showRun() {
  const QPushButton& run = *setup_->runButton();
  run_->setText(run.text());
  run_->setToolTip(run.toolTip());
  run_->setEnabled(run.isEnabled());
  run_->setShortcut(setup_->isVisible()
                        ? QKeySequence()
                        : QKeySequence(Qt::CTRL | Qt::Key_Return));  // setText() clears the shortcut
  run_->setVisible(isVisible() && !setup_->isVisible() && !usesInspector());
  if (run_->property("primary") != run.property("primary")) {
    run_->setProperty("primary", run.property("primary"));
    run_->style()->unpolish(run_);
    run_->style()->polish(run_);
  }
}

void ExploreView::showPage(int page) {
  pages_->setCurrent(page);
  stack_->setCurrentIndex(page);
  Q_EMIT pageShown();
  showState();
}

bool ExploreView::usesInspector() const { return stack_->currentWidget() != designs_; }

// Another document has another search result, or none.
void ExploreView::followSearch() {
  const auto& search = session_->search();
  if (search == job_->result()) return;
  same_search_ = false;
  job_->setResult(search);
  search ? setup_->showSpaceOf(*search) : setup_->offerDefaults();
}

void ExploreView::followRows() {
  designs_->setRows(job_->rows(), job_->rows() && std::exchange(same_search_, true));
  showMarked();
  showState();
}

QString ExploreView::heading() const {
  const QString design = text_of(session_->design().name);
  if (stack_->currentWidget() == compare_) return tr("Comparison of designs");
  if (stack_->currentWidget() == sensitivity_) return tr("Sensitivity of %1").arg(design);
  if (stack_->currentWidget() == scaling_) return tr("How %1 scales").arg(design);
  if (stack_->currentWidget() == serving_) return tr("Serving %1").arg(design);
  if (stack_->currentWidget() == requests_) return tr("Requests to %1").arg(design);
  const auto& rows = job_->rows();
  if (!rows) return tr("Search for designs");
  const SearchCounts& counts = rows->result().counts;
  if (counts.enumerated == 0)
    return tr("%1 designs to search").arg(grouped_text(rows->result().space->size()));
  QStringList parts{tr("%1 designs").arg(grouped_text(counts.enumerated)),
                    tr("%1 valid").arg(grouped_text(counts.valid())),
                    tr("%1 fit").arg(grouped_text(counts.timed))};
  return parts.join(QStringLiteral(" · "));
}

QString ExploreView::shortHeading() const {
  const auto& rows = job_->rows();
  if (!rows || stack_->currentWidget() != designs_) return {};
  const SearchCounts& counts = rows->result().counts;
  return tr("%1 of %2 fit").arg(grouped_text(counts.timed), grouped_text(counts.enumerated));
}

// True if the panel asks for other numbers of GPUs than were searched.
bool ExploreView::asksForOtherGpus() const {
  if (!job_->rows()) return false;
  const SpaceSpec& spec = job_->rows()->result().space->spec();
  return !spec.gpus.empty() && setup_->spec().gpus != spec.gpus;
}

// True if the current design has another number of GPUs than all designs of the result.
bool ExploreView::designHasOtherGpus() const {
  if (!job_->rows()) return false;
  const SpaceSpec& spec = job_->rows()->result().space->spec();
  if (spec.gpus.empty()) return false;
  const auto ranks = parse_values(*find_knob("dp"), spec.gpus);
  const auto* known = std::get_if<std::vector<std::string>>(&ranks);
  return known &&
         std::find(known->begin(), known->end(), std::to_string(session_->design().world())) == known->end();
}

// A result is stale unless its space and the present design's space differ only in varied knobs.
bool ExploreView::stale() const {
  if (!job_->rows()) return false;
  if (asksForOtherGpus()) return true;
  const SpaceSpec& spec = job_->rows()->result().space->spec();
  Design base = spec.base;
  const Design& now = session_->design();
  const auto follow = [&](std::string_view id) {
    if (const Knob* knob = find_knob(id)) (void)set_knob(base, *knob, knob_text(now, *knob));
  };
  if (spec.find(kModelAxis)) base.model = now.model;
  for (const char* degree : kDegrees) follow(degree);
  for (const auto& [id, values] : spec.dimensions) follow(id);
  base.name = now.name;
  return base != now;
}

void ExploreView::showState() {
  heading_->setText(heading());
  heading_->setShort(shortHeading());
  const bool running = job_->running(), old = !running && stale();
  QString note;
  if (job_->failure() && !running) note = text_of(job_->failure()->what);
  // An invalid design has no number of GPUs.
  else if (!running && job_->rows() && !session_->computing() && !session_->current())
    note = tr(
        "The current design cannot be built, so it is not among these points. The list of problems says why; "
        "any point can replace the design.");
  else if (old && asksForOtherGpus())
    note = tr("These results are for %1 GPUs; the panel asks for %2. Search again.")
               .arg(text_of(job_->rows()->result().space->spec().ranks()), text_of(setup_->spec().gpus));
  else if (old)
    note = tr(
        "These results are for another model, workload or cluster than the current design. Search again for "
        "the current design.");
  else if (!running && designHasOtherGpus())
    note = tr("Your design uses %1 GPUs; these results are for %2, so it is not among them.")
               .arg(grouped_text(session_->design().world()),
                    text_of(job_->rows()->result().space->spec().ranks()));
  else if (!running && job_->rows() && job_->cancelled())
    note = tr("The search was cancelled. These are the designs that it reached.");
  if (running && run_->isVisible()) note = job_->progressText();
  if (stack_->currentWidget() != designs_) note.clear();
  note_->setText(note);
  note_->setVisible(!note.isEmpty());
  setDimmed(designs_->scatter(), old);
  if (running && (!job_->rows() || job_->rows()->rows() == 0))
    designs_->setMessage(tr("Searching…"));
  else if (job_->loading())
    designs_->setMessage(tr("The designs of the document are being read."));
  else if (job_->rows() && job_->rows()->result().counts.enumerated > 0)
    designs_->setMessage(tr("No design of this space can run. \"Left out\" in the panel says why."));
  else
    designs_->setMessage(
        tr("Choose in the panel which settings vary, then press Search. Every valid design that fits appears "
           "here as a point."));
  showRun();
  showMissingCost();
}

// The pages with costs show "-" where the price or the power is unknown. A field sets the value of the
// current design, and of all accelerators of a search.
void ExploreView::showMissingCost() {
  const QWidget* page = stack_->currentWidget();
  std::vector<ClusterSpec> clusters, settable;
  if (page == designs_ && job_->rows()) {
    clusters = settable = job_->rows()->clusters();
  } else if (page == scaling_ || page == requests_ ||
             (page == compare_ && session_->comparisons()->size() > 0)) {
    clusters = settable = {session_->design().cluster};
    for (const PinnedDesign& pinned : session_->comparisons()->all())
      if (page == compare_) clusters.push_back(pinned.design.cluster);
  }
  missing_cost_->setClusters(clusters, settable);
}

// Marks the present design and the pinned designs among the results.
void ExploreView::showMarked() {
  const auto figures_of = [](const Report& report, const Simulation& step) {
    double seconds = step.step_seconds, tokens = step.tokens_per_second;
    if (!trains(report.design)) {
      const InferenceFigures served = inference_figures(report, step);
      seconds = served.seconds;
      tokens = served.tokens_per_second;
    }
    QHash<QString, double> figures{
        {QStringLiteral("step_time"), seconds},
        {QStringLiteral("mfu"), step.mfu},
        {QStringLiteral("bubble"), step.bubble},
        {QStringLiteral("exposed"), step.exposed},
        {QStringLiteral("model_tflops"), step.model_tflops},
        {QStringLiteral("tokens_per_gpu"), tokens / static_cast<double>(std::max<int64_t>(1, report.ranks))},
        {QStringLiteral("gpus"), static_cast<double>(report.ranks)}};
    if (report.memory) {
      const auto used = static_cast<double>(memory_in_use(report, report.memory->peak_stage));
      figures[QStringLiteral("memory")] = used;
      if (report.memory->capacity > 0)
        figures[QStringLiteral("headroom")] = static_cast<double>(report.memory->capacity) - used;
    }
    return figures;
  };
  std::vector<QHash<QString, double>> figures(1);
  if (!stale()) {
    if (session_->estimated() && session_->estimate()->simulation)
      figures.front() = figures_of(*session_->estimate()->report, *session_->estimate()->simulation);
    for (const PinnedDesign& pinned : session_->comparisons()->all())
      figures.push_back(pinned.result.simulation
                            ? figures_of(*pinned.result.report, *pinned.result.simulation)
                            : QHash<QString, double>());
  }
  designs_->setMarked(figures);
}

void ExploreView::pinPresent() {
  session_->comparisons()->add(session_->design(), Comparisons::nameOf(session_->design()));
}

void ExploreView::makeCurrent(int row) {
  const auto& rows = designs_->rows();
  if (!rows || row < 0 || row >= rows->rows()) return;
  session_->setDesign(rows->design(row),
                      tr("design of the search, %1").arg(rows->figures(row, session_->units())));
}

void ExploreView::zoomBy(double factor) {
  auto* page = qobject_cast<ViewPage*>(stack_->currentWidget());
  page ? page->zoomBy(factor) : designs_->zoomBy(factor);
}

void ExploreView::fit() {
  auto* page = qobject_cast<ViewPage*>(stack_->currentWidget());
  page ? page->fit() : designs_->fit();
}

void ExploreView::paintEvent(QPaintEvent*) {
  QPainter(this).fillRect(rect(), Theme::instance().colors().ground);
}

void ExploreView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  showState();
  showMarked();
  showRun();
}

Picture ExploreView::picture() const {
  if (stack_->currentWidget() == compare_) return compare_->picture();
  if (const auto* page = qobject_cast<ViewPage*>(stack_->currentWidget())) return page->picture();
  const QString name = text_of(session_->design().name);
  Picture picture = designs_->scatter()->picture(heading(), slug(name) + QStringLiteral("-explore"));
  picture.title = tr("%1, designs").arg(name);
  if (const auto& rows = job_->rows()) {
    if (rows->goodput())  // the table has the rates, the figures of a search do not
      picture.csv = [table = csv_text(*designs_->model())] { return table; };
    else
      picture.csv = [rows] { return text_of(result_csv(rows->result())); };
    picture.json = [rows] {
      return QByteArray::fromStdString(rows->goodput()
                                           ? goodput_json(*rows->goodput(), rows->goodputOptions())
                                           : result_json(rows->result()));
    };
  }
  return picture;
}

}  // namespace shardscape::ui
