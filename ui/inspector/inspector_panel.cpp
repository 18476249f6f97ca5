#include "ui/inspector/inspector_panel.h"

#include <QClipboard>
#include <QContextMenuEvent>
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
#include "ui/inspector/inspection_page.h"
#include "ui/inspector/inspection_text.h"
#include "ui/inspector/selection_text.h"
#include "ui/inspector/stale_veil.h"
#include "ui/toolkit/copy_label.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

// The subject of an inspection without its numbers. The panel keeps its scroll position while the subject
// stays.
QString subject_of(const Inspection& inspection) {
  QString out;
  for (const QChar c : inspection.title)
    if (!c.isDigit() && c != u'.' && c != u',') out += c;
  return out;
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
  connect(session_, &Session::estimateChanged, this, &InspectorPanel::refresh);
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
  selection_words_->setTextFormat(Qt::PlainText);
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
  page_ && page_->fits(shown_) ? page_->set(shown_) : rebuild();
  if (other) scroll_->verticalScrollBar()->setValue(0);
}

void InspectorPanel::rebuild() {
  const int position = scroll_->verticalScrollBar()->value();
  page_ = new InspectionPage(shown_, whole_formulas_);
  // Queued: what follows destroys the page.
  connect(
      page_, &InspectionPage::linkFollowed, this,
      [this](int index) {
        if (index >= shown_.links.size()) return;
        const InspectedLink& link = shown_.links[index];
        link.knob.isEmpty() ? state_->selectInAllViews(link.selection, nullptr)
                            : session_->requestField(link.knob);
      },
      Qt::QueuedConnection);
  connect(
      page_, &InspectionPage::wholeWanted, this,
      [this](bool whole) {
        whole_formulas_ = whole;
        rebuild();
      },
      Qt::QueuedConnection);
  scroll_->setWidget(page_);
  page_->show();
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
