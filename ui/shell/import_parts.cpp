#include "ui/shell/import_parts.h"

#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QStandardItemModel>
#include <QTreeView>
#include <algorithm>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kRowHeight = 24, kValueWidth = 170, kWidestName = 360;

QStandardItemModel* model_of(QTreeView* view) { return qobject_cast<QStandardItemModel*>(view->model()); }

}  // namespace

QLabel* importLabel(const char* role, QWidget* parent) {
  auto* made = new QLabel(parent);
  made->setProperty("role", role);
  made->setTextFormat(Qt::PlainText);
  made->setWordWrap(true);
  return made;
}

QLabel* importNotice(const char* name, QWidget* parent) {
  QLabel* made = importLabel("", parent);
  made->setObjectName(name);
  made->setContentsMargins(10, 7, 10, 7);
  made->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return made;
}

QPushButton* importButton(const QString& text, const char* name, QWidget* parent) {
  auto* made = new QPushButton(text, parent);
  made->setObjectName(name);
  made->setAutoDefault(false);
  return made;
}

FieldTree::FieldTree(QWidget* parent) : view_(new QTreeView(parent)) {
  view_->setObjectName("import_fields");
  view_->setAccessibleName(QTreeView::tr("Fields of the file"));
  view_->setModel(new QStandardItemModel(view_));
  view_->setUniformRowHeights(true);
  view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
}

void FieldTree::clear() {
  widest_ = 0;
  model_of(view_)->clear();
  model_of(view_)->setHorizontalHeaderLabels(
      {QTreeView::tr("Field"), QTreeView::tr("Value"), QTreeView::tr("Meaning")});
}

void FieldTree::add(const QString& title, const std::vector<Row>& rows) {
  if (rows.empty()) return;
  auto* section = new QStandardItem(title);
  QFont bold = view_->font();
  bold.setWeight(QFont::DemiBold);
  section->setFont(bold);
  section->setSizeHint({0, kRowHeight});
  for (const Row& row : rows) {
    QList<QStandardItem*> cells;
    for (const QString* part : {&row.name, &row.value, &row.meaning}) {
      cells << new QStandardItem(*part);
      cells.back()->setToolTip(*part);
      cells.back()->setSizeHint({0, kRowHeight});
    }
    cells[1]->setFont(Theme::instance().monoFont(12));
    section->appendRow(cells);
    widest_ = std::max(widest_, view_->fontMetrics().horizontalAdvance(row.name));
  }
  model_of(view_)->appendRow(section);
  view_->setFirstColumnSpanned(sections() - 1, {}, true);
}

void FieldTree::finish(bool fold_last) {
  view_->expandAll();
  if (fold_last) view_->collapse(view_->model()->index(sections() - 1, 0));
  view_->setColumnWidth(0, std::min(widest_, kWidestName) + 2 * view_->indentation() + 24);
  view_->setColumnWidth(1, kValueWidth);
  view_->header()->setStretchLastSection(true);
}

int FieldTree::sections() const { return view_->model()->rowCount(); }

}  // namespace shardscape::ui
