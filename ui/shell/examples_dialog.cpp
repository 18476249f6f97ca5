#include "ui/shell/examples_dialog.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "design/examples.h"
#include "ui/shell/preset_box.h"
#include "ui/shell/start_row.h"
#include "ui/toolkit/screen_room.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kCardWidth = 336, kCardColumns = 2, kCardMargin = 16;

// A button as large as the lines on it. The style sheet owns the minimum size of buttons.
class Card : public QPushButton {
 public:
  explicit Card(QWidget* parent) : QPushButton(parent) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Minimum);
  }
  void setHeight(int height) { height_ = height; }
  QSize sizeHint() const override { return {kCardWidth, height_}; }
  QSize minimumSizeHint() const override { return sizeHint(); }

 private:
  int height_ = 0;
};

// A card with a title, a sentence and the source.
QPushButton* makeCard(const Example& example, QWidget* parent) {
  auto* card = new Card(parent);
  card->setObjectName(QStringLiteral("example_card"));
  card->setProperty("example", text_of(example.id));
  card->setCursor(Qt::PointingHandCursor);
  card->setAccessibleName(text_of(example.title));
  card->setAccessibleDescription(text_of(example.summary));
  auto* lines = new QVBoxLayout(card);
  lines->setContentsMargins(kCardMargin, kCardMargin - 2, kCardMargin, kCardMargin - 2);
  lines->setSpacing(4);
  const std::pair<const char*, std::string> rows[] = {
      {"heading", example.title}, {"", example.summary}, {"caption", example.source}};
  int height = 2 * kCardMargin;
  for (const auto& [role, words] : rows) {
    auto* label = new QLabel(text_of(words), card);
    label->setProperty("role", role);
    label->setWordWrap(true);
    label->setAttribute(Qt::WA_TransparentForMouseEvents);
    label->ensurePolished();
    height += label->heightForWidth(kCardWidth - 2 * kCardMargin) + lines->spacing();
    lines->addWidget(label);
  }
  lines->addStretch(1);
  card->setHeight(height);
  return card;
}

QLabel* addHeading(const QString& words, QWidget* parent) {
  auto* heading = new QLabel(words, parent);
  heading->setProperty("role", "title");
  return heading;
}

}  // namespace

ExamplesDialog::ExamplesDialog(Session* session, bool welcomes, QWidget* parent)
    : QDialog(parent), start_(new StartRow(session, this)) {
  setObjectName(QStringLiteral("examples_dialog"));
  setWindowTitle(welcomes ? tr("Welcome to Shardscape") : tr("Examples"));
  QLabel *heading = addHeading(tr("Start with a model"), this),
         *others = addHeading(tr("Start from an example"), this);
  auto* about = new QLabel(
      tr("Shardscape computes memory, time and communication of large language models on "
         "many GPUs. Choose a model and the GPUs; the layout search finds the parallelism."),
      this);
  about->setProperty("role", "secondary");
  about->setWordWrap(true);
  auto* grid = new QGridLayout;
  grid->setSpacing(12);
  const auto list = examples();
  if (const auto* examples = std::get_if<std::vector<Example>>(&list)) {
    for (const Example& example : *examples) {
      QPushButton* card = makeCard(example, this);
      const int at = static_cast<int>(cards_.size());
      grid->addWidget(card, at / kCardColumns, at % kCardColumns);
      cards_ << card;
      connect(card, &QPushButton::clicked, this, [this, path = text_of(example.path.string())] {
        accept();
        Q_EMIT chosen(path);
      });
    }
  } else {
    auto* problem = new QLabel(text_of(to_string(std::get<Problem>(list))), this);
    problem->setProperty("role", "bad");
    problem->setWordWrap(true);
    grid->addWidget(problem, 0, 0);
  }
  auto* buttons = new QDialogButtonBox(this);
  QPushButton* close = buttons->addButton(tr("Close"), QDialogButtonBox::RejectRole);
  close->setAutoDefault(false);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* layout = new QVBoxLayout((new ScrolledContent(this))->widget());
  layout->setContentsMargins(24, 20, 24, 16);
  layout->setSpacing(12);
  layout->addWidget(heading);
  layout->addWidget(about);
  layout->addWidget(start_);
  layout->addSpacing(8);
  layout->addWidget(others);
  layout->addLayout(grid);
  layout->addWidget(buttons);
  for (QPushButton* card : cards_) card->setAutoDefault(false);  // Enter finds a layout
  connect(start_, &StartRow::layoutAsked, this, [this] {
    accept();
    Q_EMIT layoutAsked();
  });
  start_->model()->setFocus();
}

}  // namespace shardscape::ui
