#include "ui/views/explore/setup_panel.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QShowEvent>
#include <QStackedWidget>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "explore/values.h"
#include "ui/session/session.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/invalid_mark.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/explore/condition_row.h"
#include "ui/views/explore/dimension_row.h"
#include "ui/views/explore/dimension_values.h"
#include "ui/views/explore/exclusion_examples.h"
#include "ui/views/explore/exclusion_list.h"
#include "ui/views/explore/explore_job.h"
#include "ui/views/explore/service_fields.h"

namespace shardscape::ui {
namespace {

constexpr int kPause = 250, kFieldWidth = 88;
constexpr size_t kBestKept = 200, kSampled = 10'000;
constexpr int64_t kBudget = 20'000;
enum Method { EveryDesign, GuidedSearch };
constexpr const char* kGoodput = "goodput";  // an objective of simulated requests, not of a step

QLabel* group_label(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text.toUpper(), parent);
  label->setProperty("role", "group");
  return label;
}

QWidget* labelled(const QString& name, QWidget* field, QWidget* parent) {
  auto* row = new QWidget(parent);
  auto* line = new QHBoxLayout(row);
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(8);
  auto* label = new ElidedLabel(row, Theme::instance().uiFont());
  label->setText(name);
  line->addWidget(label, 1);
  line->addWidget(field);
  field->setAccessibleName(name);
  return row;
}

QLineEdit* number_field(const QString& name, const QString& placeholder, const QString& tip,
                        QWidget* parent) {
  auto* field = new QLineEdit(parent);
  field->setObjectName(name);
  field->setPlaceholderText(placeholder);
  field->setToolTip(tip);
  field->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  field->setFixedWidth(kFieldWidth);
  field->setAcceptDrops(false);
  return field;
}

// The number in a field. Empty: not a number, or out of range. An empty field is 0.
std::optional<double> number_in(const QLineEdit* field, double most) {
  QString digits = field->text().trimmed();
  digits.remove(u',').remove(u'%').remove(u'$');
  if (digits.trimmed().isEmpty()) return 0.0;
  bool read = false;
  const double value = digits.trimmed().toDouble(&read);
  if (!read || !(value >= 0) || !(value <= most)) return std::nullopt;
  return value;
}

}  // namespace

SetupPanel::SetupPanel(Session* session, ExploreJob* job, PageSettings* pages, QWidget* parent)
    : QWidget(parent),
      session_(session),
      job_(job),
      service_(new ServiceFields(pages, this)),
      front_x_(find_objective("memory")),
      front_y_(find_objective("step_time")) {
  setObjectName(QStringLiteral("inspector_panel"));  // the same style as the inspector, which it replaces
  setAttribute(Qt::WA_StyledBackground);
  setMinimumWidth(264);
  pages_ = new SegmentedControl(tr("Setup"), {tr("Space"), tr("Left out")}, this);
  pages_->setObjectName(QStringLiteral("setup_pages"));
  stack_ = new QStackedWidget(this);
  for (QWidget* page : {makeSpace(), makeReasons()}) {
    auto* scroll = new QScrollArea(stack_);
    scroll->setWidget(page);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->viewport()->setAutoFillBackground(false);
    page->setAutoFillBackground(false);
    stack_->addWidget(scroll);
  }
  connect(pages_, &SegmentedControl::chosen, stack_, &QStackedWidget::setCurrentIndex);

  auto* top = new QHBoxLayout;
  top->setContentsMargins(16, 12, 16, 8);
  top->addWidget(pages_);
  top->addStretch(1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(top);
  layout->addWidget(stack_, 1);
  auto* rule = new QFrame(this);
  rule->setObjectName(QStringLiteral("hairline"));
  rule->setFixedHeight(1);
  layout->addWidget(rule);
  layout->addWidget(makeFooter());

  pause_.setSingleShot(true);
  pause_.setInterval(kPause);
  connect(&pause_, &QTimer::timeout, this, [this] {
    if (ready() && isVisible()) job_->count(spec());
  });
  connect(session_, &Session::designChanged, this, &SetupPanel::followDesign);
  connect(job_, &ExploreJob::countChanged, this, &SetupPanel::showCount);
  connect(job_, &ExploreJob::started, this,
          [this] { reasons_->setExamples({}); });  // the examples belong to another space
  for (const auto signal : {&ExploreJob::started, &ExploreJob::progressed, &ExploreJob::finished})
    connect(job_, signal, this, &SetupPanel::showRun);
  connect(job_, &ExploreJob::rowsChanged, this, [this] {
    if (!job_->rows()) {
      examples_.stop();
      return reasons_->clear();
    }
    reasons_->setCounts(job_->rows()->result().counts);
    if (!job_->running()) findExamples();
  });
  offerDefaults();
  showRun();
}

QWidget* SetupPanel::makeSpace() {
  auto* page = new QWidget;
  auto* rows = new QVBoxLayout(page);
  rows->setContentsMargins(16, 4, 16, 16);
  rows->setSpacing(6);
  gpus_ = new DimensionRow(QString::fromLatin1(kGpusAxis), tr("GPUs"),
                           tr("Ranks of the job, the product of the parallel degrees: a number, a list such "
                              "as 1024,2048, or a range such as 8..4096*2"),
                           false, page);
  connect(gpus_, &DimensionRow::edited, this, &SetupPanel::changed);
  rows->addWidget(gpus_);
  rows->addSpacing(8);
  rows->addWidget(group_label(tr("Vary"), page));
  dimension_rows_ = new QVBoxLayout;
  dimension_rows_->setSpacing(4);
  rows->addLayout(dimension_rows_);
  auto* add = new QPushButton(tr("Add a setting"), page);
  add->setObjectName(QStringLiteral("add_dimension"));
  add->setProperty("link", true);
  add->setToolTip(tr("Every setting of the form can vary, and so can the model"));
  auto* menu = new QMenu(add);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillAddMenu(menu); });
  connect(add, &QPushButton::clicked, this,
          [add, menu] { menu->popup(add->mapToGlobal(QPoint(0, add->height()))); });
  rows->addWidget(add, 0, Qt::AlignLeft);
  rows->addSpacing(8);

  rows->addWidget(group_label(tr("Keep if"), page));
  margin_ = number_field(QStringLiteral("memory_margin"), tr("0 %"),
                         tr("Share of the GPU's memory that must stay free, in percent"), page);
  rows->addWidget(labelled(tr("Memory left free, %"), margin_, page));
  condition_rows_ = new QVBoxLayout;
  condition_rows_->setSpacing(4);
  rows->addLayout(condition_rows_);
  auto* condition = new QPushButton(tr("Add a condition"), page);
  condition->setObjectName(QStringLiteral("add_condition"));
  condition->setProperty("link", true);
  connect(condition, &QPushButton::clicked, this, [this] {
    addCondition({})->field()->setFocus();
    changed();
  });
  rows->addWidget(condition, 0, Qt::AlignLeft);
  rows->addSpacing(8);

  addSearchRows(rows, page);
  rows->addStretch();
  for (QLineEdit* field : {margin_, price_, budget_})
    connect(field, &QLineEdit::textEdited, this, &SetupPanel::changed);
  return page;
}

// The objective, prices, and the method of the search.
void SetupPanel::addSearchRows(QVBoxLayout* rows, QWidget* page) {
  rows->addWidget(group_label(tr("Search"), page));
  objective_ = new QComboBox(page);
  objective_->setObjectName(QStringLiteral("objective"));
  for (const Objective& objective : objectives()) {
    objective_->addItem(QString::fromLatin1(objective.label), QString::fromLatin1(objective.id));
    objective_->setItemData(objective_->count() - 1, QString::fromLatin1(objective.help), Qt::ToolTipRole);
  }
  objective_->addItem(tr("Goodput, requests/s per GPU"), QString::fromLatin1(kGoodput));
  objective_->setItemData(objective_->count() - 1,
                          tr("The most requests per second and GPU within a service level, simulated for the "
                             "most promising engines in decode or prefill"),
                          Qt::ToolTipRole);
  objective_->setCurrentIndex(find_objective("tokens_per_gpu"));
  objective_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  objective_->setToolTip(tr("The objective that ranks designs"));
  auto* ranked = new QLabel(tr("Best by"), page);
  ranked->setBuddy(objective_);
  objective_->setAccessibleName(ranked->text());
  rows->addWidget(ranked);
  rows->addWidget(objective_);
  rows->addWidget(service_);
  service_->setVisible(false);
  price_ = number_field(QStringLiteral("price"), tr("catalogue"),
                        tr("Dollars per GPU and hour. Empty: the price of the catalogue, if any"), page);
  rows->addWidget(labelled(tr("Price, $/GPU hour"), price_, page));
  method_ = new QComboBox(page);
  method_->setObjectName(QStringLiteral("search_method"));
  method_->addItems({tr("Every design"), tr("Guided")});
  method_->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  method_->setToolTip(
      tr("Guided: a local search from many starts, for spaces that are too large for a full search"));
  rows->addWidget(labelled(tr("Method"), method_, page));
  budget_ = number_field(QStringLiteral("budget"), grouped_text(kBudget),
                         tr("The most designs that a guided search times"), page);
  budget_row_ = labelled(tr("Designs to time"), budget_, page);
  budget_row_->setVisible(false);
  rows->addWidget(budget_row_);
  connect(service_, &ServiceFields::allSettingsRequested, this, &SetupPanel::requestsRequested);
  connect(service_, &ServiceFields::edited, this, [this] {
    if (goodput()) changed();
  });
  for (QComboBox* box : {objective_, method_})
    connect(box, &QComboBox::activated, this, [this] {
      showMethods();
      changed();
    });
}

// The fields of the chosen objective and method.
void SetupPanel::showMethods() {
  budget_row_->setVisible(method_->currentIndex() == GuidedSearch);
  service_->setVisible(goodput().has_value());
}

QWidget* SetupPanel::makeReasons() {
  auto* page = new QWidget;
  auto* rows = new QVBoxLayout(page);
  rows->setContentsMargins(16, 6, 16, 16);
  reasons_ = new ExclusionList(page);
  rows->addWidget(reasons_);
  rows->addStretch();
  return page;
}

QWidget* SetupPanel::makeFooter() {
  auto* footer = new QWidget(this);
  auto* rows = new QVBoxLayout(footer);
  rows->setContentsMargins(16, 10, 16, 14);
  rows->setSpacing(4);
  size_ = new QLabel(footer);
  size_->setObjectName(QStringLiteral("space_size"));
  size_->setProperty("role", "heading");
  valid_ = new QLabel(footer);
  valid_->setObjectName(QStringLiteral("space_valid"));
  valid_->setProperty("role", "small");
  refusal_ = new QLabel(footer);
  refusal_->setObjectName(QStringLiteral("space_refusal"));
  refusal_->setWordWrap(true);
  refusal_->setProperty("role", "bad");
  refusal_->setVisible(false);
  progress_ = new QProgressBar(footer);
  progress_->setTextVisible(false);
  progress_->setRange(0, 1000);
  progress_text_ = new ElidedLabel(footer, Theme::instance().uiFont(12));
  run_ = new QPushButton(footer);
  run_->setObjectName(QStringLiteral("run_search"));
  run_->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return));
  connect(run_, &QPushButton::clicked, this, &SetupPanel::runOrCancel);
  rows->addWidget(size_);
  rows->addWidget(valid_);
  rows->addWidget(refusal_);
  rows->addWidget(progress_);
  rows->addWidget(progress_text_);
  rows->addSpacing(4);
  rows->addWidget(run_);
  return footer;
}

void SetupPanel::fillAddMenu(QMenu* menu) {
  menu->clear();
  const auto add = [this](QMenu* to, const QString& id, const QString& label) {
    to->addAction(label, this, [this, id] {
      const Knob* knob = find_knob(id.toStdString());
      DimensionRow* made = addDimension(
          id, knob ? text_of(knob_text(session_->design(), *knob)) : text_of(session_->design().model.preset),
          true);
      changed();
      made->focusValues();
    });
  };
  if (!row(QString::fromLatin1(kModelAxis))) add(menu, QString::fromLatin1(kModelAxis), tr("Model preset"));
  for (const KnobGroup group :
       {KnobGroup::Model, KnobGroup::Parallelism, KnobGroup::Workload, KnobGroup::Cluster}) {
    QMenu* of = menu->addMenu(text_of(group_label(group)));
    for (const Knob& knob : knobs())
      if (knob.group == group && !row(text_of(knob.id))) add(of, text_of(knob.id), text_of(knob.label));
  }
}

DimensionRow* SetupPanel::row(const QString& id) const {
  if (id == gpus_->id()) return gpus_;
  const auto it = std::find_if(dimensions_.begin(), dimensions_.end(),
                               [&](const DimensionRow* row) { return row->id() == id; });
  return it == dimensions_.end() ? nullptr : *it;
}

DimensionRow* SetupPanel::addDimension(const QString& id, const QString& values, bool used) {
  DimensionRow* made = row(id);
  if (!made) {
    const Knob* knob = find_knob(id.toStdString());
    const QString label = knob ? text_of(knob->label) : tr("Model");
    const QString help = knob ? QStringLiteral("<p><b>%1</b></p><p>%2</p><p>%3</p>")
                                    .arg(label.toHtmlEscaped(), text_of(knob->help).toHtmlEscaped(),
                                         tr("Values: %1").arg(text_of(values_help(*knob))).toHtmlEscaped())
                              : tr("Names of presets separated by commas, or all");
    made = new DimensionRow(id, label, help, true, dimension_rows_->parentWidget());
    connect(made, &DimensionRow::edited, this, &SetupPanel::changed);
    dimensions_ << made;
    dimension_rows_->addWidget(made);
  }
  made->setUsed(used);
  made->setValues(values);
  made->offer(offeredValues(id, values, session_->design(), session_->design().world()));
  return made;
}

ConditionRow* SetupPanel::addCondition(const QString& text) {
  auto* made = new ConditionRow(text, condition_rows_->parentWidget());
  connect(made, &ConditionRow::edited, this, &SetupPanel::changed);
  connect(made, &ConditionRow::dropped, this, [this, made] {
    conditions_.removeOne(made);
    made->deleteLater();
    changed();
  });
  conditions_ << made;
  condition_rows_->addWidget(made);
  return made;
}

void SetupPanel::clearDimensions() {
  qDeleteAll(dimensions_);
  dimensions_.clear();
}

// Finds an example for each reason why designs are left out.
void SetupPanel::findExamples() {
  examples_.start([this, result = job_->rows()->shared()](const NewestJob::Post& post, std::stop_token stop) {
    auto found = exclusionExamples(*result->space, result->counts, stop);
    post([this, found = std::move(found)] { reasons_->setExamples(found); });
  });
}

void SetupPanel::offerDefaults() {
  usual_ = true;
  followDesign();
}

void SetupPanel::showDefaults() {
  const Design& design = session_->design();
  const int64_t ranks = std::max<int64_t>(1, design.world());
  const auto usual = usual_dimensions(design, ranks, {});
  gpus_->setValues(QString::number(ranks));
  // Rows that stay keep their widgets, so that the panel does not flicker while a design is edited.
  const bool same = std::equal(
      usual.begin(), usual.end(), dimensions_.begin(), dimensions_.end(),
      [](const auto& d, const DimensionRow* row) { return row->id() == text_of(d.first); });
  if (!same) clearDimensions();
  for (const auto& [id, values] : usual) addDimension(text_of(id), text_of(values), true);
  check();
  countLater();
}

void SetupPanel::showSpaceOf(const SearchResult& result) {
  const SpaceSpec& of = result.space->spec();
  gpus_->setValues(text_of(of.ranks()));
  clearDimensions();
  for (const auto& [id, values] : of.dimensions) addDimension(text_of(id), text_of(values), true);
  for (ConditionRow* condition : conditions_) delete condition;
  conditions_.clear();
  for (const std::string& condition : of.constraints) addCondition(text_of(condition));
  margin_->setText(of.memory_margin > 0 ? QString::number(100 * of.memory_margin) : QString());
  objective_->setCurrentIndex(result.options.objective);
  price_->setText(result.options.price_per_hour > 0 ? QString::number(result.options.price_per_hour)
                                                    : QString());
  method_->setCurrentIndex(result.guided ? GuidedSearch : EveryDesign);
  budget_->setText(result.guided ? grouped_text(result.guided->budget) : QString());
  showMethods();
  usual_ = false;
  check();
  countLater();
}

void SetupPanel::setFront(int x, int y) {
  if (x >= 0 && y >= 0 && x != y) {
    front_x_ = x;
    front_y_ = y;
  }
}

SpaceSpec SetupPanel::spec() const {
  SpaceSpec spec;
  spec.name = session_->design().name;
  spec.base = session_->design();
  spec.gpus = gpus_->values().toStdString();
  for (const DimensionRow* row : dimensions_)
    if (row->used()) spec.dimensions.emplace_back(row->id().toStdString(), row->values().toStdString());
  for (const ConditionRow* condition : conditions_)
    if (!condition->text().isEmpty()) spec.constraints.push_back(condition->text().toStdString());
  spec.memory_margin = number_in(margin_, 99).value_or(0) / 100;
  return spec;
}

SearchOptions SetupPanel::options() const {
  SearchOptions options;
  options.result.objective = goodput() ? find_objective("tokens_per_gpu") : objective_->currentIndex();
  options.result.front_x = front_x_;
  options.result.front_y = front_y_;
  options.result.top = kBestKept;
  options.result.sample = kSampled;
  options.result.price_per_hour = number_in(price_, 1e6).value_or(0);
  if (method_->currentIndex() == GuidedSearch) {
    const auto budget = static_cast<int64_t>(number_in(budget_, 1e12).value_or(0));
    options.guided = Guided{1, budget > 0 ? budget : kBudget};
  }
  return options;
}

std::optional<GoodputOptions> SetupPanel::goodput() const {
  if (objective_->currentData().toString() != QLatin1String(kGoodput)) return std::nullopt;
  GoodputOptions out;
  out.spec = service_->spec();
  return out;
}

void SetupPanel::changed() {
  usual_ = false;
  edited_since_ = true;
  check();
  countLater();
  Q_EMIT edited();
}

void SetupPanel::check() {
  const Design& design = session_->design();
  for (DimensionRow* row : QList<DimensionRow*>{gpus_} + dimensions_) {
    row->offer(offeredValues(row->id(), row->values(), design, design.world()));
    const auto problem = row->used() ? problemOfValues(row->id(), row->values(), design) : std::nullopt;
    problem ? row->refuse(*problem) : row->accept();
  }
  margin_wrong_ = !number_in(margin_, 99);
  price_wrong_ = !number_in(price_, 1e6);
  budget_wrong_ = !number_in(budget_, 1e12);
  markInvalid(margin_, margin_wrong_);
  markInvalid(price_, price_wrong_);
  markInvalid(budget_, budget_wrong_);
  showCount();
  showRun();
}

bool SetupPanel::ready() const {
  if (margin_wrong_ || price_wrong_ || budget_wrong_ || gpus_->refused()) return false;
  if (goodput() && service_->refused()) return false;
  return std::none_of(dimensions_.begin(), dimensions_.end(),
                      [](const DimensionRow* row) { return row->refused(); }) &&
         std::none_of(conditions_.begin(), conditions_.end(),
                      [](const ConditionRow* row) { return row->refused(); });
}

void SetupPanel::countLater() { pause_.start(); }

void SetupPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  catchUp();
  countLater();
}

void SetupPanel::followDesign() {
  behind_ = true;
  if (isVisible()) catchUp();
}

void SetupPanel::catchUp() {
  if (!std::exchange(behind_, false)) return;
  if (usual_ && !job_->running()) return showDefaults();
  check();
  countLater();
}

QString SetupPanel::sizeText() const {
  return job_->counted() ? text_of(job_->counted()->text()) : QString();
}

void SetupPanel::showCount() {
  const std::optional<ValidCount>& counted = job_->counted();
  // A problem of the whole space is shown at the field that the problem names, else below.
  std::optional<Problem> problem = job_->problem();
  if (!problem && !edited_since_) problem = job_->failure();
  QString refusal;
  if (margin_wrong_)
    refusal = tr("The memory left free is a percentage from 0 to 99.");
  else if (price_wrong_)
    refusal = tr("The price is a number of dollars, or empty.");
  else if (budget_wrong_)
    refusal = tr("The number of designs to time is a whole number.");
  else if (problem && ready()) {
    DimensionRow* at = row(text_of(problem->where));
    if (at && at->used())
      at->refuse(*problem);
    else if (!goodput() || !service_->showProblem(*problem))
      refusal = text_of(problem->what) + (problem->accepted.empty()
                                              ? QString()
                                              : tr("; accepted: %1").arg(text_of(problem->accepted)));
  }
  refusal_->setText(refusal);
  refusal_->setVisible(!refusal.isEmpty());
  if (!counted || !ready()) {
    size_->setText(ready() && job_->counting() ? tr("Counting…") : tr("Nothing to search"));
    valid_->setText(ready() && job_->counting() ? QString(QChar(0x2009)) : tr("Fix the marked field"));
    return;
  }
  size_->setText(tr("%1 designs").arg(grouped_text(counted->size)));
  valid_->setText(text_of(counted->valid_text()) + (job_->counting() ? QStringLiteral("…") : QString()));
}

void SetupPanel::showRun() {
  const bool running = job_->running();
  progress_->setVisible(running);
  progress_text_->setVisible(running);
  run_->setText(running ? tr("Cancel") : tr("Search"));
  run_->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return));  // setText() clears the shortcut
  run_->setToolTip(running     ? tr("Stops at once and keeps the results so far (Ctrl+Enter)")
                   : goodput() ? tr("Times every valid design that fits, and simulates requests to the best "
                                    "engines (Ctrl+Enter)")
                               : tr("Times every valid design that fits (Ctrl+Enter)"));
  if (run_->property("primary").toBool() == running) {
    run_->setProperty("primary", !running);
    run_->style()->unpolish(run_);
    run_->style()->polish(run_);
  }
  run_->setEnabled(running ? !job_->cancelled() : ready());
  progress_->setValue(static_cast<int>(job_->progress().share * 1000));
  progress_text_->setText(job_->progressText());
  progress_text_->setShort(job_->progressText().section(QStringLiteral(" · "), 1));
  if (!running) showCount();
  Q_EMIT runChanged();
}

void SetupPanel::runOrCancel() {
  if (job_->running()) return job_->cancel();
  catchUp();
  if (!ready()) return;
  edited_since_ = false;
  job_->run(spec(), options(), goodput());
}

}  // namespace shardscape::ui
