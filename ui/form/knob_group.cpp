#include "ui/form/knob_group.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/form/knob_row.h"
#include "ui/form/knob_section.h"
#include "ui/session/session.h"
#include "ui/session/staleness.h"

namespace shardscape::ui {

KnobGroupBox::KnobGroupBox(const QString& name, const QVector<const Knob*>& knobs, bool headings,
                           Session* session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      header_(new QHBoxLayout),
      title_(new QPushButton(this)),
      idle_(new QPushButton(this)),
      name_(new QLabel(name.toUpper(), this)),
      total_(new QLabel(this)),
      body_(new QWidget(this)),
      lines_(new QVBoxLayout(body_)) {
  setAccessibleName(name);
  name_->setProperty("role", "group");
  title_->setObjectName("group_fold");
  title_->setAccessibleName(name);
  title_->setVisible(false);
  total_->setProperty("role", "total");
  total_->setObjectName("total_" + name.toLower());
  dimWhileStale(total_, session);

  header_->setContentsMargins(0, 0, 0, 2);
  header_->addWidget(name_);
  header_->addWidget(title_);
  header_->addStretch();
  header_->addWidget(total_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addLayout(header_);
  layout->addWidget(body_);
  lines_->setContentsMargins(0, 0, 0, 0);
  lines_->setSpacing(4);
  QVector<QString> names;
  for (const Knob* knob : knobs) {
    const QString section_name = headings ? QString::fromStdString(knob->section) : name;
    if (!names.contains(section_name)) {
      names << section_name;
      sections_ << new KnobSection(section_name, body_);
      lines_->addWidget(sections_.last());
    }
    KnobSection* section = sections_[names.indexOf(section_name)];
    rows_ << new KnobRow(*knob, session, section);
    section->add(rows_.last());
  }
  for (KnobSection* section : sections_) section->setHeading(sections_.size() > 1);
  idle_->setObjectName("section_header");
  idle_->setProperty("idle", true);
  lines_->addWidget(idle_);
  connect(idle_, &QPushButton::clicked, this, [this] {
    idle_shown_ = !idle_shown_;
    showAll();
  });
  connect(title_, &QPushButton::clicked, this, [this] {
    folded_ = !folded_;
    showAll();
  });
}

void KnobGroupBox::setFoldable() {
  foldable_ = true;
  name_->setVisible(false);
  title_->setVisible(true);
}

void KnobGroupBox::insertOnTop(QWidget* widget) { lines_->insertWidget(0, widget); }

void KnobGroupBox::hideIdleLine() { idle_line_ = false; }

void KnobGroupBox::setTotal(const QString& total) { total_->setText(total); }

void KnobGroupBox::addLink(const QString& name, const QString& text, const QString& tip) {
  auto* link = new QPushButton(text, this);
  link->setObjectName(name);
  link->setProperty("link", true);
  link->setToolTip(tip);
  link->setAccessibleName(accessibleName() + QStringLiteral(": ") + text);
  link->setFocusPolicy(Qt::TabFocus);
  link->setCursor(Qt::PointingHandCursor);
  header_->insertWidget(2, link);
  connect(link, &QPushButton::clicked, this, &KnobGroupBox::linkActivated);
}

void KnobGroupBox::refresh() {
  for (KnobSection* section : sections_) section->refresh();
  const bool fold = foldable_ && !session_->design().model.preset.empty() &&
                    std::all_of(rows_.begin(), rows_.end(), [](const KnobRow* row) {
                      return row->isBaseline() && !row->hasIssue() && row->others().isEmpty();
                    });
  if (fold != fold_) folded_ = fold;
  fold_ = fold;
  showAll();
}

void KnobGroupBox::showAll() {
  const bool open = !folded_ || filtered_;
  for (KnobSection* section : sections_) section->setShown(idle_shown_, open);
  body_->setVisible(open);
  const QString marks[] = {QStringLiteral("▾  "), QStringLiteral("▸  ")};
  title_->setText(marks[!open] + name_->text());
  title_->setAccessibleDescription(open ? tr("open, press Space to fold")
                                        : tr("folded, press Space to open"));
  const auto quiet = std::count_if(rows_.begin(), rows_.end(),
                                   [](const KnobRow* row) { return row->isQuiet(); });
  idle_->setVisible(idle_line_ && quiet > 0 && !filtered_);
  idle_->setText(marks[!idle_shown_] +
                 (quiet == 1 ? tr("1 field without effect") : tr("%1 fields without effect").arg(quiet)));
}

void KnobGroupBox::reveal(KnobRow* row) {
  if (!rows_.contains(row)) return;
  folded_ = false;
  if (row->isQuiet()) idle_shown_ = true;
  showAll();
  for (KnobSection* section : sections_)
    if (section->rows().contains(row)) section->setFolded(false);
}

int KnobGroupBox::filter(const QString& text, bool helps) {
  filtered_ = !text.trimmed().isEmpty();
  int shown = 0;
  for (KnobSection* section : sections_) shown += section->filter(text, helps);
  showAll();
  setVisible(shown > 0);
  return shown;
}

}  // namespace shardscape::ui
