#include "ui/form/knob_row.h"

#include <QBoxLayout>
#include <QEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <algorithm>

#include "design/knobs/knob_state.h"
#include "ui/session/comparisons.h"
#include "ui/session/session.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/glossary.h"
#include "ui/toolkit/icons.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kNextTo = 8, kBelow = 3;  // pixels between a label and its field, next to or below it
constexpr int kChoiceWidth = 160;       // pixels next to a label; a wider choice gets its own line

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

// The name or the symbol of the knob, as the glossary has it; the name without an entry.
QString termOf(const Knob& knob) {
  const Glossary& glossary = Glossary::instance();
  return glossary.sentence(text(knob.label)).isEmpty() ? text(knob.symbol) : text(knob.label);
}

QString tool_tip(const Knob& knob) {
  QString tip = "<p><b>" + text(knob.label).toHtmlEscaped() + "</b>";
  if (!knob.symbol.empty()) tip += " (" + text(knob.symbol).toHtmlEscaped() + ")";
  if (!knob.unit.empty()) tip += ", " + text(knob.unit).toHtmlEscaped();
  tip += "</p><p>" + text(knob.help).toHtmlEscaped() + "</p>";
  if (const QString term = Glossary::instance().sentence(termOf(knob)); !term.isEmpty())
    tip += "<p>" + KnobRow::tr("In short: %1").arg(term).toHtmlEscaped() + "</p>";
  tip += "<p>" + KnobRow::tr("Accepts %1.").arg(text(accepted_values(knob))).toHtmlEscaped();
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
    : QWidget(parent),
      knob_(knob),
      session_(session),
      field_(makeKnobField(knob, this)),
      issue_(new IssueLine(this)) {
  QWidget* field = field_->widget();
  field->setObjectName("knob_" + text(knob.id));
  field->setFixedWidth(field_width(knob.type));
  field->setAccessibleName(knob.symbol.empty() ? text(knob.label)
                                               : QString("%1 (%2)").arg(text(knob.label), text(knob.symbol)));
  field->installEventFilter(this);
  issue_->setVisible(false);

  label_ = new ElidedLabel(this, Theme::instance().uiFont());
  label_->setText(text(knob.label));
  label_->setTerm(termOf(knob), false);
  label_->installEventFilter(this);  // a click on the name goes to the field
  line_ = new QBoxLayout(QBoxLayout::LeftToRight);
  line_->setSpacing(kNextTo);
  names_ = new QHBoxLayout;
  names_->setSpacing(kNextTo);
  names_->addWidget(label_, 1);
  others_mark_ = new QLabel(this);
  others_mark_->setObjectName(QStringLiteral("others_mark"));
  others_mark_->setFont(Theme::instance().uiFont(11, QFont::DemiBold));
  others_mark_->setVisible(false);
  names_->addWidget(others_mark_);
  if (!knob.symbol.empty()) {
    auto* symbol = new QLabel(text(knob.symbol), this);
    symbol->setFont(Theme::instance().monoFont(12));
    symbol->setProperty("role", "secondary");
    names_->addWidget(symbol);
  }
  reset_ = new QToolButton(this);
  reset_->setObjectName("reset_" + text(knob.id));
  reset_->setProperty("reset", true);
  reset_->setFocusPolicy(Qt::NoFocus);  // Ctrl+Delete in the field does the same
  reset_->setAccessibleName(tr("Reset %1").arg(text(knob.label)));
  reset_->setVisible(false);
  setThemedIcon(reset_, QStringLiteral("close"));
  reset_->setIconSize({10, 10});
  connect(reset_, &QToolButton::clicked, this, &KnobRow::reset);
  names_->addWidget(reset_);
  line_->addLayout(names_, 1);
  line_->addWidget(field);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addLayout(line_);
  idle_line_ = new QLabel(this);
  idle_line_->setProperty("role", "idle");
  idle_line_->setWordWrap(true);
  idle_line_->setVisible(false);
  layout->addWidget(idle_line_);
  layout->addWidget(issue_);
  field_->setInvalidReason([this](const QString& value) {
    const std::optional<std::string> why = impossible_choice(session_->design(), knob_, value.toStdString());
    return why ? text(*why) : QString();
  });

  showIdle();
  connect(field_, &KnobField::edited, this, &KnobRow::edit);
  connect(field_, &KnobField::reverted, this, [this] {
    session_->revertTyping(text(knob_.id));
    takeDesign();
    showIssue();
  });
  connect(field_, &KnobField::finished, this, [this] {
    session_->endTyping(text(knob_.id));
    if (!rejected_) refresh(baseline_);
  });
  connect(session_, &Session::rejectedChanged, this, &KnobRow::followRejected);
}

void KnobRow::edit(const QString& typed) {
  own_edit_ = true;
  session_->typeKnob(text(knob_.id), typed);
  own_edit_ = false;
  rejected_ = session_->rejected(text(knob_.id));
  showIssue();
}

// The text was reverted outside the field: by the row's button or in the list of problems.
void KnobRow::followRejected() {
  if (own_edit_ || !rejected_ || session_->rejected(text(knob_.id))) return;
  rejected_ = false;
  field_->show(text(knob_text(session_->design(), knob_)));
  showIssue();
}

void KnobRow::refresh(const QString& baseline) {
  baseline_ = baseline;
  const QString value = text(knob_text(session_->design(), knob_));
  // An arriving report must not replace the text that is being typed.
  if (!own_edit_ && !field_->editing() && !rejected_) field_->show(value);
  fitField();
  const std::optional<std::string> idle = without_effect(session_->design(), knob_);
  if (const QString why = idle ? text(*idle) : QString(); why != idle_) {
    idle_ = why;
    showIdle();
  }
  showIssue();
  showReset();
}

void KnobRow::setZero(const ZeroValue& zero) {
  const QString before = text(zero_.text());
  zero_ = zero;
  if (text(zero_.text()) == before) return;
  field_->setZero(text(zero_.text()));
  showIdle();
}

void KnobRow::reset() {
  session_->endEdit();
  session_->dropRejected(text(knob_.id));
  session_->setKnob(text(knob_.id), baseline_);
  session_->endEdit();
}

// The model of a file has no preset to return to.
void KnobRow::showReset() {
  const bool returns = knob_.group != KnobGroup::Model || !session_->design().model.preset.empty();
  reset_->setVisible(!isBaseline() && returns && idle_.isEmpty());
  const QString value = displayText(knob_, baseline_);
  const bool unset = !zero_.value.empty() && baseline_ == QStringLiteral("0");
  reset_->setToolTip(tr("Reset to %1 (Ctrl+Delete in the field)")
                         .arg(unset             ? text(zero_.text())
                              : value.isEmpty() ? tr("empty")
                                                : value));
}

void KnobRow::fitField() {
  const auto* line = qobject_cast<QLineEdit*>(field_->widget());
  if (!line) return;
  const QString shown = line->text().isEmpty() ? line->placeholderText() : line->text();
  const int wanted = line->fontMetrics().horizontalAdvance(shown) + kLinePadding;
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
                                                      .arg(text(zero_.text()), text(zero_.source))
                                                      .toHtmlEscaped() +
                                                  "</p>";
  setToolTip(tool_tip(knob_) + empty + (idle ? "<p>" + why.toHtmlEscaped() + "</p>" : QString()));
  field_->widget()->setAccessibleDescription(idle ? why + " " + text(knob_.help) : text(knob_.help));
}

bool KnobRow::isBaseline() const { return text(knob_text(session_->design(), knob_)) == baseline_; }

bool KnobRow::isQuiet() const {
  return !idle_.isEmpty() && !hasIssue() && others_.isEmpty() && !field_->widget()->hasFocus();
}

bool KnobRow::hasIssue() const { return !issue_->isHidden(); }

void KnobRow::setIdleLine(bool shown) { idle_line_->setVisible(shown && !idle_.isEmpty() && !hasIssue()); }

void KnobRow::setOthers(const QVector<Other>& others) {
  if (others == others_) return;
  others_ = others;
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
  session_->dropRejected(text(knob_.id));
  field_->show(text(knob_text(session_->design(), knob_)));
}

void KnobRow::showIssue() {
  const QString value = text(knob_text(session_->design(), knob_));
  const std::vector<Problem>& problems = session_->problems();
  const auto here = [&](const Problem& p) { return p.where == knob_.id; };
  auto found = std::find_if(problems.begin(), problems.end(),
                            [&](const Problem& p) { return here(p) && p.severity == Severity::Error; });
  if (found == problems.end()) found = std::find_if(problems.begin(), problems.end(), here);

  if (const Problem* rejected = session_->rejected(text(knob_.id))) return showProblem(*rejected);
  if (found == problems.end()) {
    issue_->setVisible(false);
    field_->setMark(value == baseline_ ? KnobField::Mark::None : KnobField::Mark::Differs);
    return;
  }
  showProblem(*found);
}

void KnobRow::showProblem(const Problem& problem) {
  const Fix fix = problem.fixes.empty() ? Fix{} : problem.fixes.front();
  QString label = text(fix.label);
  if (!label.isEmpty()) label[0] = label[0].toUpper();
  issue_->show(text(problem.what), text(problem.accepted), label, [this, fix] { session_->applyFix(fix); });
  field_->setMark(KnobField::Mark::Wrong);
}

KnobRow::Match KnobRow::match(const QString& filter) const {
  const QString wanted = filter.trimmed();
  if (wanted.isEmpty() || text(knob_.symbol).compare(wanted, Qt::CaseInsensitive) == 0) return Match::Name;
  const auto has = [&](const std::string& part) { return text(part).contains(wanted, Qt::CaseInsensitive); };
  return has(knob_.label) || has(knob_.id) ? Match::Name : has(knob_.help) ? Match::Help : Match::None;
}

void KnobRow::focusField() {
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
  if (knob_.type != KnobType::Choice || !isVisible()) return;
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
  if (watched == field_->widget()) {
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
