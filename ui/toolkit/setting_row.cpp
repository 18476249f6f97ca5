#include "ui/toolkit/setting_row.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/toolkit/invalid_mark.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/select_on_click.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kTypingMs = 150, kNumberWidth = 84;

}  // namespace

SettingRow::SettingRow(const ServiceSetting& setting, QWidget* parent)
    : QWidget(parent), setting_(setting), issue_(new IssueLine(this)) {
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(2);
  typing_.setSingleShot(true);
  typing_.setInterval(kTypingMs);
  connect(&typing_, &QTimer::timeout, this, [this] { Q_EMIT edited(line_->text()); });
  switch (setting.kind) {
    case SettingKind::Whole:
    case SettingKind::Number:
    case SettingKind::Numbers:
    case SettingKind::Seconds:
    case SettingKind::Level:
    case SettingKind::File: makeLine(); break;
    case SettingKind::Choice: makeCombo(); break;
    case SettingKind::Switch:
      box_ = new QCheckBox(text_of(setting.label), this);
      connect(box_, &QCheckBox::clicked, this,
              [this](bool on) { Q_EMIT edited(on ? QStringLiteral("true") : QStringLiteral("false")); });
      break;
  }
  field()->setObjectName(QStringLiteral("setting_") + QString::fromLatin1(setting.id));
  field()->setAccessibleName(text_of(setting.label));
  field()->setAccessibleDescription(text_of(setting.help));
  const QString tip = QStringLiteral("<p>%1</p><p>%2</p>")
                          .arg(text_of(setting.help).toHtmlEscaped(), text_of(setting.flag()));
  setToolTip(tip);

  const bool wide = combo_ || setting.kind == SettingKind::File || setting.kind == SettingKind::Numbers ||
                    setting.kind == SettingKind::Level;
  auto* line = new QHBoxLayout;
  line->setSpacing(4);
  if (!box_) {
    auto* label = new QLabel(text_of(setting.label), this);
    label->setBuddy(field());
    label->setWordWrap(!wide);  // a long name takes two lines
    (wide ? static_cast<QBoxLayout*>(rows) : line)->addWidget(label, 1);
  }
  line->addWidget(field(), wide || box_ ? 1 : 0);
  if (setting.kind == SettingKind::File) {
    auto* browse = new QPushButton(QStringLiteral("…"), this);
    browse->setProperty("narrow", true);
    browse->setObjectName(QStringLiteral("browse_") + QString::fromLatin1(setting.id));
    browse->setAccessibleName(tr("Choose a file: %1").arg(text_of(setting.label)));
    browse->setToolTip(tr("Choose a file"));
    connect(browse, &QPushButton::clicked, this, &SettingRow::browse);
    line->addWidget(browse);
  }
  rows->addLayout(line);
  rows->addWidget(issue_);
  issue_->setVisible(false);
}

QWidget* SettingRow::field() const {
  if (line_) return line_;
  return combo_ ? static_cast<QWidget*>(combo_) : box_;
}

void SettingRow::makeLine() {
  line_ = new QLineEdit(this);
  line_->setAcceptDrops(false);  // the window handles dropped designs
  line_->installEventFilter(this);
  if (setting_.kind == SettingKind::File) {
    line_->setPlaceholderText(tr("none"));
  } else if (setting_.kind == SettingKind::Level) {
    line_->setPlaceholderText(tr("p99 ttft<2s, p99 tpot<50ms"));
  } else if (setting_.kind != SettingKind::Numbers) {
    line_->setFixedWidth(kNumberWidth);
    line_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    selectOnClick(line_);
  }
  if (setting_.kind == SettingKind::Seconds) line_->setPlaceholderText(tr("no limit"));
  connect(line_, &QLineEdit::textEdited, this, [this] { typing_.start(); });
  connect(line_, &QLineEdit::editingFinished, this, &SettingRow::flush);
}

void SettingRow::makeCombo() {
  combo_ = new QComboBox(this);
  combo_->setFocusPolicy(Qt::StrongFocus);
  combo_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  combo_->setMinimumContentsLength(8);
  combo_->installEventFilter(this);
  for (const char* choice : setting_.choices)
    combo_->addItem(QString::fromLatin1(choice).replace(u'-', u' '), QString::fromLatin1(choice));
  connect(combo_, &QComboBox::activated, this,
          [this](int index) { Q_EMIT edited(combo_->itemData(index).toString()); });
}

void SettingRow::enter(const QString& text) {
  typing_.stop();
  if (line_) line_->setText(text);
  Q_EMIT edited(text);
}

void SettingRow::flush() {
  if (!typing_.isActive()) return;
  typing_.stop();
  Q_EMIT edited(line_->text());
}

void SettingRow::browse() {
  const QString path = QFileDialog::getOpenFileName(
      window(), text_of(setting_.label), line_->text(),
      tr("Tables and traces (*.csv *.json *.jsonl);;All files (*)"));
  if (!path.isEmpty()) enter(path);
}

// A person who types on keeps the own text, "0." for 0.
bool SettingRow::says(const QString& text, const QString& value) const {
  ServiceSpec spec;
  return text == value || (line_->hasFocus() && setting_.read(spec, text.trimmed().toStdString()) &&
                           text_of(setting_.text(spec)) == value);
}

void SettingRow::show(const QString& value) {
  value_ = value;
  typing_.stop();
  if (line_ && !says(line_->text(), value)) line_->setText(value);
  if (combo_) combo_->setCurrentIndex(combo_->findData(value));
  if (box_) box_->setChecked(value == QStringLiteral("true"));
}

void SettingRow::setProblem(const Problem* problem) {
  markInvalid(field(), problem != nullptr);
  issue_->setVisible(false);
  if (!problem) return;
  const bool typed = line_ && line_->text() != value_;
  issue_->show(text_of(problem->what), text_of(problem->accepted), typed ? tr("Revert") : QString(), [this] {
    show(value_);
    Q_EMIT edited(value_);
  });
}

bool SettingRow::eventFilter(QObject* watched, QEvent* event) {
  // The wheel scrolls the settings. It changes a choice only in the focused field.
  if (watched == combo_ && event->type() == QEvent::Wheel && !combo_->hasFocus()) {
    event->ignore();
    return true;
  }
  if (watched == line_ && event->type() == QEvent::KeyPress &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    show(value_);
    line_->selectAll();
    Q_EMIT edited(value_);
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace shardscape::ui
