#include "ui/views/architecture/text_page.h"

#include <QComboBox>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QTextBlock>
#include <QVBoxLayout>
#include <algorithm>

#include "base/units.h"
#include "design/layer_edits.h"
#include "model/own_files.h"
#include "ui/session/session.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/newest_job.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/architecture/json_highlighter.h"

namespace shardscape::ui {
namespace {

constexpr int kTypingMs = 200;
constexpr const char* kText = "text";  // the name of the text in messages, which show line and column instead

// "Line 10, column 14: ..."; a mistake of the whole text has no line.
QString mistake_text(const Problem& problem) {
  const auto place = parse_place(problem.where);
  const QString at = problem.where == kText ? QObject::tr("Whole text")
                     : !place               ? text_of(problem.where)
                     : place->column > 0
                         ? QObject::tr("Line %1, column %2").arg(place->line).arg(place->column)
                         : QObject::tr("Line %1").arg(place->line);
  return at + QStringLiteral(": ") + text_of(problem.what);
}

// An id with a number that no file has.
std::string free_id(const std::string& id, bool block) {
  const ModelLibrary& library = ModelLibrary::instance();
  const std::string base = id.substr(0, id.find(';'));
  for (int number = 2;; ++number) {
    const std::string made = base + "_" + std::to_string(number);
    if (block ? !library.block(made) : !library.architecture(made)) return made;
  }
}

}  // namespace

TextPage::TextPage(Session* session, QWidget* graph, ShowGraph show_graph, QWidget* parent)
    : QWidget(parent),
      session_(session),
      show_graph_(std::move(show_graph)),
      split_(new QSplitter(Qt::Horizontal, this)),
      job_(new NewestJob(this)) {
  setObjectName(QStringLiteral("text_page"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeBar());
  auto* hairline = new QFrame(this);
  hairline->setObjectName(QStringLiteral("hairline"));
  hairline->setFixedHeight(1);
  column->addWidget(hairline);
  split_->setHandleWidth(1);
  split_->setChildrenCollapsible(false);
  split_->addWidget(makeEditor(split_));
  split_->addWidget(graph);
  graph->setMinimumWidth(220);
  split_->setSizes({560, 440});
  column->addWidget(split_, 1);
  delay_.setSingleShot(true);
  delay_.setInterval(kTypingMs);
  connect(&delay_, &QTimer::timeout, this, &TextPage::startCheck);
  connect(session_, &Session::libraryChanged, this, &TextPage::fillTexts);
  connect(job_, &NewestJob::failed, this, [this] { job_pending_ = false; });
  connect(&Theme::instance(), &Theme::changed, this, &TextPage::showMistakes);
  fillTexts();
}

QWidget* TextPage::makeBar() {
  auto* bar = new QWidget(this);
  bar->setAutoFillBackground(true);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(16, 8, 16, 8);
  row->setSpacing(8);
  texts_ = new QComboBox(bar);
  texts_->setObjectName(QStringLiteral("texts"));
  texts_->setAccessibleName(tr("Text to duplicate"));
  texts_->setToolTip(tr("Opens a copy of this architecture or block; your own files open as they are"));
  texts_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  texts_->setMinimumContentsLength(16);
  texts_->setPlaceholderText(tr("Duplicate and edit…"));
  connect(texts_, &QComboBox::activated, this, &TextPage::openChosen);
  row->addWidget(texts_);
  numbers_ = new ElidedLabel(bar, Theme::instance().uiFont(12));
  numbers_->setObjectName(QStringLiteral("text_numbers"));
  row->addWidget(numbers_, 1);
  save_ = new QPushButton(tr("Save"), bar);
  save_->setObjectName(QStringLiteral("save_text"));
  save_->setToolTip(tr("Keeps the text among your own files (Ctrl+Return)"));
  save_->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return));
  connect(save_, &QPushButton::clicked, this, [this] { save(); });
  use_ = new QPushButton(tr("Save and use"), bar);
  use_->setObjectName(QStringLiteral("use_text"));
  use_->setProperty("primary", true);
  use_->setToolTip(tr("Saves the architecture and gives it to the model of the design"));
  connect(use_, &QPushButton::clicked, this, &TextPage::use);
  row->addWidget(save_);
  row->addWidget(use_);
  return bar;
}

QWidget* TextPage::makeEditor(QWidget* parent) {
  auto* box = new QWidget(parent);
  box->setAutoFillBackground(true);
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  editor_ = new QPlainTextEdit(box);
  editor_->setObjectName(QStringLiteral("architecture_text"));
  editor_->setAccessibleName(tr("Text of the architecture or block"));
  editor_->setFont(Theme::instance().monoFont(12));
  editor_->setLineWrapMode(QPlainTextEdit::NoWrap);
  editor_->setTabChangesFocus(true);
  editor_->setTabStopDistance(2 * editor_->fontMetrics().horizontalAdvance(QLatin1Char(' ')));
  editor_->setFrameShape(QFrame::NoFrame);
  editor_->setMinimumWidth(280);
  new JsonHighlighter(editor_->document());
  connect(editor_, &QPlainTextEdit::textChanged, this, [this] {
    job_pending_ = true;
    delay_.start();
  });
  column->addWidget(editor_, 1);
  message_ = new QPushButton(box);
  message_->setObjectName(QStringLiteral("mistake"));
  message_->setProperty("link", true);
  message_->setStyleSheet(QStringLiteral("QPushButton { text-align: left; padding: 6px 12px; }"));
  message_->setToolTip(tr("Goes to the place of the mistake"));
  connect(message_, &QPushButton::clicked, this, [this] {
    if (check_ && !check_->mistakes.empty()) goTo(check_->mistakes.front());
  });
  column->addWidget(message_);
  return box;
}

void TextPage::fillTexts() {
  texts_->clear();
  const ModelLibrary& library = ModelLibrary::instance();
  const auto add = [&](const std::string& id, bool block, const SourcePlace& place) {
    if (id.find(';') != std::string::npos) return;
    const QString kind = block ? tr("block") : tr("architecture");
    texts_->addItem(is_own(place) ? tr("Yours: %1 (%2)").arg(text_of(id), kind)
                                  : QStringLiteral("%1 (%2)").arg(text_of(id), kind),
                    QStringList{text_of(id), block ? QStringLiteral("block") : QString()});
  };
  for (const bool own : {true, false}) {
    for (const Architecture& a : library.architectures())
      if (is_own(a.place) == own) add(a.id, false, a.place);
    for (const BlockTemplate& b : library.blocks())
      if (is_own(b.place) == own) add(b.id, true, b.place);
  }
  texts_->setCurrentIndex(-1);
}

void TextPage::openChosen(int index) {
  const QStringList words = texts_->itemData(index).toStringList();
  const bool block = !words[1].isEmpty();
  const ModelLibrary& library = ModelLibrary::instance();
  const std::string id = words[0].toStdString();
  const SourcePlace place = block ? library.block(id)->place : library.architecture(id)->place;
  if (!is_own(place)) return duplicate(words[0], block);
  const auto text = block ? block_text(id, library) : architecture_text(id, library);
  if (const auto* read = std::get_if<std::string>(&text)) setText(text_of(*read));
}

void TextPage::duplicate(const QString& id, bool block) {
  const ModelLibrary& library = ModelLibrary::instance();
  const auto text = block ? block_text(id.toStdString(), library)
                          : architecture_text(id.toStdString(), library);
  if (const auto* read = std::get_if<std::string>(&text))
    setText(text_of(with_id(*read, free_id(id.toStdString(), block))));
}

void TextPage::setText(const QString& text) {
  QTextCursor all(editor_->document());
  all.select(QTextCursor::Document);
  all.insertText(text.trimmed() + QLatin1Char('\n'));  // undo brings back what was typed before
  editor_->moveCursor(QTextCursor::Start);
  editor_->setFocus(Qt::OtherFocusReason);
  delay_.stop();
  startCheck();
}

void TextPage::startCheck() {
  job_pending_ = true;
  const std::string text = editor_->toPlainText().toStdString();
  const Design design = session_->design();
  job_->start([this, text, design](const NewestJob::Post& post, std::stop_token stop) {
    const auto check = check_architecture_text(text, kText, design, stop);
    if (check) post([this, check] { take(check); });
  });
}

void TextPage::take(std::shared_ptr<const ArchitectureCheck> check) {
  if (delay_.isActive()) return;  // a newer text follows
  check_ = std::move(check);
  job_pending_ = false;
  if (check_->counted()) {
    show_graph_(check_->report);
    QStringList kinds;
    for (const KindNumbers& kind : check_->kinds)
      kinds << QStringLiteral("%1 × %2").arg(kind.layers).arg(text_of(kind.name));
    numbers_->setText(tr("%1 parameters  ·  %2 per token  ·  %3")
                          .arg(text_of(format_count(check_->report->model_parameters.value)),
                               text_of(format_flops(static_cast<Wide>(flops_per_token(*check_->report)))),
                               kinds.join(QStringLiteral(", "))));
  }
  save_->setEnabled(check_->ok());
  use_->setEnabled(check_->counted() && check_->kind.folder == "architectures");
  showMistakes();
  Q_EMIT checkedChanged();
}

void TextPage::showMistakes() {
  if (!check_) return;
  const Colors& c = Theme::instance().colors();
  QList<QTextEdit::ExtraSelection> marks;
  for (const Problem& mistake : check_->mistakes) {
    const auto place = parse_place(mistake.where);
    const QTextBlock block = place ? editor_->document()->findBlockByNumber(place->line - 1) : QTextBlock();
    if (!block.isValid()) continue;
    QTextEdit::ExtraSelection line, word;
    line.format.setBackground(mixed(c.field, c.bad, 0.12));
    line.format.setProperty(QTextFormat::FullWidthSelection, true);
    line.cursor = QTextCursor(block);
    marks << line;
    if (place->column < 1) continue;
    word.cursor = QTextCursor(block);
    word.cursor.setPosition(block.position() + std::min(place->column - 1, block.length() - 1));
    if (!word.cursor.movePosition(QTextCursor::EndOfWord, QTextCursor::KeepAnchor))
      word.cursor.movePosition(QTextCursor::NextCharacter, QTextCursor::KeepAnchor);
    word.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    word.format.setUnderlineColor(c.bad);
    marks << word;
  }
  editor_->setExtraSelections(marks);
  const bool sizes = check_->mistakes.empty() && !check_->size_problems.empty();
  const Problem* shown = !check_->mistakes.empty() ? &check_->mistakes.front()
                         : sizes                   ? &check_->size_problems.front()
                                                   : nullptr;
  message_->setEnabled(!check_->mistakes.empty());
  message_->setText(shown ? mistake_text(*shown) : tr("No mistakes"));
  message_->setAccessibleDescription(shown ? text_of(shown->accepted) : QString());
  message_->setToolTip(shown && !shown->accepted.empty() ? tr("Accepted: %1").arg(text_of(shown->accepted))
                                                         : QString());
  const QColor ink = readable(shown ? (sizes ? c.note : c.bad) : c.good, c.panel);
  message_->setStyleSheet(
      QStringLiteral("QPushButton, QPushButton:disabled { text-align: left; padding: 6px 12px; color: %1; }")
          .arg(ink.name()));
}

void TextPage::goTo(const Problem& problem) {
  const auto place = parse_place(problem.where);
  if (!place) return;
  const QTextBlock block = editor_->document()->findBlockByNumber(place->line - 1);
  QTextCursor cursor(block);
  cursor.setPosition(block.position() + std::clamp(place->column - 1, 0, std::max(0, block.length() - 1)));
  editor_->setTextCursor(cursor);
  editor_->setFocus(Qt::OtherFocusReason);
}

bool TextPage::save() {
  if (!checked() || !check_->ok()) return false;
  const auto path = save_own(check_->kind.folder, check_->kind.id, editor_->toPlainText().toStdString());
  if (const auto* problem = std::get_if<Problem>(&path)) {
    message_->setText(text_of(problem->what) + QStringLiteral("; ") + text_of(problem->accepted));
    return false;
  }
  session_->reloadLibrary();
  message_->setText(tr("Saved as %1").arg(text_of(std::get<std::filesystem::path>(path).string())));
  Q_EMIT saved(text_of(std::get<std::filesystem::path>(path).string()));
  return true;
}

void TextPage::use() {
  if (!checked() || !check_->counted() || !save()) return;
  session_->adoptModel(check_->report->design.model, text_of(session_->design().name),
                       tr("architecture %1").arg(text_of(check_->kind.id)));
}

}  // namespace shardscape::ui
