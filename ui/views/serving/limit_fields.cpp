#include "ui/views/serving/limit_fields.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>
#include <utility>

#include "ui/session/page_settings.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/invalid_mark.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kLimitTypingMs = 400;

}  // namespace

LimitFields::LimitFields(PageSettings* pages, QWidget* parent) : QWidget(parent), pages_(pages) {
  setObjectName(QStringLiteral("limit_fields"));
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(6);
  auto* row = new QHBoxLayout;
  row->setSpacing(6);
  rows->addLayout(row);
  const QString empty = tr("A time with its unit, such as 50 ms or 2 s. Empty: no limit.");
  ttft_ = makeField(
      tr("TTFT ≤"), QStringLiteral("ttft_limit"),
      tr("The longest time to first token that the service allows. It counts to the first token "
         "of the last prompt when all prompts of a batch arrive at once. %1")
          .arg(empty));
  tpot_ = makeField(tr("TPOT ≤"), QStringLiteral("tpot_limit"),
                    tr("The longest time per output token that the service allows. %1").arg(empty));
  auto* note = new ElidedLabel(this, Theme::instance().uiFont(12));
  note->setObjectName(QStringLiteral("ttft_note"));
  note->setText(tr("TTFT: of the last prompt, when all prompts of a batch arrive at once"));
  row->addWidget(note, 1);
  issue_ = new IssueLine(this);
  issue_->setVisible(false);
  rows->addWidget(issue_);
  const auto restyle = [note] { note->setInk(Theme::instance().colors().secondary); };
  connect(&Theme::instance(), &Theme::changed, this, restyle);
  restyle();
  typing_.setSingleShot(true);
  typing_.setInterval(kLimitTypingMs);
  connect(&typing_, &QTimer::timeout, this, &LimitFields::read);
  connect(pages_, &PageSettings::changed, this, &LimitFields::follow);
  follow();
}

QLineEdit* LimitFields::makeField(const QString& label, const QString& name, const QString& tip) {
  auto* row = static_cast<QHBoxLayout*>(layout()->itemAt(0)->layout());
  auto* words = new QLabel(label, this);
  words->setProperty("role", "small");
  row->addWidget(words);
  auto* field = new QLineEdit(this);
  field->setObjectName(name);
  field->setAccessibleName(label);
  field->setPlaceholderText(tr("no limit"));
  field->setToolTip(QStringLiteral("<p>") + tip + QStringLiteral("</p>"));
  field->setFixedWidth(90);
  words->setBuddy(field);
  connect(field, &QLineEdit::textEdited, this, [this] { typing_.start(); });
  connect(field, &QLineEdit::editingFinished, this, [this] {
    if (!typing_.isActive()) return;
    typing_.stop();
    read();
  });
  row->addWidget(field);
  row->addSpacing(6);
  return field;
}

void LimitFields::read() {
  ServiceLimits limits;
  issue_->setVisible(false);
  for (const auto& [field, limit] : {std::pair{ttft_, &limits.ttft}, {tpot_, &limits.tpot}}) {
    const std::string text = field->text().toStdString();
    const auto parsed = limit_seconds(text, field->objectName().toStdString());
    const auto* problem = std::get_if<Problem>(&parsed);
    markInvalid(field, problem != nullptr);
    if (!problem) {
      *limit = std::get<0>(parsed);
      continue;
    }
    // A number alone is most likely in milliseconds.
    const QString in_ms = field->text().trimmed() + QStringLiteral(" ms");
    const bool number = std::holds_alternative<std::optional<double>>(
        limit_seconds(in_ms.toStdString(), text));
    issue_->show(text_of(problem->what), text_of(problem->accepted),
                 number ? tr("Use %1").arg(in_ms) : tr("No limit"), [this, field = field, number, in_ms] {
                   field->setText(number ? in_ms : QString());
                   read();
                 });
    return;
  }
  pages_->setLimits(limits);
}

void LimitFields::follow() {
  const ServiceLimits limits = pages_->pages().limits;
  if (limits == shown_) return;
  shown_ = limits;
  for (const auto& [field, limit] : {std::pair{ttft_, limits.ttft}, {tpot_, limits.tpot}}) {
    // The text of a person who types stays as it is if it says the same.
    const auto read = limit_seconds(field->text().toStdString(), {});
    if (const auto* same = std::get_if<std::optional<double>>(&read); same && *same == limit) continue;
    field->setText(limit ? text_of(limit_text(*limit)) : QString());
    markInvalid(field, false);
    issue_->setVisible(false);
  }
}

}  // namespace shardscape::ui
