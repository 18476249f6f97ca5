#include "ui/views/serving/serving_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "explore/values.h"
#include "report/inference_report.h"
#include "serving/within_limits.h"
#include "ui/plot/chart_table.h"
#include "ui/selection/selection_state.h"
#include "ui/session/page_settings.h"
#include "ui/session/session.h"
#include "ui/session/staleness.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/file_slug.h"
#include "ui/toolkit/invalid_mark.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/page_splitter.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/views/serving/limit_fields.h"
#include "ui/views/serving/serving_answer.h"
#include "ui/views/serving/serving_chart.h"
#include "ui/views/serving/serving_inspection.h"
#include "ui/views/serving/serving_model.h"

namespace shardscape::ui {
namespace {

constexpr int kTypingMs = 250, kPatienceMs = 150;
constexpr double kTableShare = 0.34;  // the most of the page's height
constexpr int kLeastTable = 118;

// Clears batch and context, on which a sweep does not depend.
Design without_batch(Design design) {
  const WorkloadSpec plain;
  WorkloadSpec& w = design.workload;
  w.mode = Mode::Decode;
  w.batch = plain.batch;
  w.microbatch = plain.microbatch;
  w.seq = plain.seq;
  w.context_length = plain.context_length;
  return design;
}

int64_t context_of(const Design& design) {
  return design.workload.mode == Mode::Decode ? design.workload.context_length : design.workload.seq;
}

// Empty if the design has no step, or another mode.
std::optional<ServingCanvas::Present> itself(const Report* report, const Simulation* simulation, Mode mode) {
  if (!report || !simulation || report->design.workload.mode != mode) return std::nullopt;
  return ServingCanvas::Present{report->design.workload.batch, context_of(report->design),
                                inference_figures(*report, *simulation)};
}

// "1, 2, 4 … 2,048"
QString range_text(const std::vector<int64_t>& values) {
  QStringList words;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values.size() > 4 && i == 3) {
      words.back() += QStringLiteral(" … ") + grouped_text(values.back());
      break;
    }
    words << grouped_text(values[i]);
  }
  return words.join(QStringLiteral(", "));
}

std::pair<std::vector<int64_t>, std::vector<int64_t>> ranges_of(const ServingSweep& sweep) {
  std::pair<std::vector<int64_t>, std::vector<int64_t>> out;
  for (const auto& [context, _] : sweep.largest) out.second.push_back(context);
  for (const ServedPoint& p : sweep.points)
    if (p.requested && p.context == out.second.front()) out.first.push_back(p.batch);
  return out;
}

}  // namespace

ServingPage::ServingPage(SelectionState* state, QWidget* parent, PageSettings* pages)
    : ViewPage(parent),
      state_(state),
      session_(state->session()),
      pages_(pages ? pages : new PageSettings(this)),
      comparison_(
          state->session()->comparisons(), this,
          [](const ComparedDesign& of, const Ranges& ranges, std::stop_token stop) {
            return std::make_shared<const ServingSweep>(
                sweep(of.report->design, ranges.first, ranges.second, stop, {}, of.report->cache));
          },
          [this] { fill(); }) {
  setObjectName(QStringLiteral("serving_page"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  stack_ = new QStackedWidget(this);
  layout->addWidget(stack_);
  auto* body = new QWidget(stack_);
  auto* rows = new QVBoxLayout(body);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(6);
  rows->addWidget(makeTools());
  issue_ = new IssueLine(body);
  issue_->setVisible(false);
  rows->addWidget(issue_);
  rows->addWidget(new LimitFields(pages_, body));
  splitter_ = new PageSplitter(QStringLiteral("serving"), body);
  rows->addWidget(splitter_, 1);
  pictures_ = new QStackedWidget(splitter_);
  chart_ = new ServingChart(pictures_);
  map_ = new ServingMap(pictures_);
  message_ = new QLabel(pictures_);
  message_->setProperty("role", "secondary");
  message_->setAlignment(Qt::AlignCenter);
  message_->setWordWrap(true);
  for (QWidget* widget :
       {static_cast<QWidget*>(chart_), static_cast<QWidget*>(map_), static_cast<QWidget*>(message_)})
    pictures_->addWidget(widget);
  splitter_->addWidget(pictures_);
  lower_ = new QWidget(splitter_);
  auto* lower = new QVBoxLayout(lower_);
  lower->setContentsMargins(0, 0, 0, 0);
  lower->addWidget(makeCaption());
  table_ = new ChartTable(lower_);
  table_->setAccessibleName(tr("Table: batches and contexts"));
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->installEventFilter(this);
  model_ = new ServingModel(this);
  table_->setTable(model_);
  lower->addWidget(table_, 1);
  splitter_->addWidget(lower_);
  stack_->addWidget(body);
  stack_->addWidget(makeInvitation());

  typing_.setSingleShot(true);
  typing_.setInterval(kTypingMs);
  connect(&typing_, &QTimer::timeout, this, &ServingPage::refresh);
  dim_delay_.setSingleShot(true);
  dim_delay_.setInterval(kPatienceMs);
  connect(&dim_delay_, &QTimer::timeout, this, &ServingPage::showState);
  for (ServingCanvas* canvas : {static_cast<ServingCanvas*>(chart_), static_cast<ServingCanvas*>(map_)}) {
    connect(canvas, &ServingCanvas::pointSelected, this, &ServingPage::selectPoint);
    connect(canvas, &ServingCanvas::makeCurrentRequested, this, &ServingPage::makeCurrent);
  }
  connect(table_, &ChartTable::rowSelected, this, &ServingPage::selectPoint);
  connect(table_, &QTableView::doubleClicked, this,
          [this](const QModelIndex& index) { makeCurrent(table_->sorted()->mapToSource(index).row()); });
  connect(session_, &Session::designChanged, this, &ServingPage::refresh);
  connect(pages_, &PageSettings::changed, this, &ServingPage::refresh);
  connect(session_, &Session::estimateChanged, this, &ServingPage::showPresent);
  connect(session_, &Session::computingChanged, this, &ServingPage::showState);
  connect(session_, &Session::unitsChanged, this, &ServingPage::fill);
  const auto restyle = [this] { limits_->setInk(Theme::instance().colors().secondary); };
  connect(&Theme::instance(), &Theme::changed, this, restyle);
  restyle();
  fill();
}

QWidget* ServingPage::makeTools() {
  auto* tools = new QWidget(this);
  auto* row = new QHBoxLayout(tools);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(6);
  const auto field = [&](const QString& label, const QString& name, const QString& tip) {
    auto* words = new QLabel(label, tools);
    words->setProperty("role", "small");
    row->addWidget(words);
    auto* out = new QLineEdit(tools);
    out->setObjectName(name);
    out->setAccessibleName(label);
    out->setToolTip(QStringLiteral("<p>") + tip + QStringLiteral("</p>"));
    out->setMaximumWidth(240);
    out->setMinimumWidth(90);
    words->setBuddy(out);
    connect(out, &QLineEdit::textEdited, this, [this] { typing_.start(); });
    connect(out, &QLineEdit::returnPressed, this, [this] {
      typing_.stop();
      refresh();
    });
    row->addWidget(out, 1);
    row->addSpacing(6);
    return out;
  };
  const QString words = tr(
      "Numbers such as 1,8,64, or a range: 1..64*2 for powers, 1024..8192+1024 for steps.");
  batches_ = field(tr("Batches"), QStringLiteral("serving_batches"),
                   tr("Sequences that are served at once, over all replicas. %1 Empty: up to a dozen "
                      "batches, from the smallest for this layout to one that no longer fits.")
                       .arg(words));
  contexts_ = field(tr("Contexts"), QStringLiteral("serving_contexts"),
                    tr("Tokens of each prompt, and tokens before each output token in decode. %1 Empty: "
                       "1,024 to 65,536, and the context of the design.")
                        .arg(words));
  stop_ = new QPushButton(tools);
  stop_->setObjectName(QStringLiteral("serving_stop"));
  stop_->setProperty("link", true);
  stop_->setVisible(false);
  connect(stop_, &QPushButton::clicked, this, [this] {
    if (working_) return cancel();
    cancelled_ = false;
    refresh();
  });
  row->addWidget(stop_);
  row->addStretch(0);
  figure_ = new QComboBox(tools);
  figure_->setObjectName(QStringLiteral("serving_figure"));
  figure_->setAccessibleName(tr("Figure of the map"));
  for (int i = 0; i < kServingFigureCount; ++i)
    figure_->addItem(ServingMap::word(static_cast<ServingFigure>(i)));
  figure_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  figure_->setMinimumContentsLength(12);
  figure_->setMaximumWidth(180);
  figure_->setVisible(false);
  connect(figure_, &QComboBox::activated, this,
          [this](int index) { map_->setFigure(static_cast<ServingFigure>(index)); });
  row->addWidget(figure_, 1);
  picture_switch_ = new SegmentedControl(tr("Picture"), {tr("Curves"), tr("Map")}, tools);
  picture_switch_->setObjectName(QStringLiteral("serving_which"));
  connect(picture_switch_, &SegmentedControl::chosen, this, &ServingPage::showState);
  row->addWidget(picture_switch_);
  return tools;
}

QWidget* ServingPage::makeCaption() {
  auto* caption = new QWidget(this);
  auto* row = new QHBoxLayout(caption);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(6);
  limits_ = new ElidedLabel(caption, Theme::instance().uiFont(12));
  limits_->setObjectName(QStringLiteral("serving_limits"));
  selection_text_ = new ElidedLabel(caption, Theme::instance().uiFont(12, QFont::DemiBold));
  selection_text_->setObjectName(QStringLiteral("serving_selected"));
  row->addWidget(limits_, 1);
  row->addWidget(selection_text_, 1);
  make_current_ = new QPushButton(tr("Make current"), caption);
  make_current_->setObjectName(QStringLiteral("take_point"));
  connect(make_current_, &QPushButton::clicked, this, [this] { makeCurrent(chart_->selected()); });
  row->addWidget(make_current_);
  return caption;
}

QWidget* ServingPage::makeInvitation() {
  auto* page = new QWidget(this);
  auto* rows = new QVBoxLayout(page);
  rows->addStretch(1);
  invitation_ = new QLabel(
      tr("This is a training design. Serving has two phases: prefill processes the prompts (time to first "
         "token), decode generates tokens one by one (time per output token). In either mode this page shows "
         "both phases over batches and contexts, and the largest batches that fit."),
      page);
  invitation_->setProperty("role", "secondary");
  invitation_->setAlignment(Qt::AlignCenter);
  invitation_->setWordWrap(true);
  invitation_->setFixedWidth(520);
  auto* middle = new QHBoxLayout;  // a layout supports height-for-width, an alignment does not
  middle->addStretch(1);
  middle->addWidget(invitation_);
  middle->addStretch(1);
  rows->addLayout(middle);
  rows->addSpacing(10);
  auto* line = new QHBoxLayout;
  line->addStretch(1);
  const std::tuple<QString, const char*, Mode> ways[] = {
      {tr("Switch to decode"), "serve_decode", Mode::Decode},
      {tr("Switch to prefill"), "serve_prefill", Mode::Prefill}};
  for (const auto& [text, name, mode] : ways) {
    auto* button = new QPushButton(text, page);
    button->setObjectName(QString::fromLatin1(name));
    button->setToolTip(
        tr("Keeps the batch, in microbatches that fill the pipeline (decode rounds the batch up until it "
           "splits evenly). The sequence length becomes the context. Undo returns to training."));
    connect(button, &QPushButton::clicked, this, [this, mode = mode] { enter(mode); });
    line->addWidget(button);
  }
  line->addStretch(1);
  rows->addLayout(line);
  rows->addStretch(1);
  return page;
}

Mode ServingPage::mode() const { return session_->design().workload.mode; }
ServingCanvas* ServingPage::canvas() const {
  return picture_switch_->current() == 1 ? static_cast<ServingCanvas*>(map_) : chart_;
}

void ServingPage::enter(Mode mode) {
  const Design& now = session_->design();
  Q_EMIT makeCurrentRequested(serving_design(now, mode, now.workload.batch, now.workload.seq),
                              mode == Mode::Decode ? tr("switch to decode") : tr("switch to prefill"));
  canvas()->setFocus();
}

std::optional<ServingPage::SweepRequest> ServingPage::requestFromFields() {
  SweepRequest out{without_batch(session_->design()), {}, {}, pages_->pages().limits};
  const std::tuple<QLineEdit*, const char*, std::vector<int64_t>*> fields[] = {
      {batches_, "batch", &out.batches}, {contexts_, "context_length", &out.contexts}};
  std::optional<Problem> wrong;
  for (const auto& [field, knob, values] : fields) {
    auto read = sweep_values(*find_knob(knob), field->text().toStdString());
    const auto* problem = std::get_if<Problem>(&read);
    markInvalid(field, problem);
    if (!problem)
      *values = std::get<0>(std::move(read));
    else if (!wrong)
      wrong = *problem;
  }
  if (!wrong) {
    issue_->setVisible(false);
    return out;
  }
  issue_->show(text_of(wrong->what), text_of(wrong->accepted), tr("Use defaults"), [this] {
    for (QLineEdit* field : {batches_, contexts_})
      if (field->property("knob").isValid()) field->clear();
    refresh();
  });
  return std::nullopt;
}

// Default ranges include the batch and context of the design. The sweep is still valid while these are among
// its points.
bool ServingPage::covers(const SweepRequest& request) const {
  SweepRequest other_limits = shown_request_;
  other_limits.limits = request.limits;
  if (!shown_ || other_limits != request) return false;
  const auto any = [&](const auto& is) {
    return std::any_of(shown_->points.begin(), shown_->points.end(), is);
  };
  const Design& now = session_->design();
  return (!request.batches.empty() ||
          any([&](const ServedPoint& p) { return p.batch == now.workload.batch; })) &&
         (!request.contexts.empty() ||
          any([&](const ServedPoint& p) { return p.context == context_of(now); }));
}

bool ServingPage::ready() const {
  return shown_ && !working_ && !cancelled_ && issue_->isHidden() && shown_request_ == request_;
}

void ServingPage::refresh() {
  if (!isVisible()) return;
  if (trains(session_->design())) {
    job_.stop();
    working_ = false;
    return fill();
  }
  const std::optional<SweepRequest> request = requestFromFields();
  if (!request) return showState();
  if (covers(*request) && shown_request_.limits == request->limits) {
    if (working_) job_.stop();
    working_ = cancelled_ = false;
    request_ = *request;
    return fill();
  }
  work(*request);
  fill();
}

// In the thread of the job.
ServingSweep ServingPage::swept(const Design& design, const SweepRequest& request, std::stop_token stop,
                                const NewestJob::Post& post, const std::shared_ptr<PlanCache>& plans) {
  const std::vector<int64_t> contexts = request.contexts.empty() ? usual_contexts(design) : request.contexts;
  const std::vector<int64_t> batches = request.batches.empty() ? usual_batches(design, contexts, stop, plans)
                                                               : request.batches;
  return sweep(
      design, batches, contexts, stop,
      [&](size_t done, size_t of) {
        post([this, done, of] {
          done_ = done;
          of_ = of;
          showState();
        });
      },
      plans);
}

void ServingPage::work(const SweepRequest& request) {
  request_ = request;
  working_ = true;
  cancelled_ = false;
  done_ = of_ = 0;
  dim_delay_.start();
  // Other limits need no new sweep.
  const std::shared_ptr<const ServingSweep> known = covers(request) ? shown_ : nullptr;
  job_.start([this, request, known, design = session_->design(), plans = session_->plans()](
                 const NewestJob::Post& post, std::stop_token stop) {
    auto made = std::make_shared<ServingSweep>(known ? *known : swept(design, request, stop, post, plans));
    find_within_limits(*made, request.limits, stop, plans);
    if (stop.stop_requested()) return;
    post([this, made = std::shared_ptr<const ServingSweep>(std::move(made)), request] {
      working_ = false;
      shown_ = made;
      shown_request_ = request;
      fill();
    });
  });
}

void ServingPage::cancel() {
  job_.stop();
  working_ = false;
  cancelled_ = true;
  showState();
}

void ServingPage::fill() {
  const bool serves = !trains(session_->design());
  stack_->setCurrentIndex(serves ? 0 : 1);
  if (!serves) return explain();
  if (shown_ && !shown_->largest.empty()) {
    if (isVisible() && !working_) comparison_.show(ranges_of(*shown_));
    std::vector<ServingCanvas::OtherDesign> others;
    for (const auto& one : comparison_.all())
      others.push_back(
          {one.member, one.result, itself(one.design.report.get(), one.design.simulation.get(), mode())});
    phase_ = shown_;
    if (mode() != Mode::Decode) {  // the largest fitting batch is a question of decode
      auto requested = std::make_shared<ServingSweep>(*shown_);
      std::erase_if(requested->points, [](const ServedPoint& p) { return !p.requested && !p.within; });
      phase_ = std::move(requested);
    }
    const bool fresh = std::exchange(filled_, shown_) != shown_;
    for (ServingCanvas* canvas : {static_cast<ServingCanvas*>(chart_), static_cast<ServingCanvas*>(map_)}) {
      canvas->setSweep(phase_, mode(), session_->units());
      canvas->setComparedDesigns(others);
    }
    model_->setSweep(*phase_, mode(), others, session_->units());
    table_->leaveOut(ServingModel::leftOut(mode()));
    fitTable();
    QMetaObject::invokeMethod(this, &ServingPage::fitTable,
                              Qt::QueuedConnection);  // once the table has its width
    const auto ranges = ranges_of(*shown_);
    batches_->setPlaceholderText(shown_request_.batches.empty() ? range_text(ranges.first) : tr("default"));
    contexts_->setPlaceholderText(shown_request_.contexts.empty() ? range_text(ranges.second)
                                                                  : tr("default"));
    if (chart_->selected() >= 0)
      table_->showRow(chart_->selected());
    else if (fresh)
      scrollToPresent();
  }
  showPresent();
  showState();
  explain();
}

void ServingPage::fitTable() {
  const int table = table_->heightUpTo(std::max(kLeastTable, static_cast<int>(height() * kTableShare)));
  splitter_->suggest(
      {0, lower_->layout()->itemAt(0)->sizeHint().height() + lower_->layout()->spacing() + table});
}

// Scrolls the table to the context of the present design.
void ServingPage::scrollToPresent() {
  for (size_t row = 0; row < phase_->points.size(); ++row)
    if (phase_->points[row].context == context_of(session_->design()))
      return table_->scrollTo(table_->sorted()->mapFromSource(model_->index(static_cast<int>(row), 0)),
                              QAbstractItemView::PositionAtTop);
}

void ServingPage::showPresent() {
  std::optional<ServingCanvas::Present> now;
  if (session_->estimated())
    now = itself(session_->estimate()->report.get(), session_->estimate()->simulation.get(), mode());
  for (ServingCanvas* canvas : {static_cast<ServingCanvas*>(chart_), static_cast<ServingCanvas*>(map_)})
    canvas->setPresent(now);
}

void ServingPage::showState() {
  const bool any = shown_ && !shown_->points.empty(), late = working_ && !dim_delay_.isActive();
  QString text;
  if (working_)
    text = of_ > 0 ? tr("Computing: %1 of %2").arg(done_).arg(of_) : tr("Computing…");
  else if (cancelled_)
    text = tr("The sweep was cancelled.");
  message_->setText(text);
  pictures_->setCurrentWidget(any ? static_cast<QWidget*>(canvas()) : message_);
  figure_->setVisible(picture_switch_->current() == 1);
  for (QWidget* widget : {static_cast<QWidget*>(pictures_), static_cast<QWidget*>(table_)})
    setDimmed(widget, any && (late || cancelled_ || !issue_->isHidden()));
  table_->setVisible(any);
  stop_->setVisible(late || cancelled_);
  stop_->setText(working_ ? tr("Cancel") : tr("Compute"));
  const int at = any ? chart_->selected() : -1;
  QString limits = any && working_ && late ? text : QString();
  if (any && limits.isEmpty()) limits = cancelled_ ? text : caption();
  limits_->setText(limits);
  limits_->setVisible(at < 0);
  selection_text_->setVisible(at >= 0);
  selection_text_->setText(at >= 0 ? chart_->summary(at) : QString());
  const bool can = at >= 0 && chart_->phase(at).valid();
  make_current_->setVisible(any);
  make_current_->setEnabled(can);
  make_current_->setToolTip(
      can ? tr("Sets batch and context of the current design to this point, in microbatches that fill the "
               "pipeline (decode rounds the batch up until it splits evenly). Undo reverts this (double "
               "click, Enter)")
          : tr("Select a point first. Its batch and context replace those of the current design"));
}

QString ServingPage::caption() const {
  const bool runs = std::any_of(shown_->points.begin(), shown_->points.end(), [&](const ServedPoint& p) {
    return mode() == Mode::Decode ? p.decode.valid() : p.prefill.valid();
  });
  if (!runs) return tr("No point can run: %1").arg(text_of(point_problem(shown_->points.front())->what));
  if (!session_->computing() && !session_->current())
    return tr("The current design cannot be built. Double click a point or press Enter to replace it");
  if (const int64_t context = answered_context(*shown_, context_of(session_->design())))
    return tr("%1, %2 tokens: %3")
        .arg(limits_words(shown_->limits), grouped_text(context), answer_words(*shown_, context));
  QStringList parts;
  for (const auto& [context, batch] : shown_->largest) {
    const QString most = batch > 0 ? grouped_text(batch) : tr("none");
    parts << (parts.isEmpty()
                  ? (batch > 0 ? tr("At most %1 sequences of %2 tokens fit").arg(most, grouped_text(context))
                               : tr("No sequences of %1 tokens fit").arg(grouped_text(context)))
                  : tr("%1 of %2").arg(most, grouped_text(context)));
  }
  const QString all = parts.join(QStringLiteral(", "));
  return mode() == Mode::Decode ? all : tr("In decode %1").arg(all.left(1).toLower() + all.mid(1));
}

void ServingPage::selectPoint(int at) {
  chart_->setSelected(at);
  map_->setSelected(at);
  table_->showRow(at);
  showState();
  explain();
}

void ServingPage::explain() {
  if (!isVisible()) return;
  if (trains(session_->design()) || !phase_ || phase_->points.empty()) return state_->inspect({});
  const int at = chart_->selected();
  state_->inspect(at >= 0 ? inspect_served_point(*chart_, at, mode(), session_->units())
                          : inspect_sweep(*phase_, mode()));
}

void ServingPage::makeCurrent(int at) {
  if (at < 0 || at >= chart_->points() || !chart_->phase(at).valid()) return;
  const ServedPoint point = chart_->point(at);
  Q_EMIT makeCurrentRequested(
      serving_design(session_->design(), mode(), point.batch, point.context),
      tr("batch %1, context %2").arg(grouped_text(point.batch), grouped_text(point.context)));
}

void ServingPage::setFigure(ServingFigure figure) {
  figure_->setCurrentIndex(static_cast<int>(figure));
  map_->setFigure(figure);
}

void ServingPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

void ServingPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  QMetaObject::invokeMethod(this, &ServingPage::fitTable, Qt::QueuedConnection);
}

bool ServingPage::eventFilter(QObject* watched, QEvent* event) {
  if (watched == table_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if ((key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) && table_->currentIndex().isValid()) {
      makeCurrent(table_->sorted()->mapToSource(table_->currentIndex()).row());
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

Picture ServingPage::picture() const {
  const QString name = text_of(session_->design().name);
  Picture picture = canvas()->picture((mode() == Mode::Decode    ? tr("%1, serving: decode")
                                       : mode() == Mode::Prefill ? tr("%1, serving: prefill")
                                                                 : tr("%1, serving"))
                                          .arg(name),
                                      slug(name) + QStringLiteral("-serving"));
  if (!shown_ || trains(session_->design())) return picture;
  picture.csv = [this] { return csv_text(*model_); };
  picture.json = [sweep = shown_] { return QByteArray::fromStdString(sweep_json(*sweep)); };
  return picture;
}

}  // namespace shardscape::ui
