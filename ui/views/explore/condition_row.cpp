#include "ui/views/explore/condition_row.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "explore/constraint.h"
#include "ui/toolkit/invalid_mark.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/word_completer.h"

namespace shardscape::ui {

ConditionRow::ConditionRow(const QString& text, QWidget* parent)
    : QWidget(parent), field_(new QLineEdit(text, this)), issue_(new IssueLine(this)) {
  field_->setFont(Theme::instance().monoFont(12));
  field_->setAccessibleName(tr("Condition on designs"));
  field_->setPlaceholderText(tr("step < 15"));
  const QString help = QStringLiteral("<p>%1</p>")
                           .arg(QString::fromStdString(constraint_help()).toHtmlEscaped());
  field_->setToolTip(help);
  auto* completer = new WordCompleter(field_);
  QList<WordCompleter::Word> words;
  for (const auto& [name, meaning] : constraint_names())
    words.append({QString::fromStdString(name), QString::fromStdString(meaning)});
  completer->setWords(words);
  field_->setAcceptDrops(false);
  auto* drop = new QPushButton(QString(QChar(0x00D7)), this);
  drop->setAccessibleName(tr("Remove this condition"));
  drop->setToolTip(drop->accessibleName());
  drop->setProperty("narrow", true);
  auto* line = new QHBoxLayout;
  line->setSpacing(6);
  line->addWidget(field_, 1);
  line->addWidget(drop);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addLayout(line);
  layout->addWidget(issue_);
  issue_->setVisible(false);
  connect(field_, &QLineEdit::textEdited, this, [this] {
    check();
    Q_EMIT edited();
  });
  connect(drop, &QPushButton::clicked, this, &ConditionRow::dropped, Qt::QueuedConnection);
  connect(
      completer, QOverload<const QString&>::of(&QCompleter::activated), this,
      [this] {
        check();
        Q_EMIT edited();
      },
      Qt::QueuedConnection);  // after the field has the new text
  check();
}

QString ConditionRow::text() const { return field_->text().trimmed(); }

bool ConditionRow::refused() const { return !issue_->isHidden(); }

void ConditionRow::check() {
  bool wrong = false;
  if (!text().isEmpty()) {
    const auto parsed = Constraint::parse(text().toStdString());
    if (const auto* problem = std::get_if<Problem>(&parsed)) {
      issue_->show(QString::fromStdString(problem->what), QString::fromStdString(problem->accepted), {}, {});
      wrong = true;
    }
  }
  issue_->setVisible(wrong);
  markInvalid(field_, wrong);
}

}  // namespace shardscape::ui
