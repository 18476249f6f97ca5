#include "ui/shell/problems_panel.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QShortcut>
#include <QTableView>
#include <QTimer>
#include <QToolButton>

#include "ui/session/memory_problem.h"
#include "ui/session/session.h"
#include "ui/shell/problems_model.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/icons.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/wrapped_cells.h"

namespace shardscape::ui {

ProblemsPanel::ProblemsPanel(Session* session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(new ProblemsModel(this)),
      table_(new QTableView(this)),
      empty_label_(new QLabel(tr("No problems: the design is valid and fits."), this)) {
  setObjectName("problems_panel");
  setAttribute(Qt::WA_StyledBackground);
  table_->setObjectName("problems_table");
  table_->setAccessibleName(tr("Problems"));
  table_->setModel(model_);
  table_->setShowGrid(false);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setTabKeyNavigation(false);
  table_->verticalHeader()->hide();
  new WrappedCells(table_, 8);
  QHeaderView* header = table_->horizontalHeader();
  header->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  header->setHighlightSections(false);
  header->setSectionResizeMode(ProblemsModel::Where, QHeaderView::ResizeToContents);
  header->setSectionResizeMode(ProblemsModel::What, QHeaderView::Stretch);
  header->setSectionResizeMode(ProblemsModel::Accepted, QHeaderView::Stretch);
  header->setSectionResizeMode(ProblemsModel::FixColumn,
                               QHeaderView::Stretch);  // some fixes change several knobs

  empty_label_->setProperty("role", "secondary");
  empty_label_->setContentsMargins(11, 0, 0, 0);
  empty_label_->setWordWrap(true);
  auto* title = new QLabel(tr("Problems"), this);
  title->setProperty("role", "heading");
  auto* close = new QToolButton(this);
  setThemedIcon(close, "close");
  close->setAccessibleName(tr("Close the list of problems"));
  close->setToolTip(close->accessibleName());
  close->setProperty("flat", true);
  auto* top = new QHBoxLayout;
  top->setContentsMargins(16, 6, 8, 4);
  top->addWidget(title);
  top->addStretch();
  top->addWidget(close);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(top);
  auto* body = new QHBoxLayout;
  body->setContentsMargins(5, 0, 5, 4);  // cells begin under the title
  body->addWidget(table_);
  body->addWidget(empty_label_, 1, Qt::AlignTop);
  layout->addLayout(body);
  setMinimumHeight(150);

  connect(close, &QToolButton::clicked, this, &ProblemsPanel::closeRequested);
  connect(table_, &QTableView::clicked, this, [this](const QModelIndex& index) {
    if (index.column() == ProblemsModel::FixColumn) applyFirstFix(index.row());
  });
  connect(table_, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
    if (index.column() != ProblemsModel::FixColumn) goTo(model_->problem(index.row()));
  });
  for (const int key : {Qt::Key_Return, Qt::Key_Enter}) {
    auto* enter = new QShortcut(key, table_, nullptr, nullptr, Qt::WidgetShortcut);
    connect(enter, &QShortcut::activated, this, [this] { applyFirstFix(table_->currentIndex().row()); });
  }
  auto* escape = new QShortcut(Qt::Key_Escape, this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
  connect(escape, &QShortcut::activated, this, &ProblemsPanel::closeRequested);
  connect(session, &Session::problemsChanged, this, &ProblemsPanel::refresh);
  connect(&Theme::instance(), &Theme::changed, this, &ProblemsPanel::refresh);
  refresh();
}

void ProblemsPanel::refresh() {
  if (session_->computing()) return;  // the old list stays until the new list arrives
  model_->setProblems(session_->allProblems());
  const bool any = model_->rowCount() > 0;
  table_->setVisible(any);
  empty_label_->setVisible(!any);
  if (any) table_->setCurrentIndex(model_->index(0, 0));
}

void ProblemsPanel::applyFirstFix(int row) {
  if (row < 0 || row >= model_->rowCount()) return;
  const Problem& problem = model_->problem(row);
  if (problem.fixes.empty()) return;
  const Fix fix = problem.fixes.front();
  // Queued: the fix resets the model, which must not happen inside a signal of the table.
  QTimer::singleShot(0, session_, [session = session_, fix] { session->applyFix(fix); });
}

void ProblemsPanel::goTo(const Problem& problem) {
  if (isOfMemory(problem))
    Q_EMIT memoryRequested();
  else
    session_->requestField(QString::fromStdString(problem.where));
}

void ProblemsPanel::contextMenuEvent(QContextMenuEvent* event) {
  const QModelIndex index = table_->currentIndex();
  if (!index.isValid()) return;
  const Problem problem = model_->problem(index.row());
  QMenu menu(this);
  for (const Fix& fix : problem.fixes) {
    menu.addAction(capitalized(QString::fromStdString(fix.label)), this,
                   [this, fix] { session_->applyFix(fix); });
  }
  if (!problem.fixes.empty()) menu.addSeparator();
  menu.addAction(isOfMemory(problem) ? tr("Go to the Memory view") : tr("Go to the field"), this,
                 [&] { goTo(problem); });
  menu.addAction(tr("Copy"), this, [&] { QGuiApplication::clipboard()->setText(problemText(problem)); });
  menu.exec(event->globalPos());
}

}  // namespace shardscape::ui
