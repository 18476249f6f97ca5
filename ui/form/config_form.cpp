#include "ui/form/config_form.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QShortcut>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>

#include "base/units.h"
#include "design/knobs/step_tokens.h"
#include "ui/form/differences_box.h"
#include "ui/form/gpus_row.h"
#include "ui/form/group_totals.h"
#include "ui/form/knob_group.h"
#include "ui/form/knob_row.h"
#include "ui/session/comparisons.h"
#include "ui/session/session.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/issue_line.h"

namespace shardscape::ui {
namespace {

// What people say first of a job, after its model and its GPUs.
constexpr std::string_view kFirst[] = {"accelerator", "seq", "context_length", "batch"};

// The tokens of a step, next to its sequences; empty where each sequence has one.
QString tokensOfStep(const Design& design) {
  const int64_t tokens = step_tokens(design);
  return tokens == design.workload.batch
             ? QString()
             : ConfigForm::tr("%1 tokens per step").arg(QString::fromStdString(grouped(tokens)));
}

// Whether a filter asks for the layers of the model, which the view Architecture edits: at least four letters
// of a word, also in the plural.
bool means_architecture(const QString& filter) {
  constexpr int kLeast = 4;
  const QString typed = filter.trimmed().toLower();
  const QStringList words = ConfigForm::tr("architectures patterns layers attention").split(' ');
  return typed.size() >= kLeast &&
         std::any_of(words.begin(), words.end(), [&](const QString& word) { return word.startsWith(typed); });
}

// Widgets that Tab reaches, in the order in which the layout shows them. The buttons of problems and notes
// come after the fields of their group: a person who types into field after field never stops at one.
void add_tab_stops(const QLayout* layout, QVector<QWidget*>& out) {
  for (int i = 0; i < layout->count(); ++i) {
    QLayoutItem* item = layout->itemAt(i);
    if (item->layout()) add_tab_stops(item->layout(), out);
    QWidget* widget = item->widget();
    if (!widget) continue;
    if (widget->focusPolicy() & Qt::TabFocus) out << widget;
    if (!widget->layout()) continue;
    const qsizetype first = out.size();
    add_tab_stops(widget->layout(), out);
    if (qobject_cast<KnobGroupBox*>(widget))
      std::stable_partition(out.begin() + first, out.end(), [](const QWidget* stop) {
        return !qobject_cast<IssueLine*>(stop->parentWidget());
      });
  }
}

}  // namespace

Design baselineDesign(const Design& design) {
  Design baseline = default_design();
  apply_preset(baseline, design.model.preset);
  return baseline;
}

ConfigForm::ConfigForm(Session* session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      filter_(new QLineEdit(this)),
      no_match_(
          new QLabel(tr("No field matches in its name or help text. Press Escape to see all fields."), this)),
      scroll_(new QScrollArea(this)) {
  setObjectName("form_panel");
  setAttribute(Qt::WA_StyledBackground);
  setMinimumWidth(304);
  filter_->setObjectName("form_filter");
  filter_->setPlaceholderText(tr("Filter fields"));
  filter_->setAccessibleName(tr("Filter fields"));
  filter_->setClearButtonEnabled(true);
  no_match_->setWordWrap(true);
  no_match_->setProperty("role", "secondary");
  no_match_->setVisible(false);

  QWidget* content = makeContent();
  scroll_->setWidget(content);
  tab_stops_due_.setSingleShot(true);
  tab_stops_due_.setInterval(0);
  connect(&tab_stops_due_, &QTimer::timeout, this, &ConfigForm::orderTabStops);
  // The right edges of fields and filter align, with and without the scroll bar.
  const auto fit = [this, rows = content->layout()] {
    const bool bar = scroll_->verticalScrollBar()->maximum() > 0;
    rows->setContentsMargins(16, 4, bar ? 16 - scroll_->verticalScrollBar()->sizeHint().width() : 16, 16);
  };
  connect(scroll_->verticalScrollBar(), &QScrollBar::rangeChanged, this, fit);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setFocusPolicy(Qt::NoFocus);
  scroll_->viewport()->setAutoFillBackground(false);
  content->setAutoFillBackground(false);

  auto* top = new QVBoxLayout;
  top->setContentsMargins(16, 12, 16, 8);
  top->addWidget(filter_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(top);
  layout->addWidget(scroll_, 1);

  auto* clear = new QShortcut(Qt::Key_Escape, filter_, nullptr, nullptr, Qt::WidgetShortcut);
  connect(clear, &QShortcut::activated, filter_, &QLineEdit::clear);
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    mentioned_shown_ = false;
    applyFilter(text);
  });
  connect(session, &Session::designChanged, this, [this] {
    for (KnobGroupBox* group : groups_) {
      for (KnobRow* row : group->rows()) row->takeDesign();
    }
    refresh();
  });
  connect(session, &Session::reportChanged, this, &ConfigForm::refresh);
  connect(session->comparisons(), &Comparisons::changed, this, &ConfigForm::refresh);
  refresh();
  orderTabStops();
}

QWidget* ConfigForm::makeContent() {
  auto* content = new QWidget;
  auto* rows = new QVBoxLayout(content);
  rows->setContentsMargins(16, 4, 16, 16);
  rows->setSpacing(14);
  edit_architecture_ = new QPushButton(tr("Edit the architecture"), content);
  edit_architecture_->setObjectName("form_architecture");
  edit_architecture_->setProperty("link", true);
  edit_architecture_->setToolTip(tr("Opens the view Architecture: the layers of the model and their blocks"));
  edit_architecture_->hide();
  connect(edit_architecture_, &QPushButton::clicked, this, &ConfigForm::architectureRequested);
  rows->addWidget(edit_architecture_, 0, Qt::AlignLeft);
  rows->addWidget(no_match_);
  differences_ = new DifferencesBox(content);
  connect(differences_, &DifferencesBox::chosen, this, &ConfigForm::focusKnob);
  rows->addWidget(differences_);
  QVector<const Knob*> first;
  for (const std::string_view id : kFirst) first << find_knob(id);
  KnobGroupBox* job = addGroup(tr("Job"), first, false, content);
  job->hideIdleLine();
  gpus_ = new GpusRow(session_, job);
  job->insertOnTop(gpus_);
  for (const KnobGroup group :
       {KnobGroup::Parallelism, KnobGroup::Workload, KnobGroup::Model, KnobGroup::Cluster})
    addTableGroup(group, content);
  mentions_ = new QPushButton(content);
  mentions_->setObjectName("form_mentions");
  mentions_->hide();
  connect(mentions_, &QPushButton::clicked, this, [this] {
    mentioned_shown_ = true;
    applyFilter(filter_->text());
    filter_->setFocus();
  });
  rows->addWidget(mentions_);
  rows->addStretch();
  return content;
}

KnobGroupBox* ConfigForm::addGroup(const QString& name, const QVector<const Knob*>& knobs, bool headings,
                                   QWidget* content) {
  auto* box = new KnobGroupBox(name, knobs, headings, session_, content);
  groups_ << box;
  content->layout()->addWidget(box);
  for (KnobRow* row : box->rows()) {
    connect(row, &KnobRow::focused, this, [this, row] { scroll_->ensureWidgetVisible(row, 0, 24); });
    connect(row, &KnobRow::grown, &tab_stops_due_, qOverload<>(&QTimer::start));
  }
  return box;
}

// Rows make their widgets when they are first shown. Tab visits them where they are, not where they would be
// by the time of their making.
void ConfigForm::orderTabStops() {
  QVector<QWidget*> stops{filter_};
  add_tab_stops(scroll_->widget()->layout(), stops);
  for (qsizetype i = 1; i < stops.size(); ++i) setTabOrder(stops[i - 1], stops[i]);
}

void ConfigForm::addTableGroup(KnobGroup group, QWidget* content) {
  QVector<const Knob*> of_group;
  for (const Knob& knob : knobs())
    if (knob.group == group && std::find(std::begin(kFirst), std::end(kFirst), knob.id) == std::end(kFirst))
      of_group << &knob;
  const std::string_view label = group_label(group);
  KnobGroupBox* box = addGroup(QString::fromUtf8(label.data(), static_cast<qsizetype>(label.size())),
                               of_group, true, content);
  of_table_[group] = box;
  if (group == KnobGroup::Model) {
    box->setFoldable();
    box->addLink("architecture_link", tr("Architecture"),
                 tr("Edits the layers of the model and their blocks"));
    connect(box, &KnobGroupBox::linkActivated, this, &ConfigForm::architectureRequested);
  }
  if (group == KnobGroup::Cluster) {
    box->addLink("group_link", tr("Sources"),
                 tr("Every value of this accelerator and network, and where it comes from"));
    connect(box, &KnobGroupBox::linkActivated, this, &ConfigForm::machineRequested);
  }
}

void ConfigForm::refresh() {
  const Design baseline = baselineDesign(session_->design());
  const std::shared_ptr<const Report> report = session_->report();
  QVector<const KnobRow*> differing;
  const auto zeros = zero_values(session_->design());
  if (report)
    for (const auto& [group, box] : of_table_) box->setTotal(groupTotal(*report, group));
  for (KnobGroupBox* group : groups_) {
    for (KnobRow* row : group->rows()) {
      if (const auto zero = zeros.find(row->knob().id); zero != zeros.end()) row->setZero(zero->second);
      row->refresh(QString::fromStdString(knob_text(baseline, row->knob())));
      row->setOthers(othersOf(row->knob()));
      if (row->knob().id == "batch") row->setDetail(tokensOfStep(session_->design()));
      if (!row->others().isEmpty()) differing << row;
    }
    group->refresh();
  }
  differences_->show(differing, session_->design(), session_->comparisons()->size());
}

// The values of the pinned designs that differ from the present value.
QVector<KnobRow::Other> ConfigForm::othersOf(const Knob& knob) const {
  QVector<KnobRow::Other> out;
  const std::vector<PinnedDesign>& pinned = session_->comparisons()->all();
  if (pinned.empty()) return out;
  const std::string now = knob_text(session_->design(), knob);
  for (size_t i = 0; i < pinned.size(); ++i)
    if (const std::string value = knob_text(pinned[i].design, knob); value != now)
      out << KnobRow::Other{static_cast<int>(i) + 1, displayText(knob, QString::fromStdString(value))};
  return out;
}

void ConfigForm::applyFilter(const QString& text) {
  // Fields with a matching name are shown. Fields with a match in the help text only are shown on request.
  const bool gpus = gpus_->matches(text);
  int named = gpus && !text.trimmed().isEmpty(), mentioned = 0;
  for (const KnobGroupBox* group : groups_)
    for (const KnobRow* row : group->rows()) {
      const KnobRow::Match match = row->match(text);
      named += match == KnobRow::Match::Name;
      mentioned += match == KnobRow::Match::Help;
    }
  const bool helps = named == 0 || mentioned_shown_;
  for (KnobGroupBox* group : groups_) group->filter(text, helps);
  gpus_->setVisible(gpus);
  if (gpus) groups_.front()->setVisible(true);
  const bool architecture = means_architecture(text);
  edit_architecture_->setVisible(architecture);
  no_match_->setVisible(named + mentioned == 0 && !architecture);
  mentions_->setVisible(!helps && mentioned > 0);
  mentions_->setText(mentioned == 1 ? tr("1 more mentions it in its help")
                                    : tr("%1 more mention it in their help").arg(mentioned));
  differences_->setFiltered(!text.trimmed().isEmpty());
}

void ConfigForm::focusFilter() {
  filter_->setFocus(Qt::ShortcutFocusReason);
  filter_->selectAll();
}

void ConfigForm::focusGpus() {
  filter_->clear();
  gpus_->field()->setFocus(Qt::ShortcutFocusReason);
  gpus_->field()->selectAll();
}

void ConfigForm::setGpus(const QString& number) {
  focusGpus();
  gpus_->enter(number);
}

void ConfigForm::focusKnob(const QString& id) {
  if (id == QLatin1String(kGpusField)) return focusGpus();
  KnobRow* wanted = row(id);
  if (!wanted) return;
  if (!wanted->isVisibleTo(this)) filter_->clear();
  if (!wanted->isVisibleTo(this))
    for (KnobGroupBox* group : groups_) group->reveal(wanted);
  wanted->focusField();
}

KnobRow* ConfigForm::row(const QString& id) const {
  for (KnobGroupBox* group : groups_) {
    for (KnobRow* row : group->rows()) {
      if (id == QString::fromStdString(row->knob().id)) return row;
    }
  }
  return nullptr;
}

KnobGroupBox* ConfigForm::groupOf(const QString& id) const {
  for (KnobGroupBox* group : groups_)
    for (const KnobRow* row : group->rows())
      if (id == QString::fromStdString(row->knob().id)) return group;
  return nullptr;
}

}  // namespace shardscape::ui
