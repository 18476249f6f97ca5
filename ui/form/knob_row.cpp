#include "ui/form/knob_row.h"

#include <QBoxLayout>
#include <QEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <algorithm>

#include "design/knobs/knob_state.h"
#include "design/knobs/step_tokens.h"
#include "ui/session/comparisons.h"
#include "ui/session/session.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/glossary.h"
#include "ui/toolkit/icons.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kNextTo = 8, kBelow = 3;  // pixels between a label and its field, next to or below it
constexpr int kChoiceWidth = 160;       // pixels next to a label; a wider choice gets its own line

// The name or the symbol of the knob, as the glossary has it; the name without an entry.
QString termOf(const Knob& knob) {
  const Glossary& glossary = Glossary::instance();
  return glossary.sentence(text_of(knob.label)).isEmpty() ? text_of(knob.symbol) : text_of(knob.label);
}

QString tool_tip(const Knob& knob) {
  QString tip = "<p><b>" + text_of(knob.label).toHtmlEscaped() + "</b>";
  if (!knob.symbol.empty()) tip += " (" + text_of(knob.symbol).toHtmlEscaped() + ")";
  if (!knob.unit.empty()) tip += ", " + text_of(knob.unit).toHtmlEscaped();
  tip += "</p><p>" + text_of(knob.help).toHtmlEscaped() + "</p>";
  if (const QString term = Glossary::instance().sentence(termOf(knob)); !term.isEmpty())
    tip += "<p>" + KnobRow::tr("In short: %1").arg(term).toHtmlEscaped() + "</p>";
  tip += "<p>" + KnobRow::tr("Accepts %1.").arg(text_of(accepted_values(knob))).toHtmlEscaped();
  if (knob.type == KnobType::Integer)
    tip += " " + KnobRow::tr("Up and Down step, Ctrl+Up and Ctrl+Down double and halve.");
  return tip + "</p>";
}

int field_width(KnobType type) {
  switch (type) {
    case KnobType::Boolean: return 22;
    case KnobType::Choice: return kChoiceWidth;
    case KnobType::IntegerList: return 118;
    case KnobType::ChoiceList:
    case KnobType::Text: return 132;
    case KnobType::Integer:
    case KnobType::Decimal: break;
  }
  return 92;
}

constexpr int kWidestLine = 150, kLinePadding = 26;  // a line grows with its text up to this width

}  // namespace

KnobRow::KnobRow(const Knob& knob, Session* session, QWidget* parent)
    : QWidget(parent), knob_(knob), session_(session) {
  setVisible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  connect(session_, &Session::rejectedChanged, this, &KnobRow::followRejected);
}

void KnobRow::build() {
  if (field_) return;
  field_ = makeKnobField(knob_, this);
  QWidget* field = field_->widget();
  field->setObjectName("knob_" + text_of(knob_.id));
  field->setFixedWidth(field_width(knob_.type));
  field->setAccessibleName(knob_.symbol.empty()
                               ? text_of(knob_.label)
                               : QString("%1 (%2)").arg(text_of(knob_.label), text_of(knob_.symbol)));
  field->installEventFilter(this);
  line_ = new QBoxLayout(QBoxLayout::LeftToRight);
  line_->setSpacing(kNextTo);
  addNames();
  line_->addWidget(field);
  auto* lines = static_cast<QVBoxLayout*>(layout());
  lines->addLayout(line_);
  idle_line_ = new QLabel(this);
  idle_line_->setProperty("role", "idle");
  idle_line_->setWordWrap(true);
  idle_line_->setVisible(false);
  lines->addWidget(idle_line_);
  connectField();
  showDetail();

  field_->setZero(text_of(zero_.text()), text_of(zero_.unit));
  showIdle();
  showOthers();
  refresh(baseline_);
  Q_EMIT grown();
}

// Label, symbol and marks before the field.
void KnobRow::addNames() {
  label_ = new ElidedLabel(this, Theme::instance().uiFont());
  label_->setText(text_of(knob_.label));
  label_->setTerm(termOf(knob_), false);
  label_->installEventFilter(this);  // a click on the name goes to the field
  names_ = new QHBoxLayout;
  names_->setSpacing(kNextTo);
  names_->addWidget(label_, 1);
  others_mark_ = new QLabel(this);
  others_mark_->setObjectName(QStringLiteral("others_mark"));
  others_mark_->setFont(Theme::instance().uiFont(11, QFont::DemiBold));
  others_mark_->setVisible(false);
  names_->addWidget(others_mark_);
  if (!knob_.symbol.empty()) {
    auto* symbol = new QLabel(text_of(knob_.symbol), this);
    symbol->setFont(Theme::instance().monoFont(12));
    symbol->setProperty("role", "secondary");
    names_->addWidget(symbol);
  }
  reset_ = new QToolButton(this);
  reset_->setObjectName("reset_" + text_of(knob_.id));
  reset_->setProperty("reset", true);
  reset_->setFocusPolicy(Qt::NoFocus);  // Ctrl+Delete in the field does the same
  reset_->setAccessibleName(tr("Reset %1").arg(text_of(knob_.label)));
  reset_->setVisible(false);
  setThemedIcon(reset_, QStringLiteral("close"));
  reset_->setIconSize({10, 10});
  connect(reset_, &QToolButton::clicked, this, &KnobRow::reset);
  names_->addWidget(reset_);
  line_->addLayout(names_, 1);
}

void KnobRow::connectField() {
  field_->setInvalidReason([this](const QString& value) {
    const std::optional<std::string> why = impossible_choice(session_->design(), knob_, value.toStdString());
    return why ? text_of(*why) : QString();
  });
  connect(field_, &KnobField::edited, this, &KnobRow::edit);
  connect(field_, &KnobField::reverted, this, [this] {
    session_->revertTyping(text_of(knob_.id));
    takeDesign();
    showIssue();
  });
  connect(field_, &KnobField::finished, this, [this] {
    session_->endTyping(text_of(knob_.id));
    if (!rejected_) refresh(baseline_);
  });
}

void KnobRow::setVisible(bool visible) {
  if (visible) build();
  QWidget::setVisible(visible);
}

QWidget* KnobRow::fieldWidget() {
  build();
  return field_->widget();
}

QToolButton* KnobRow::resetButton() {
  build();
  return reset_;
}

IssueLine* KnobRow::issueLine() {
  build();
  if (!issue_) {
    issue_ = new IssueLine(this);
    issue_->setVisible(false);
    layout()->addWidget(issue_);
    Q_EMIT grown();
  }
  return issue_;
}

void KnobRow::edit(const QString& typed) {
  own_edit_ = true;
  session_->typeKnob(text_of(knob_.id), typed);
  own_edit_ = false;
  rejected_ = session_->rejected(text_of(knob_.id));
  note_ = rejected_ ? std::nullopt : rounding_note(session_->design(), knob_, typed.toStdString());
  showIssue();
}

// The text was reverted outside the field: by the row's button or in the list of problems.
void KnobRow::followRejected() {
  if (own_edit_ || !rejected_ || session_->rejected(text_of(knob_.id))) return;
  rejected_ = false;
  field_->show(text_of(knob_text(session_->design(), knob_)));
  showIssue();
}

void KnobRow::refresh(const QString& baseline) {
  baseline_ = baseline;
  const std::optional<std::string> idle = without_effect(session_->design(), knob_);
  const QString before = std::exchange(idle_, idle ? text_of(*idle) : QString());
  if (!field_) return;
  const QString value = text_of(knob_text(session_->design(), knob_));
  field_->setAuto(text_of(auto_value(knob_.id, session_->design())));
  // An arriving report must not replace the text that is being typed.
  if (!own_edit_ && !field_->editing() && !rejected_) field_->show(value);
  fitField();
  if (idle_ != before) showIdle();
  showIssue();
  showReset();
}

void KnobRow::setZero(const ZeroValue& zero) {
  const QString before = text_of(zero_.text());
  zero_ = zero;
  if (!field_ || text_of(zero_.text()) == before) return;
  field_->setZero(text_of(zero_.text()), text_of(zero_.unit));
  showIdle();
}

void KnobRow::setDetail(const QString& detail) {
  if (detail == detail_) return;
  detail_ = detail;
  if (field_) showDetail();
}

void KnobRow::showDetail() {
  if (!detail_line_ && detail_.isEmpty()) return;
  if (!detail_line_) {
    detail_line_ = new QLabel(this);
    detail_line_->setObjectName("detail_" + text_of(knob_.id));
    detail_line_->setProperty("role", "secondary");
    detail_line_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    static_cast<QVBoxLayout*>(layout())->insertWidget(1, detail_line_);
  }
  detail_line_->setText(detail_);
  detail_line_->setVisible(!detail_.isEmpty());
}

void KnobRow::reset() {
  session_->endEdit();
  session_->dropRejected(text_of(knob_.id));
  session_->setKnob(text_of(knob_.id), baseline_);
  session_->endEdit();
}

// The model of a file has no preset to return to.
void KnobRow::showReset() {
  const bool returns = knob_.group != KnobGroup::Model || !session_->design().model.preset.empty();
  reset_->setVisible(!isBaseline() && returns && idle_.isEmpty());
  const QString value = displayText(knob_, baseline_);
  const bool unset = !zero_.value.empty() && baseline_ == QStringLiteral("0");
  reset_->setToolTip(tr("Reset to %1 (Ctrl+Delete in the field)")
                         .arg(unset             ? text_of(zero_.text())
                              : value.isEmpty() ? tr("empty")
                                                : value));
}

void KnobRow::fitField() {
  const auto* line = qobject_cast<QLineEdit*>(field_->widget());
  if (!line) return;
  const QString shown = line->text().isEmpty() ? line->placeholderText() : line->text();
  const int wanted = line->fontMetrics().horizontalAdvance(shown) + line->textMargins().right() +
                     kLinePadding;
  field_->widget()->setFixedWidth(std::clamp(wanted, field_width(knob_.type), kWidestLine));
}

// Greyed, not disabled: a person may set the value before the knob that gives it an effect.
void KnobRow::showIdle() {
  const bool idle = !idle_.isEmpty();
  label_->setEnabled(!idle);
  field_->setIdle(idle);
  const QString why = tr("Without effect: %1.").arg(idle_);
  idle_line_->setText(why);
  const QString empty = zero_.value.empty() ? QString()
                                            : "<p>" +
                                                  tr("Empty: %1. Source: %2.")
                                                      .arg(text_of(zero_.text()), text_of(zero_.source))
                                                      .toHtmlEscaped() +
                                                  "</p>";
  setToolTip(tool_tip(knob_) + empty + (idle ? "<p>" + why.toHtmlEscaped() + "</p>" : QString()));
  field_->widget()->setAccessibleDescription(idle ? why + " " + text_of(knob_.help) : text_of(knob_.help));
}

bool KnobRow::isBaseline() const { return text_of(knob_text(session_->design(), knob_)) == baseline_; }

bool KnobRow::isQuiet() const {
  return !idle_.isEmpty() && !hasIssue() && others_.isEmpty() && !(field_ && field_->widget()->hasFocus());
}

bool KnobRow::hasIssue() const { return problem(); }

void KnobRow::setIdleLine(bool shown) {
  if (idle_line_) idle_line_->setVisible(shown && !idle_.isEmpty() && !hasIssue());
}

void KnobRow::setOthers(const QVector<Other>& others) {
  if (others == others_) return;
  others_ = others;
  if (field_) showOthers();
}

void KnobRow::showOthers() {
  QString letters;
  QStringList values;
  for (const Other& other : others_) {
    letters += Comparisons::letter(other.member);
    values << QStringLiteral("%1: %2").arg(Comparisons::letter(other.member),
                                           other.value.isEmpty() ? tr("none") : other.value);
  }
  others_mark_->setText(QStringLiteral("≠") + letters);
  others_mark_->setToolTip(values.join(u'\n'));
  others_mark_->setAccessibleName(tr("Differs. %1").arg(values.join(QStringLiteral(", "))));
  others_mark_->setVisible(!others_.isEmpty());
  placeField();
}

void KnobRow::takeDesign() {
  if (own_edit_) return;
  rejected_ = false;
  note_.reset();
  session_->dropRejected(text_of(knob_.id));
  if (field_) field_->show(text_of(knob_text(session_->design(), knob_)));
}

// The session's problem, or the note of the person's entry.
const Problem* KnobRow::problem() const {
  const Problem* found = session_->problemOf(text_of(knob_.id));
  return note_ && (!found || found->severity != Severity::Error) ? &*note_ : found;
}

void KnobRow::showIssue() {
  if (const Problem* found = problem()) return showProblem(*found);
  if (issue_) issue_->setVisible(false);
  field_->setMark(isBaseline() ? KnobField::Mark::None : KnobField::Mark::Differs);
}

void KnobRow::showProblem(const Problem& problem) {
  const Fix fix = problem.fixes.empty() ? Fix{} : problem.fixes.front();
  issueLine()->show(text_of(problem.what), text_of(problem.accepted), capitalized(text_of(fix.label)),
                    [this, fix] { session_->applyFix(fix); });
  field_->setMark(KnobField::Mark::Wrong);
}

KnobRow::Match KnobRow::match(const QString& filter) const {
  const QString wanted = filter.trimmed();
  if (wanted.isEmpty() || text_of(knob_.symbol).compare(wanted, Qt::CaseInsensitive) == 0) return Match::Name;
  const auto has = [&](const std::string& part) {
    return text_of(part).contains(wanted, Qt::CaseInsensitive);
  };
  return has(knob_.label) || has(knob_.id) ? Match::Name : has(knob_.help) ? Match::Help : Match::None;
}

void KnobRow::focusField() {
  build();
  field_->widget()->setFocus(Qt::ShortcutFocusReason);
  if (auto* line = qobject_cast<QLineEdit*>(field_->widget())) line->selectAll();
}

void KnobRow::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  placeField();
}

void KnobRow::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  placeField();
}

// A choice is next to its name if both have room.
void KnobRow::placeField() {
  if (!field_ || knob_.type != KnobType::Choice || !isVisible()) return;
  QWidget* field = field_->widget();
  const bool next_to_names = field->sizeHint().width() <= kChoiceWidth &&
                             names_->sizeHint().width() + kNextTo + kChoiceWidth <= width();
  field->setMinimumWidth(next_to_names ? kChoiceWidth : 0);
  field->setMaximumWidth(next_to_names ? kChoiceWidth : QWIDGETSIZE_MAX);
  field->setSizePolicy(next_to_names ? QSizePolicy::Fixed : QSizePolicy::Ignored,
                       QSizePolicy::Fixed);  // no wider than the form
  line_->setDirection(next_to_names ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  line_->setStretch(0, next_to_names ? 1 : 0);  // names take the remaining width
  line_->setSpacing(next_to_names ? kNextTo : kBelow);
}

bool KnobRow::eventFilter(QObject* watched, QEvent* event) {
  if (field_ && watched == field_->widget()) {
    if (event->type() == QEvent::FocusIn) Q_EMIT focused();
    if (event->type() == QEvent::KeyPress) {
      const auto* key = static_cast<QKeyEvent*>(event);
      if (key->key() == Qt::Key_Delete && key->modifiers() == Qt::ControlModifier && !isBaseline()) {
        reset();
        return true;
      }
    }
  } else if (event->type() == QEvent::MouseButtonPress) {
    focusField();
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace shardscape::ui
