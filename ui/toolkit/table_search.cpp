#include "ui/toolkit/table_search.h"

#include <QAbstractItemView>
#include <QEvent>
#include <QHBoxLayout>

#include "ui/toolkit/search_field.h"

namespace shardscape::ui {
namespace {

constexpr int kWidth = 240, kMargin = 6;

bool has_text(const QAbstractItemModel& model, int row, const QString& text) {
  for (int column = 0; column < model.columnCount(); ++column)
    if (model.index(row, column).data().toString().contains(text, Qt::CaseInsensitive)) return true;
  return false;
}

}  // namespace

QAbstractItemView* TableSearch::tableIn(const QWidget* view) {
  QAbstractItemView* largest = nullptr;
  const auto area = [](const QWidget* widget) { return widget->width() * widget->height(); };
  for (auto* table : view->findChildren<QAbstractItemView*>()) {
    if (!table->isVisible() || !table->model()) continue;
    if (table->hasFocus()) return table;
    if (!largest || area(table) > area(largest)) largest = table;
  }
  return largest;
}

TableSearch* TableSearch::open(QAbstractItemView* table) {
  auto* search = table->findChild<TableSearch*>(QString(), Qt::FindDirectChildrenOnly);
  if (!search) search = new TableSearch(table);
  search->place();
  search->show();
  search->raise();
  search->field_->activate();
  return search;
}

TableSearch::TableSearch(QAbstractItemView* table)
    : QFrame(table), table_(table), field_(new SearchField({tr("Find in the table"), tr("Find")}, this)) {
  setObjectName(QStringLiteral("table_search"));
  setAutoFillBackground(true);
  field_->setAccessibleName(tr("Find in the table"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
  layout->addWidget(field_);
  table->installEventFilter(this);
  connect(field_, &SearchField::searched, this, &TableSearch::find);
  connect(field_, &SearchField::entered, this,
          [this](int match) { table_->setCurrentIndex(table_->model()->index(rows_.value(match), 0)); });
  connect(field_, &SearchField::left, this, [this] {
    hide();
    table_->setFocus(Qt::OtherFocusReason);
  });
}

void TableSearch::find() {
  rows_.clear();
  const QAbstractItemModel& model = *table_->model();
  const QString text = field_->text().trimmed();
  for (int row = 0; !text.isEmpty() && row < model.rowCount(); ++row)
    if (has_text(model, row, text)) rows_ << row;
  field_->setMatches(static_cast<int>(rows_.size()));
  if (!rows_.isEmpty()) table_->scrollTo(model.index(rows_.front(), 0));
}

void TableSearch::place() {
  const int width = std::min(kWidth, table_->width());
  resize(width, sizeHint().height());
  QFrame::move(table_->width() - width - kMargin, kMargin);
}

bool TableSearch::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::Resize) place();
  return false;
}

}  // namespace shardscape::ui
