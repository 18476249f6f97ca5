#include "ui/views/trace/trace_window.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <algorithm>

#include "ui/plot/chart_table.h"
#include "ui/session/session.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/screen_room.h"
#include "ui/toolkit/search_field.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/trace/neighbour_canvas.h"
#include "ui/views/trace/rank_timeline_canvas.h"
#include "ui/views/trace/trace_loader.h"
#include "ui/views/trace/trace_models.h"

namespace shardscape::ui {
namespace {

enum Machine { OfBundle, OfDesign, OfFiles };  // of the timeline
constexpr QSize kFirstSize(1120, 720);
constexpr int kAttributes = 300;        // pixels
constexpr int kMostListedRanks = 4096;  // in the choice of ranks

QLabel* caption(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("role", "caption");
  return label;
}

}  // namespace

TraceWindow::TraceWindow(Session* session, QWidget* parent)
    : FileWindow(QStringLiteral("trace"), tr("Trace"),
                 {tr("Overview"), tr("Nodes"), tr("Timeline"), tr("Check")}, parent),
      session_(session),
      loader_(new TraceLoader(this)) {
  addTools();
  message_ = new QLabel(this);
  message_->setObjectName(QStringLiteral("trace_message"));
  message_->setTextFormat(Qt::PlainText);
  message_->setWordWrap(true);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  message_->setVisible(false);
  head()->addWidget(message_);
  for (QWidget* page : {makeOverview(), makeNodes(), makeTimeline(), makeFindings()})
    stack()->addWidget(page);
  resizeOnScreen(this, kFirstSize);
  wire();
}

void TraceWindow::addTools() {
  rankChoice()->setAccessibleName(tr("Rank"));
  rankChoice()->setToolTip(tr("The rank whose nodes and timeline are shown"));
  search_ = new SearchField({tr("Search nodes by name, or by number"), tr("Search nodes"), tr("Search")},
                            this);
  search_->setObjectName(QStringLiteral("trace_search"));
  search_->setAccessibleName(tr("Search nodes"));
  tools()->insertWidget(tools()->indexOf(rankChoice()), new QLabel(tr("Rank"), this));
  tools()->addWidget(search_, 2);
}

QWidget* TraceWindow::makeOverview() {
  auto* page = new QSplitter(Qt::Vertical, this);
  page->setChildrenCollapsible(false);
  const auto part = [&](const QString& heading, ChartTable* of) {
    auto* box = new QWidget(page);
    auto* rows = new QVBoxLayout(box);
    rows->setContentsMargins(0, 0, 0, 4);
    rows->setSpacing(2);
    rows->addWidget(caption(heading, box));
    of->setParent(box);
    rows->addWidget(of, 1);
    page->addWidget(box);
  };
  kinds_ = new TraceKindModel(this);
  comm_ = new TraceCommModel(this);
  classes_ = new TraceClassModel(this);
  kind_table_ = makeTable(QStringLiteral("kinds"), tr("Nodes by kind"), kinds_, page);
  comm_table_ = makeTable(QStringLiteral("comm"), tr("Communication"), comm_, page);
  class_table_ = makeTable(QStringLiteral("classes"), tr("Ranks with equal traces"), classes_, page);
  part(tr("Nodes by kind, of all ranks"), kind_table_);
  part(tr("Communication of all ranks, most bytes first"), comm_table_);
  part(tr("Ranks with equal traces"), class_table_);
  overview_ = page;
  return page;
}

QWidget* TraceWindow::makeNodes() {
  auto* page = new QSplitter(Qt::Vertical, this);
  page->setChildrenCollapsible(false);
  nodes_ = new TraceNodeModel(this);
  attributes_ = new NodeAttributeModel(this);
  node_table_ = makeTable(QStringLiteral("nodes"), tr("Nodes that the search found"), nodes_, page);
  auto* lower = new QSplitter(Qt::Horizontal, page);
  lower->setChildrenCollapsible(false);
  neighbours_ = new NeighbourCanvas(lower);
  attribute_table_ = makeTable(QStringLiteral("attributes"), tr("Attributes of the node"), attributes_,
                               lower);
  lower->addWidget(neighbours_);
  lower->addWidget(attribute_table_);
  lower->setStretchFactor(0, 1);
  lower->setSizes({kFirstSize.width() - kAttributes, kAttributes});
  page->addWidget(node_table_);
  page->addWidget(lower);
  page->setStretchFactor(0, 2);
  page->setStretchFactor(1, 3);
  return page;
}

QWidget* TraceWindow::makeTimeline() {
  auto* page = new QWidget(this);
  timeline_ = new RankTimelineCanvas(page);
  timeline_text_ = caption({}, page);
  timeline_text_->setObjectName(QStringLiteral("trace_timeline_text"));
  timeline_text_->setWordWrap(true);
  machine_ = new QComboBox(page);
  machine_->setObjectName(QStringLiteral("trace_machine"));
  machine_->setAccessibleName(tr("Machine"));
  machine_->addItems(
      {tr("Machine of the bundle"), tr("Machine of the design"), tr("Machine of other files…")});
  machine_->setToolTip(
      tr("Where the traces run: network.yml and system.json of their folder, the cluster of the "
         "design, or other files in the format of ASTRA-sim"));
  auto* line = new QHBoxLayout;
  line->addWidget(timeline_text_, 1);
  line->addWidget(machine_);
  auto* rows = new QVBoxLayout(page);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->addLayout(line);
  rows->addWidget(timeline_, 1);
  return page;
}

QWidget* TraceWindow::makeFindings() {
  findings_ = new TraceFindingModel(this);
  finding_table_ = makeTable(QStringLiteral("findings"), tr("Findings of the checker"), findings_, this);
  finding_table_->setToolTip(tr("A click shows the node"));
  return finding_table_;
}

void TraceWindow::wire() {
  connect(loader_, &TraceLoader::opened, this, &TraceWindow::fill);
  connect(loader_, &TraceLoader::failed, this, &TraceWindow::say);
  connect(loader_, &TraceLoader::progressed, this, [this](double part) {
    loader_->overview() ? timeline_->setMessage(tr("Simulating: %1 %").arg(static_cast<int>(100 * part)))
                        : showProgress(part);
  });
  connect(loader_, &TraceLoader::found, this, [this](const FoundNodes& nodes) {
    found_ = nodes.nodes;
    nodes_->setNodes(found_);
    node_table_->fitColumns();
    search_->setMatches(static_cast<int>(std::min<int64_t>(nodes.count, INT_MAX)));
  });
  connect(loader_, &TraceLoader::lookedAround, this, [this](const Neighbourhood& nodes) {
    say({});
    neighbours_->setNodes(nodes);
    attributes_->setAttributes(nodes.attributes);
    attribute_table_->fitColumns();
  });
  connect(loader_, &TraceLoader::simulated, this, &TraceWindow::showTimeline);
  connect(pages(), &SegmentedControl::chosen, this, [this](int page) { showPage(static_cast<Page>(page)); });
  connect(rankChoice(), &QComboBox::currentIndexChanged, this, &TraceWindow::followRank);
  connect(search_, &SearchField::searched, this, &TraceWindow::find);
  connect(search_, &SearchField::entered, this, [this](int match) {
    if (match >= static_cast<int>(found_.size())) return;
    node_table_->showRow(match);
    showNode(rank(), found_[static_cast<size_t>(match)].id);
  });
  connect(node_table_, &ChartTable::rowSelected, this,
          [this](int row) { loader_->lookAround(rank(), found_[static_cast<size_t>(row)].id); });
  connect(neighbours_, &NeighbourCanvas::centreRequested, this,
          [this](quint64 node) { loader_->lookAround(rank(), node); });
  connect(timeline_, &RankTimelineCanvas::nodeActivated, this,
          [this](quint64 node) { showNode(rank(), node); });
  connect(finding_table_, &ChartTable::rowSelected, this, [this](int row) {
    const Finding& finding = loader_->overview()->check->findings[static_cast<size_t>(row)];
    if (finding.rank >= 0 && finding.node >= 0) showNode(finding.rank, static_cast<quint64>(finding.node));
  });
  connect(machine_, &QComboBox::activated, this, &TraceWindow::chooseMachine);
  connect(new QShortcut(QKeySequence::Find, this), &QShortcut::activated, search_, [this] {
    showPage(Nodes);
    search_->activate();
  });
  connect(new QShortcut(QKeySequence::Close, this), &QShortcut::activated, this, &QWidget::close);
}

void TraceWindow::open(const QString& path) {
  showReading(path, tr("%1 – trace"));
  say(QString());
  loader_->open(path);
}

TraceWindow::Page TraceWindow::page() const { return static_cast<Page>(pages()->current()); }

void TraceWindow::showPage(Page page) {
  setCurrentPage(page);
  if (page == Nodes && found_.empty() && loader_->overview()) find();
  if (page == Timeline) simulate();
}

void TraceWindow::showNode(qint64 rank, quint64 node) {
  chooseRank(rank);
  showPage(Nodes);
  loader_->lookAround(rank, node);
}

// The list has the first ranks, and others that were asked for.
void TraceWindow::chooseRank(qint64 rank) {
  if (rankChoice()->findData(rank) < 0 && loader_->ranks().contains(rank))
    rankChoice()->addItem(grouped_text(rank), rank);
  if (const int at = rankChoice()->findData(rank); at >= 0) rankChoice()->setCurrentIndex(at);
}

qint64 TraceWindow::rank() const { return rankChoice()->currentData().toLongLong(); }

void TraceWindow::say(const QString& message) {
  message_->setText(message);
  message_->setVisible(!message.isEmpty());
  if (!loader_->overview() && !message.isEmpty()) facts()->setText(QString());
}

void TraceWindow::fill() {
  const TraceOverview& of = *loader_->overview();
  const KindTotals totals = of.totals();
  const TraceHeader& header = of.summary.classes.front().summary.header;
  QStringList known{counted_text(of.summary.ranks, tr("rank"), tr("ranks")),
                    counted_text(totals.nodes, tr("node"), tr("nodes"))};
  if (totals.flops > 0) known << flops_text(totals.flops);
  known << bytes_text(of.summary.file_bytes, session_->units()) + tr(" of files") << text_of(header.form);
  if (!header.simulated) known << tr("no simulator reads this form");
  facts()->setText(known.join(QStringLiteral(" · ")));
  kinds_->setKinds(of.summary.kinds, session_->units());
  comm_->setComm(comm_rows(of), session_->units());
  classes_->setClasses(of.summary.classes);
  QList<int> heights;
  for (ChartTable* one : {kind_table_, comm_table_, class_table_}) {
    one->fitColumns();
    heights << one->fullHeight();
  }
  overview_->setSizes(heights);
  if (of.summary.ranks > 1) setName(QFileInfo(loader_->folder()).fileName());
  findings_->setFindings(of.check ? of.check->findings : std::vector<Finding>());
  finding_table_->fitColumns();
  const qint64 count = of.check ? finding_count(of.check->findings, true) +
                                      finding_count(of.check->findings, false)
                                : 0;
  pages()->setLabel(Findings, count > 0 ? tr("Check (%L1)").arg(count) : tr("Check"));
  pages()->button(Findings)->setEnabled(of.check.has_value());
  pages()->button(Findings)->setToolTip(of.check
                                            ? tr("What simulators would not accept")
                                            : tr("A folder with network.yml and system.json is checked"));
  const auto* machines = qobject_cast<QStandardItemModel*>(machine_->model());
  machines->item(OfBundle)->setEnabled(loader_->hasMachine());
  if (!loader_->hasMachine()) machine_->setCurrentIndex(OfDesign);
  simulated_ = {-1, -1};
  const QSignalBlocker quiet(rankChoice());
  rankChoice()->clear();
  const QList<qint64> ranks = loader_->ranks();
  for (int i = 0; i < std::min<qsizetype>(ranks.size(), kMostListedRanks); ++i)
    rankChoice()->addItem(grouped_text(ranks[i]), ranks[i]);
  rankChoice()->setCurrentIndex(0);
  chooseRank(loader_->firstRank());
  if (page() != Overview) showPage(page());
}

// A number is a node; any other text is part of a name.
void TraceWindow::find() {
  const QString text = search_->text().trimmed();
  bool number = false;
  const quint64 node = text.toULongLong(&number);
  if (!text.isEmpty() && page() != Nodes) showPage(Nodes);
  if (number) return loader_->lookAround(rank(), node);
  loader_->find(rank(), text);
}

void TraceWindow::followRank() {
  neighbours_->clearNodes();
  attributes_->setAttributes({});
  found_.clear();
  nodes_->setNodes(found_);
  if (page() == Timeline) simulate();
  if (page() == Nodes) find();
}

void TraceWindow::simulate() {
  if (!loader_->overview()) return;
  const int machine = machine_->currentIndex();
  const std::pair<qint64, int> wanted{rank(), machine};
  if (std::exchange(simulated_, wanted) == wanted) return;
  timeline_->setTimeline(nullptr);
  timeline_text_->setText(QString());
  timeline_->setMessage(tr("Simulating…"));
  const std::shared_ptr<const Report> report = session_->report();
  if (machine == OfFiles) return loader_->simulate(rank(), network_, system_);
  if (machine == OfBundle) return loader_->simulate(rank());
  if (report && report->valid()) return loader_->simulate(rank(), report);
  timeline_->setMessage(tr("Fix the design first: its machine runs the traces."));
}

void TraceWindow::showTimeline(std::shared_ptr<const RankTimeline> timeline) {
  constexpr double kCycle = 1e-9;  // seconds
  const SimulationReport& of = timeline->simulation;
  QString text = tr("The step takes %1 (%2 cycles of ASTRA-sim)")
                     .arg(seconds_text(kCycle * static_cast<double>(of.cycles())), grouped_text(of.cycles()));
  if (!of.finished) text = tr("The simulation stops: a rank waits for a node that never runs.");
  if (const auto error = std::find_if(of.findings.begin(), of.findings.end(),
                                      [](const Finding& one) { return one.error; });
      error != of.findings.end())
    text += QStringLiteral(" ") + text_of(error->message);
  timeline_text_->setText(text);
  timeline_->setTimeline(std::move(timeline));
}

void TraceWindow::chooseMachine() {
  if (machine_->currentIndex() == OfFiles) {
    network_ = QFileDialog::getOpenFileName(this, tr("Network of the machine"), loader_->folder(),
                                            tr("Network (*.yml *.yaml);;All files (*)"));
    if (!network_.isEmpty())
      system_ = QFileDialog::getOpenFileName(this, tr("System of the machine"), network_,
                                             tr("System (*.json);;All files (*)"));
    if (network_.isEmpty() || system_.isEmpty()) return machine_->setCurrentIndex(OfDesign);
  }
  simulated_ = {-1, -1};
  simulate();
}

}  // namespace shardscape::ui
