#include "ui/inspector/inspector_panel.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QFrame>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/inspector/design_summary.h"
#include "ui/inspector/formula_box.h"
#include "ui/inspector/inspection_text.h"
#include "ui/inspector/selection_text.h"
#include "ui/inspector/stale_veil.h"
#include "ui/toolkit/copy_label.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kShortFact = 110;  // pixels: shorter names and values stay on one line

CopyLabel* add_label(QVBoxLayout* layout, const QString& text, const char* role) {
  auto* label = new CopyLabel(text, layout->parentWidget());
  label->setProperty("role", role);
  layout->addWidget(label);
  return label;
}

// Name left, value right, a hairline below. Shapes and formulas are set in the monospace font, figures are
// not.
QWidget* fact_row(const QString& name, const QString& value, QWidget* parent, QLabel* link = nullptr) {
  auto* row = new QWidget(parent);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(0, 5, 0, 5);
  line->setSpacing(12);
  auto* left = new CopyLabel(name, row, true);
  QLabel* right = link ? link : new CopyLabel(value, row, true);
  right->setParent(row);
  if (value.startsWith('[') || value.contains(QChar(0xB7))) right->setFont(Theme::instance().monoFont(12));
  left->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  right->setAlignment(Qt::AlignRight | Qt::AlignTop);
  // A short text stays on one line and the other text gets the rest of the row. Two long texts share the row
  // in proportion to their lengths.
  const int left_wants = left->fontMetrics().horizontalAdvance(name),
            right_wants = right->fontMetrics().horizontalAdvance(value);
  const bool short_value = right_wants <= kShortFact, short_name = !short_value && left_wants <= kShortFact;
  const int least = std::max(1, (left_wants + right_wants) / 4);
  right->setWordWrap(!short_value);
  left->setWordWrap(!short_name);
  line->addWidget(left, short_name ? 0 : short_value ? 1 : std::max(least, left_wants));
  line->addWidget(right, short_value ? 0 : short_name ? 1 : std::max(least, right_wants));
  auto* hairline = new QFrame(row);
  hairline->setObjectName("hairline");
  hairline->setFixedHeight(1);
  auto* layout = new QVBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(line);
  layout->addWidget(hairline);
  return row;
}

// A row whose value is a link to a selection.
QWidget* link_row(SelectionState* state, const InspectedLink& link, QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setTextFormat(Qt::RichText);
  label->setText(
      QStringLiteral("<a href=\"#\" style=\"text-decoration:none\">%1</a>").arg(link.text.toHtmlEscaped()));
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  label->setAccessibleName(link.label + u' ' + link.text);
  label->setObjectName("inspector_link");
  // Queued: the new selection rebuilds the panel and destroys this label.
  QObject::connect(
      label, &QLabel::linkActivated, state,
      [state, selection = link.selection] { state->selectInAllViews(selection, nullptr); },
      Qt::QueuedConnection);
  return fact_row(link.label, link.text, parent, label);
}

// The subject of an inspection without its numbers. The panel keeps its scroll position while the subject
// stays.
QString subject_of(const Inspection& inspection) {
  QString out;
  for (const QChar c : inspection.title)
    if (!c.isDigit() && c != u'.' && c != u',') out += c;
  return out;
}

void add_why(QVBoxLayout* layout, const Inspection& inspection) {
  if (inspection.why.isEmpty()) return;
  auto* why = new QVBoxLayout;
  why->setContentsMargins(0, 6, 0, 0);
  why->setSpacing(4);
  layout->addLayout(why);
  if (!inspection.why_title.isEmpty()) add_label(why, inspection.why_title, "heading");
  add_label(why, inspection.why, "secondary");
}

}  // namespace

InspectorPanel::InspectorPanel(SelectionState* state, QWidget* parent)
    : QWidget(parent), state_(state), session_(state->session()), scroll_(new QScrollArea(this)) {
  setObjectName("inspector_panel");
  setAttribute(Qt::WA_StyledBackground);
  setMinimumWidth(240);
  setAccessibleName(tr("Inspector"));
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->viewport()->setAutoFillBackground(false);
  scroll_->setAccessibleName(tr("Inspector"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(makeSelectionBar());
  layout->addWidget(scroll_);
  (new StaleVeil(session_, this))->setObjectName("inspector_veil");

  connect(state_, &SelectionState::inspectionChanged, this, &InspectorPanel::refresh);
  connect(session_, &Session::reportChanged, this, &InspectorPanel::refresh);
  connect(session_, &Session::unitsChanged, this, &InspectorPanel::refresh);
  for (const auto signal : {&Session::reportChanged, &Session::estimateChanged})
    connect(session_, signal, this, &InspectorPanel::showSharedSelection);
  connect(state_, &SelectionState::selectionChanged, this, &InspectorPanel::showSharedSelection);
  showSharedSelection();
  connect(&Theme::instance(), &Theme::changed, this, &InspectorPanel::rebuild);
  refresh();
}

// The bar that names the selection of all views, with a button that clears the selection.
QWidget* InspectorPanel::makeSelectionBar() {
  selection_bar_ = new QWidget(this);
  selection_bar_->setObjectName("selection_bar");
  auto* row = new QHBoxLayout(selection_bar_);
  row->setContentsMargins(16, 8, 12, 0);
  row->setSpacing(8);
  selection_words_ = new QLabel(selection_bar_);
  selection_words_->setObjectName("selection_words");
  selection_words_->setProperty("role", "secondary");
  selection_words_->setWordWrap(true);
  row->addWidget(selection_words_, 1);
  auto* clear = new QPushButton(QString(QChar(0xD7)), selection_bar_);
  clear->setProperty("narrow", true);
  clear->setObjectName("selection_clear");
  clear->setToolTip(tr("Clears the selection in all views"));
  clear->setAccessibleName(tr("Clear the selection"));
  connect(clear, &QPushButton::clicked, this, [this] { state_->selectInAllViews({}, this); });
  row->addWidget(clear, 0, Qt::AlignTop);
  return selection_bar_;
}

void InspectorPanel::showSharedSelection() {
  const std::shared_ptr<const Report> report = session_->report();
  const auto& estimate = session_->estimate();
  const bool known = report && report->valid();
  const Simulation* simulation = estimate && estimate->report == report ? estimate->simulation.get()
                                                                        : nullptr;
  const QString words = known ? selectionText(state_->selection(), *report, simulation) : QString();
  selection_words_->setText(tr("Selected: %1").arg(words));
  selection_bar_->setVisible(!words.isEmpty());
}

void InspectorPanel::refresh() {
  Inspection next = state_->inspection().isEmpty() ? designSummary(*session_) : state_->inspection();
  if (next.isEmpty()) {
    const bool problem = !session_->computing() && !session_->problems().empty();
    next.title = problem ? tr("The design has a problem") : tr("Computing…");
    next.why = problem ? tr("The line under the marked field names the accepted values.") : QString();
  }
  if (inspectionText(next) == inspectionText(shown_)) return;
  const bool other = subject_of(next) != subject_of(shown_);
  shown_ = next;
  rebuild();
  if (other) scroll_->verticalScrollBar()->setValue(0);
}

void InspectorPanel::rebuild() {
  const int position = scroll_->verticalScrollBar()->value();
  auto* content = new QWidget;
  content->setAutoFillBackground(false);
  auto* layout = new QVBoxLayout(content);
  layout->setContentsMargins(16, 14, 16, 16);
  layout->setSpacing(10);
  auto* heading = new QVBoxLayout;
  heading->setSpacing(2);
  layout->addLayout(heading);
  add_label(heading, shown_.title, "title");
  if (!shown_.subtitle.isEmpty()) add_label(heading, shown_.subtitle, "secondary");
  if (!shown_.figures.isEmpty()) {
    auto* figures = new QVBoxLayout;
    figures->setSpacing(0);
    layout->addLayout(figures);
    for (const auto& [name, value] : shown_.figures) figures->addWidget(fact_row(name, value, content));
  }
  if (shown_.why_first) add_why(layout, shown_);
  for (const InspectedValue& value : shown_.values) {
    auto* box = new FormulaBox(value, whole_formulas_, content);
    layout->addWidget(box);
    connect(
        box, &FormulaBox::wholeWanted, this,
        [this](bool whole) {
          whole_formulas_ = whole;
          rebuild();
        },
        Qt::QueuedConnection);  // the rebuild destroys the box
  }
  if (!shown_.rows.isEmpty() || !shown_.links.isEmpty()) {
    auto* facts = new QVBoxLayout;
    facts->setSpacing(0);
    layout->addLayout(facts);
    for (const auto& [name, value] : shown_.rows) facts->addWidget(fact_row(name, value, content));
    for (const InspectedLink& link : shown_.links) facts->addWidget(link_row(state_, link, content));
  }
  if (!shown_.more.isEmpty()) {
    auto* more = new QVBoxLayout;
    more->setContentsMargins(0, 6, 0, 0);
    more->setSpacing(0);
    layout->addLayout(more);
    add_label(more, shown_.more_title, "heading");
    for (const auto& [name, value] : shown_.more) more->addWidget(fact_row(name, value, content));
  }
  if (!shown_.why_first) add_why(layout, shown_);
  layout->addStretch();
  scroll_->setWidget(content);
  content->show();
  scroll_->verticalScrollBar()->setValue(position);
}

QString InspectorPanel::copyText() const {
  for (const CopyLabel* label : findChildren<CopyLabel*>()) {
    if (label->hasSelectedText()) return label->cleanSelection();
  }
  return inspectionText(shown_);
}

void InspectorPanel::copy() const { QGuiApplication::clipboard()->setText(copyText()); }

void InspectorPanel::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu(this);
  const auto put = [](const QString& text) { QGuiApplication::clipboard()->setText(text); };
  const QString selection = copyText();
  const QString everything = inspectionText(shown_);
  if (selection != everything) menu.addAction(tr("Copy selection"), this, [&] { put(selection); });
  QWidget* under = childAt(event->pos());
  while (under && under != this && !qobject_cast<FormulaBox*>(under)) under = under->parentWidget();
  if (const auto* box = qobject_cast<FormulaBox*>(under)) {
    const InspectedValue value = box->value();
    menu.addAction(tr("Copy formula"), this, [=] { put(value.formula); });
    if (!value.substituted.isEmpty())
      menu.addAction(tr("Copy with numbers"), this, [=] { put(value.substituted); });
    menu.addAction(tr("Copy value"), this, [=] { put(value.value); });
  }
  menu.addAction(tr("Copy everything"), this, [=] { put(everything); });
  menu.exec(event->globalPos());
}

}  // namespace shardscape::ui
