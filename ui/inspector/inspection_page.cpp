#include "ui/inspector/inspection_page.h"

#include <QVBoxLayout>

#include "ui/inspector/fact_row.h"
#include "ui/inspector/formula_box.h"
#include "ui/toolkit/copy_label.h"

namespace shardscape::ui {
namespace {

QVBoxLayout* add_column(QVBoxLayout* to, int above, int spacing) {
  auto* column = new QVBoxLayout;
  column->setContentsMargins(0, above, 0, 0);
  column->setSpacing(spacing);
  to->addLayout(column);
  return column;
}

using Facts = QVector<QPair<QString, QString>>;
void fill(const QList<FactRow*>& rows, const Facts& facts) {
  for (qsizetype i = 0; i < rows.size(); ++i) rows[i]->set(facts[i].first, facts[i].second);
}

}  // namespace

InspectionPage::InspectionPage(const Inspection& inspection, bool whole)
    : parts_(parts_of(inspection)), whole_(whole) {
  setAutoFillBackground(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(16, 14, 16, 16);
  layout->setSpacing(10);
  QVBoxLayout* heading = add_column(layout, 0, 2);
  title_ = addLabel(heading, "title");
  if (!inspection.subtitle.isEmpty()) subtitle_ = addLabel(heading, "secondary");
  if (!inspection.figures.isEmpty()) figures_ = addRows(add_column(layout, 0, 0), inspection.figures.size());
  if (inspection.why_first) addWhy(layout, inspection);
  for (const InspectedValue& value : inspection.values) {
    boxes_ << makeBox(value);
    layout->addWidget(boxes_.back());
  }
  if (!inspection.rows.isEmpty() || !inspection.links.isEmpty()) {
    QVBoxLayout* facts = add_column(layout, 0, 0);
    rows_ = addRows(facts, inspection.rows.size());
    for (int i = 0; i < inspection.links.size(); ++i) {
      links_ << new FactRow(this, true);
      facts->addWidget(links_.back());
      connect(links_.back(), &FactRow::followed, this, [this, i] { Q_EMIT linkFollowed(i); });
    }
  }
  if (!inspection.more.isEmpty()) {
    QVBoxLayout* more = add_column(layout, 6, 0);
    more_title_ = addLabel(more, "heading");
    more_ = addRows(more, inspection.more.size());
  }
  if (!inspection.why_first) addWhy(layout, inspection);
  layout->addStretch();
  set(inspection);
}

InspectionPage::Parts InspectionPage::parts_of(const Inspection& of) {
  return {!of.subtitle.isEmpty(),
          of.figures.size(),
          of.values.size(),
          of.rows.size(),
          of.links.size(),
          of.more.size(),
          of.why.isEmpty()         ? 0
          : of.why_title.isEmpty() ? 1
                                   : 2,
          of.why_first};
}

void InspectionPage::set(const Inspection& inspection) {
  title_->setWords(inspection.title);
  if (subtitle_) subtitle_->setWords(inspection.subtitle);
  fill(figures_, inspection.figures);
  fill(rows_, inspection.rows);
  for (qsizetype i = 0; i < links_.size(); ++i)
    links_[i]->set(inspection.links[i].label, inspection.links[i].text);
  if (more_title_) more_title_->setWords(inspection.more_title);
  fill(more_, inspection.more);
  if (why_title_) why_title_->setWords(inspection.why_title);
  if (why_) why_->setWords(inspection.why);
  // A formula may have other lines than before: its box is made again.
  for (qsizetype i = 0; i < boxes_.size(); ++i) {
    if (boxes_[i]->value() == inspection.values[i]) continue;
    FormulaBox* made = makeBox(inspection.values[i]);
    delete layout()->replaceWidget(boxes_[i], made);
    delete boxes_[i];
    boxes_[i] = made;
  }
}

CopyLabel* InspectionPage::addLabel(QVBoxLayout* to, const char* role) {
  auto* label = new CopyLabel({}, this);
  label->setProperty("role", role);
  to->addWidget(label);
  return label;
}

QList<FactRow*> InspectionPage::addRows(QVBoxLayout* to, qsizetype count) {
  QList<FactRow*> out;
  for (qsizetype i = 0; i < count; ++i) {
    out << new FactRow(this);
    to->addWidget(out.back());
  }
  return out;
}

void InspectionPage::addWhy(QVBoxLayout* to, const Inspection& inspection) {
  if (inspection.why.isEmpty()) return;
  QVBoxLayout* why = add_column(to, 6, 4);
  if (!inspection.why_title.isEmpty()) why_title_ = addLabel(why, "heading");
  why_ = addLabel(why, "secondary");
}

FormulaBox* InspectionPage::makeBox(const InspectedValue& value) {
  auto* box = new FormulaBox(value, whole_, this);
  connect(box, &FormulaBox::wholeWanted, this, &InspectionPage::wholeWanted);
  return box;
}

}  // namespace shardscape::ui
