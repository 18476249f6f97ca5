#include "ui/views/architecture/layers_page.h"

#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <filesystem>

#include "base/number_text.h"
#include "base/units.h"
#include "design/knobs/knobs.h"
#include "design/layer_edits.h"
#include "model/library.h"
#include "model/model_sizes.h"
#include "model/own_files.h"
#include "ui/session/session.h"
#include "ui/session/staleness.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/file_slug.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/architecture/part_box.h"
#include "ui/views/architecture/pattern_strip.h"
#include "ui/views/architecture/sizes_model.h"

namespace shardscape::ui {
namespace {

constexpr int kColor = 0, kName = 1, kLayers = 2, kMixer = 3, kFeedForward = 4, kParameters = 5, kFlops = 6,
              kCopy = 7;

QLabel* caption(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("role", "small");
  return label;
}

QLabel* figure(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

std::string flops_text(double flops) { return format_flops(static_cast<Wide>(flops)); }

}  // namespace

LayersPage::LayersPage(Session* session, QWidget* parent) : QWidget(parent), session_(session) {
  setObjectName(QStringLiteral("layers_page"));
  auto* scroll = new QScrollArea(this);
  scroll->setAccessibleName(tr("Layers"));
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setWidgetResizable(true);
  auto* body = new QWidget(scroll);
  auto* column = new QVBoxLayout(body);
  column->setContentsMargins(20, 16, 20, 20);
  column->setSpacing(12);
  column->addWidget(makeHeading());
  issue_ = new IssueLine(body);
  issue_->setVisible(false);
  column->addWidget(issue_);
  column->addWidget(makePattern());
  column->addWidget(makeKinds());
  column->addWidget(makeSizes());
  column->addStretch(1);
  scroll->setWidget(body);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(scroll);
  connect(session_, &Session::reportChanged, this, &LayersPage::refresh);
  connect(session_, &Session::libraryChanged, this, [this] {
    for (const KindRow& row : rows_) {
      fillChoices(row.mixer, true);
      fillChoices(row.feed_forward, false);
    }
    refresh();
  });
  refresh();
}

QWidget* LayersPage::makeHeading() {
  auto* heading = new QWidget(this);
  auto* row = new QHBoxLayout(heading);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  auto* words = new QVBoxLayout;
  words->setSpacing(2);
  title_ = new ElidedLabel(heading, Theme::instance().uiFont(15, QFont::DemiBold));
  title_->setObjectName(QStringLiteral("architecture_title"));
  numbers_ = new QLabel(heading);
  numbers_->setObjectName(QStringLiteral("architecture_numbers"));
  numbers_->setProperty("role", "small");
  dimWhileStale(numbers_, session_);
  words->addWidget(title_);
  words->addWidget(numbers_);
  row->addLayout(words, 1);
  edit_text_ = new QPushButton(tr("Duplicate and edit"), heading);
  edit_text_->setObjectName(QStringLiteral("duplicate"));
  edit_text_->setToolTip(tr("Opens the text of this architecture as a copy of your own"));
  connect(edit_text_, &QPushButton::clicked, this,
          [this] { Q_EMIT textRequested(text_of(session_->design().model.architecture)); });
  save_ = new QPushButton(tr("Save model…"), heading);
  save_->setObjectName(QStringLiteral("save_model"));
  save_->setToolTip(tr("Keeps this model under Yours in the list of models"));
  connect(save_, &QPushButton::clicked, this, &LayersPage::askName);
  row->addWidget(edit_text_);
  row->addWidget(save_);
  row->addWidget(makeSaveRow());
  return heading;
}

QWidget* LayersPage::makeSaveRow() {
  naming_ = new QWidget(this);
  auto* row = new QHBoxLayout(naming_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  name_ = new QLineEdit(naming_);
  name_->setObjectName(QStringLiteral("model_name"));
  name_->setAccessibleName(tr("Name of the model under Yours"));
  name_->setPlaceholderText(tr("Name under Yours"));
  name_->setMinimumWidth(200);
  connect(name_, &QLineEdit::returnPressed, this, &LayersPage::saveModel);
  auto* done = new QPushButton(tr("Save"), naming_);
  done->setObjectName(QStringLiteral("save_named"));
  done->setProperty("primary", true);
  connect(done, &QPushButton::clicked, this, &LayersPage::saveModel);
  auto* cancel = new QPushButton(tr("Cancel"), naming_);
  cancel->setObjectName(QStringLiteral("cancel_save"));
  connect(cancel, &QPushButton::clicked, this, [this] { showNaming(false); });
  auto* escape = new QShortcut(QKeySequence(Qt::Key_Escape), naming_);
  escape->setContext(Qt::WidgetWithChildrenShortcut);
  connect(escape, &QShortcut::activated, this, [this] { showNaming(false); });
  row->addWidget(name_);
  row->addWidget(done);
  row->addWidget(cancel);
  naming_->setVisible(false);
  return naming_;
}

QWidget* LayersPage::makePattern() {
  auto* box = new QWidget(this);
  auto* grid = new QGridLayout(box);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(4);
  const QString names[] = {tr("First"), tr("Repeated"), tr("Last")};
  const QString ids[] = {QStringLiteral("prefix"), QStringLiteral("repeat"), QStringLiteral("suffix")};
  const QString tips[] = {tr("Layers before the repeated ones, such as dense*3. May be empty."),
                          tr("Layers that repeat until the model is full, such as linear*3, full."),
                          tr("Layers after the repeated ones. May be empty.")};
  strip_ = new PatternStrip(box);
  grid->addWidget(strip_, 0, 0, 1, 3);
  for (int i = 0; i < 3; ++i) {
    auto* label = caption(names[i], box);
    parts_[i] = new QLineEdit(box);
    parts_[i]->setObjectName(ids[i]);
    parts_[i]->setAccessibleName(tr("%1 layers").arg(names[i]));
    parts_[i]->setToolTip(tips[i]);
    parts_[i]->setFont(Theme::instance().monoFont(12));
    label->setBuddy(parts_[i]);
    connect(parts_[i], &QLineEdit::editingFinished, this, &LayersPage::enterPattern);
    grid->addWidget(label, 1, i);
    grid->addWidget(parts_[i], 2, i);
    grid->setColumnStretch(i, i == 1 ? 2 : 1);
  }
  return box;
}

QWidget* LayersPage::makeKinds() {
  auto* box = new QWidget(this);
  grid_ = new QGridLayout(box);
  grid_->setContentsMargins(0, 4, 0, 0);
  grid_->setHorizontalSpacing(12);
  grid_->setVerticalSpacing(6);
  const auto head = [&](int column, const QString& text, bool right = false) {
    auto* label = caption(text, box);
    if (right) label->setAlignment(Qt::AlignRight);
    grid_->addWidget(label, 0, column);
  };
  head(kName, tr("Kind"));
  head(kLayers, tr("Layers"), true);
  head(kMixer, tr("Mixer"));
  head(kFeedForward, tr("Feed-forward"));
  head(kParameters, tr("Parameters"), true);
  head(kFlops, tr("FLOPs/token"), true);
  grid_->setColumnStretch(kMixer, 1);
  grid_->setColumnStretch(kFeedForward, 1);
  return box;
}

QWidget* LayersPage::makeSizes() {
  auto* box = new QWidget(this);
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 4, 0, 0);
  column->setSpacing(6);
  auto* heading = new QLabel(tr("Sizes of the layers"), box);
  heading->setProperty("role", "heading");
  column->addWidget(heading);
  model_ = new SizesModel(
      [this](int row, const QString& kind, const QString& text) { return enterSize(row, kind, text); }, this);
  sizes_ = new QTableView(box);
  sizes_->setObjectName(QStringLiteral("layer_sizes"));
  sizes_->setAccessibleName(tr("Sizes of the layers"));
  sizes_->setModel(model_);
  sizes_->setShowGrid(false);
  sizes_->verticalHeader()->hide();
  sizes_->verticalHeader()->setDefaultSectionSize(28);
  sizes_->horizontalHeader()->setHighlightSections(false);
  sizes_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  sizes_->horizontalHeader()->setMinimumSectionSize(64);
  sizes_->setEditTriggers(QAbstractItemView::AllEditTriggers);
  sizes_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  connect(model_, &SizesModel::refused, this, [this](const QString& why) {
    issue_->show(why, QString(), QString(), {});
    issue_->setVisible(true);
  });
  column->addWidget(sizes_);
  return box;
}

LayersPage::KindRow LayersPage::makeRow(int row) {
  QWidget* box = grid_->parentWidget();
  KindRow out{};
  out.color = new QLabel(box);
  out.color->setFixedSize(10, 10);
  out.name = new ElidedLabel(box, Theme::instance().uiFont(13));
  out.layers = figure(box);
  out.parameters = figure(box);
  out.flops = figure(box);
  const auto combo = [&](bool mixer) {
    auto* made = new PartBox(box);
    connect(made, &QComboBox::activated, this, [this, row, mixer](int i) { choosePart(row, mixer, i); });
    return made;
  };
  out.mixer = combo(true);
  out.feed_forward = combo(false);
  out.copy = new QPushButton(tr("Copy"), box);
  out.copy->setProperty("link", true);
  out.copy->setToolTip(tr("Makes a new kind with the same parts, and adds one layer of it at the end"));
  connect(out.copy, &QPushButton::clicked, this, [this, row] { copyKind(row); });
  grid_->addWidget(out.color, row + 1, kColor);
  grid_->addWidget(out.name, row + 1, kName);
  grid_->addWidget(out.layers, row + 1, kLayers);
  grid_->addWidget(out.mixer, row + 1, kMixer);
  grid_->addWidget(out.feed_forward, row + 1, kFeedForward);
  grid_->addWidget(out.parameters, row + 1, kParameters);
  grid_->addWidget(out.flops, row + 1, kFlops);
  grid_->addWidget(out.copy, row + 1, kCopy);
  fillChoices(out.mixer, true);
  fillChoices(out.feed_forward, false);
  return out;
}

void LayersPage::fillChoices(PartBox* box, bool mixer) {
  box->clear();
  for (const PartChoice& choice :
       part_choices(mixer ? BlockUse::Mixer : BlockUse::FeedForward, ModelLibrary::instance())) {
    box->addItem(text_of(choice.label), text_of(choice.call));
    box->setItemData(box->count() - 1, text_of(choice.call + "\n" + choice.help), Qt::ToolTipRole);
  }
}

void LayersPage::refresh() {
  const auto report = session_->report();
  if (!session_->current() || !report) return;
  issue_->setVisible(false);
  const ModelSpec& model = session_->design().model;
  kinds_ = kind_numbers(*report);
  pattern_ = pattern_of(model, ModelLibrary::instance());
  title_->setText(text_of(model.architecture));
  numbers_->setText(tr("%1 parameters, %2 active  ·  %3 per token")
                        .arg(text_of(format_count(report->model_parameters.value)),
                             text_of(format_count(report->active_parameters.value)),
                             text_of(flops_text(flops_per_token(*report)))));
  const auto parts = pattern_parts(pattern_);
  if (const auto* read = std::get_if<PatternParts>(&parts)) {
    const std::string* texts[] = {&read->prefix, &read->repeat, &read->suffix};
    for (int i = 0; i < 3; ++i)
      if (!parts_[i]->hasFocus() || !parts_[i]->isModified()) parts_[i]->setText(text_of(*texts[i]));
  }
  QStringList names;
  for (const KindNumbers& kind : kinds_) names << text_of(kind.name);
  std::vector<int> layers;
  for (int64_t layer = 0; layer < model.layers; ++layer) {
    const int kind = report->graph().layer_kind(layer, model);
    layers.push_back(static_cast<int>(
        names.indexOf(text_of(report->graph().segments[static_cast<size_t>(kind) + 1].name))));
  }
  const auto named = parse_layer_pattern(pattern_);
  const auto* ends = std::get_if<NamedPattern>(&named);
  strip_->setLayers(names, std::move(layers), ends ? static_cast<int>(ends->layers.prefix.size()) : 0,
                    ends ? static_cast<int>(ends->layers.suffix.size()) : 0);
  fillRows();
  model_->setModel(model, kinds_);
  askForWindow();
  const int height = sizes_->horizontalHeader()->sizeHint().height() + 28 * model_->rowCount() + 4;
  sizes_->setFixedHeight(height + (sizes_->horizontalHeader()->length() > sizes_->width() ? 12 : 0));
}

void LayersPage::fillRows() {
  while (rows_.size() < static_cast<qsizetype>(kinds_.size()))
    rows_ << makeRow(static_cast<int>(rows_.size()));
  const auto choose = [](PartBox* box, const std::string& call) {
    box->setEnabled(!call.empty());
    int index = box->findData(text_of(call));
    if (index < 0 && !call.empty()) {
      box->addItem(text_of(call), text_of(call));
      index = box->count() - 1;
    }
    box->setCurrentIndex(index);
    box->setToolTip(call.empty() ? tr("This kind of layers has none, or several: edit its text.")
                                 : box->itemData(index, Qt::ToolTipRole).toString());
  };
  for (qsizetype i = 0; i < rows_.size(); ++i) {
    const KindRow& row = rows_[i];
    const bool shown = i < static_cast<qsizetype>(kinds_.size());
    for (QWidget* widget : {static_cast<QWidget*>(row.color), static_cast<QWidget*>(row.name),
                            static_cast<QWidget*>(row.layers), static_cast<QWidget*>(row.parameters),
                            static_cast<QWidget*>(row.flops), static_cast<QWidget*>(row.mixer),
                            static_cast<QWidget*>(row.feed_forward), static_cast<QWidget*>(row.copy)})
      widget->setVisible(shown);
    if (!shown) continue;
    const KindNumbers& kind = kinds_[static_cast<size_t>(i)];
    const QString name = text_of(kind.name);
    row.color->setStyleSheet(QStringLiteral("background: %1; border-radius: 2px;")
                                 .arg(PatternStrip::color(static_cast<int>(i)).name()));
    row.name->setText(name);
    row.layers->setText(text_of(grouped(kind.layers)));
    row.parameters->setText(text_of(format_count(kind.parameters)));
    row.flops->setText(text_of(flops_text(kind.flops_per_token)));
    row.mixer->setAccessibleName(tr("Mixer of %1").arg(name));
    row.mixer->setObjectName(QStringLiteral("mixer_") + name);
    row.feed_forward->setAccessibleName(tr("Feed-forward part of %1").arg(name));
    row.feed_forward->setObjectName(QStringLiteral("feed_forward_") + name);
    row.copy->setObjectName(QStringLiteral("copy_") + name);
    row.copy->setAccessibleName(tr("Copy %1").arg(name));
    choose(row.mixer, kind.mixer);
    choose(row.feed_forward, kind.feed_forward);
  }
}

void LayersPage::refuse(const Problem& problem) {
  issue_->show(text_of(problem.what), text_of(problem.accepted), QString(), {});
  issue_->setVisible(true);
}

void LayersPage::askForWindow() {
  const auto& problems = session_->problems();
  const auto missing = std::find_if(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.code == ProblemCode::WindowWidthMissing;
  });
  if (missing == problems.end()) return;
  const Fix fix = missing->fixes.front();
  issue_->show(text_of(missing->what), text_of(missing->accepted), capitalized(text_of(fix.label)),
               [this, fix] { session_->applyFix(fix); });
}

void LayersPage::showNaming(bool naming) {
  naming_->setVisible(naming);
  edit_text_->setVisible(!naming);
  save_->setVisible(!naming);
  issue_->setVisible(false);
  may_replace_.clear();
  if (!naming) save_->setFocus(Qt::OtherFocusReason);
}

void LayersPage::askName() {
  name_->setText(text_of(session_->design().name));
  showNaming(true);
  name_->selectAll();
  name_->setFocus(Qt::OtherFocusReason);
}

void LayersPage::saveModel() {
  const Design& design = session_->design();
  const QString name = name_->text().trimmed();
  if (name.isEmpty())
    return refuse({ProblemCode::DataValue, "name", "the model has no name", "a name, for example My model"});
  const std::string id = slug(name).toStdString();
  std::error_code ignored;
  const std::filesystem::path file = own_file("presets", id);
  if (id != design.model.preset && id != may_replace_ && std::filesystem::exists(file, ignored)) {
    may_replace_ = id;
    return refuse({ProblemCode::DataValue, "name", "another one of your models is in " + file.string(),
                   "another name; the same name again replaces that model"});
  }
  const auto path = save_own("presets", id,
                             preset_text(id, name.toStdString(), design.model, design.workload.seq));
  if (const auto* problem = std::get_if<Problem>(&path)) return refuse(*problem);
  showNaming(false);
  session_->reloadLibrary();
  session_->applyPreset(text_of(id));
}

void LayersPage::adopt(const ModelSpec& model, const QString& undo_text) {
  issue_->setVisible(false);
  session_->adoptModel(model, text_of(session_->design().name), undo_text);
}

void LayersPage::choosePart(int row, bool mixer, int index) {
  const KindRow& widgets = rows_[row];
  const KindNumbers kind = kinds_[static_cast<size_t>(row)];
  const QString call = (mixer ? widgets.mixer : widgets.feed_forward)->itemData(index).toString();
  if (call.toStdString() == (mixer ? kind.mixer : kind.feed_forward)) return;
  const auto made = with_part(session_->design().model, kind.name,
                              mixer ? BlockUse::Mixer : BlockUse::FeedForward, call.toStdString(),
                              ModelLibrary::instance());
  if (const auto* problem = std::get_if<Problem>(&made)) {
    refuse(*problem);
    return fillRows();
  }
  adopt(std::get<ModelSpec>(made), mixer ? tr("mixer of %1").arg(text_of(kind.name))
                                         : tr("feed-forward part of %1").arg(text_of(kind.name)));
}

void LayersPage::enterPattern() {
  const PatternParts parts{parts_[0]->text().trimmed().toStdString(),
                           parts_[1]->text().trimmed().toStdString(),
                           parts_[2]->text().trimmed().toStdString()};
  const std::string text = pattern_text(parts);
  for (QLineEdit* line : parts_) line->setModified(false);
  if (text == pattern_) return;
  Design next = session_->design();
  if (const auto problem = set_knob(next, *find_knob("layer_pattern"), text)) return refuse(*problem);
  adopt(next.model, tr("order of layers"));
}

void LayersPage::copyKind(int row) {
  std::string made;
  const ModelSpec model = with_new_kind(session_->design().model, kinds_[static_cast<size_t>(row)].name,
                                        pattern_, ModelLibrary::instance(), made);
  adopt(model, tr("new kind %1").arg(text_of(made)));
}

QString LayersPage::enterSize(int row, const QString& kind, const QString& text) {
  const ModelSize& size = kModelSizes[static_cast<size_t>(row)];
  if (kind.isEmpty()) {
    const auto problem = session_->setKnob(QString::fromUtf8(size.id), text);
    session_->endEdit();
    return problem ? text_of(problem->what) : QString();
  }
  std::optional<int64_t> value;
  if (!text.isEmpty()) {
    const NumberText read = parse_number(text.toStdString(), true);
    if (read.fault != NumberFault::None || read.value < size.min || read.value > size.max)
      return tr("%1: \"%2\" is not a whole number from %3 to %4")
          .arg(QString::fromUtf8(size.label), text, text_of(grouped(size.min)), text_of(grouped(size.max)));
    value = read.value;
    if (*value == session_->design().model.*size.member) value.reset();
  }
  adopt(with_size(session_->design().model, kind.toStdString(), row, value),
        tr("%1 of %2").arg(QString::fromUtf8(size.label).toLower(), kind));
  return {};
}

}  // namespace shardscape::ui
