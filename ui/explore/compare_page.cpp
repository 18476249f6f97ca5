#include "ui/explore/compare_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QShowEvent>
#include <QVBoxLayout>
#include <cmath>

#include "ui/dialogs/export_target.h"
#include "ui/explore/pair_bars.h"
#include "ui/state/display_text.h"
#include "ui/state/session.h"
#include "ui/theme/theme.h"
#include "ui/widgets/chart_table.h"
#include "ui/widgets/elided_label.h"

namespace shardscape::ui {
namespace {

constexpr double kKnobsShare = 0.24, kBarsShare = 0.46;  // of the height, at most

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

QString knob_words(const Knob& knob, const std::string& value) {
  if (knob.type == KnobType::Boolean) return value == "true" ? ComparePage::tr("on") : ComparePage::tr("off");
  if (knob.type == KnobType::Choice)
    for (const KnobChoice& choice : knob.choices)
      if (choice.value == value) return text(choice.label);
  return displayText(knob, text(value));
}

TableCell figure_cell(FigureKind kind, double value, UnitSystem units) {
  TableCell cell = text_cell(figure_text(kind, value, units), std::isnan(value) ? QString() : QString::number(value, 'g', 12));
  if (!std::isnan(value)) cell.sort = value;
  return cell;
}

}  // namespace

void DifferingKnobsModel::setKnobs(const std::vector<ComparedKnob>& knobs) {
  Rows rows;
  for (const ComparedKnob& knob : knobs) {
    std::vector<TableCell>& row = rows.emplace_back();
    row.push_back(text_cell(text(knob.knob->label), text(knob.knob->id)));
    for (const std::string& value : knob.values) row.push_back(text_cell(knob_words(*knob.knob, value), text(value)));
  }
  assign({{tr("Differs"), QStringLiteral("knob"), false, {}}, {tr("Current"), QStringLiteral("current"), true, {}}, {tr("Compared"), QStringLiteral("compared"), true, {}}}, std::move(rows));
}

void ComparisonModel::setFigures(const std::vector<ComparedFigure>& figures, UnitSystem units) {
  Rows rows;
  for (const ComparedFigure& figure : figures) {
    const double by = figure.values[1] - figure.values[0];
    TableCell difference = figure_cell(figure.kind, by, units);
    if (by > 0) difference.text.prepend(u'+');
    TableCell percent = text_cell(text(figure.percent(1)));
    percent.sort = figure.values[0] != 0 && !std::isnan(by) ? QVariant(by / figure.values[0]) : QVariant();
    rows.push_back({text_cell(text(figure.group)), text_cell(text(figure.label), text(figure.id)), figure_cell(figure.kind, figure.values[0], units),
                    figure_cell(figure.kind, figure.values[1], units), difference, percent});
  }
  assign({{tr("Of"), QStringLiteral("group"), false, {}},
          {tr("Figure"), QStringLiteral("figure"), false, {}},
          {tr("Current"), QStringLiteral("current"), true, {}},
          {tr("Compared"), QStringLiteral("compared"), true, {}},
          {tr("Difference"), QStringLiteral("difference"), true, tr("Compared less current")},
          {tr("Percent"), QStringLiteral("percent"), true, tr("Of the current one")}},
         std::move(rows));
}

ComparePage::ComparePage(Session* session, QWidget* parent) : QWidget(parent), session_(session) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  message_ = new QLabel(tr("Pick a design among those of a search, then \"Compare\": it stands here beside the present one."), this);
  message_->setProperty("role", "secondary");
  message_->setAlignment(Qt::AlignCenter);
  message_->setWordWrap(true);
  layout->addWidget(message_, 1);
  body_ = new QWidget(this);
  layout->addWidget(body_, 1);
  auto* rows = new QVBoxLayout(body_);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(8);
  auto* top = new QHBoxLayout;
  top->setSpacing(10);
  title_ = new ElidedLabel(body_, Theme::instance().uiFont(13, QFont::DemiBold));
  top->addWidget(title_, 1);
  legend_ = new QLabel(body_);
  legend_->setTextFormat(Qt::RichText);
  top->addWidget(legend_);
  take_ = new QPushButton(tr("Make current"), body_);
  take_->setObjectName(QStringLiteral("take_compared"));
  connect(take_, &QPushButton::clicked, this, [this] {
    if (other_) Q_EMIT taken(Design(*other_));
  });
  top->addWidget(take_);
  rows->addLayout(top);
  knobs_ = new ChartTable(body_);
  knobs_->setAccessibleName(tr("Table: knobs that differ"));
  knobs_model_ = new DifferingKnobsModel(this);
  knobs_->setTable(knobs_model_);
  rows->addWidget(knobs_);
  bars_ = new PairBars(body_);
  rows->addWidget(bars_);
  table_ = new ChartTable(body_);
  table_->setAccessibleName(tr("Table: all numbers of both designs"));
  model_ = new ComparisonModel(this);
  table_->setTable(model_);
  rows->addWidget(table_, 1);
  body_->setVisible(false);

  const auto restyle = [this] {
    const Colors& colors = Theme::instance().colors();
    legend_->setText(QStringLiteral("<span style='color:%1'>■</span> %2 &nbsp; <span style='color:%3'>■</span> %4")
                         .arg(colors.runtime.name(), tr("current"), colors.accent.name(), tr("compared")));
  };
  connect(&Theme::instance(), &Theme::changed, this, restyle);
  restyle();
  connect(session_, &Session::estimateChanged, this, &ComparePage::showFigures);
  connect(session_, &Session::unitsChanged, this, &ComparePage::showFigures);
}

void ComparePage::setDesign(const Design& design, const QString& name) {
  other_ = design;
  name_ = name;
  compared_.reset();
  message_->setText(tr("Working out the design…"));
  compute();
  showFigures();
}

void ComparePage::compute() {
  job_.start([this, design = *other_](const NewestJob::Post& post, std::stop_token) {
    const ComparedDesign made = compared(design);
    post([this, made] {
      compared_ = made;
      showFigures();
    });
  });
}

void ComparePage::showFigures() {
  if (!isVisible()) return;
  const std::shared_ptr<const Estimate> now = session_->estimate();
  const bool ready = other_ && compared_ && now && now->simulation;
  body_->setVisible(ready);
  message_->setVisible(!ready);
  if (!ready) return;
  title_->setText(name_);
  knobs_model_->setKnobs(compare_knobs({now->report->design, *other_}));
  figures_ = compare_figures({ComparedDesign{now->report, now->simulation}, *compared_});
  bars_->setFigures(figures_, session_->units());
  model_->setFigures(figures_, session_->units());
  fitHeights();
}

void ComparePage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  showFigures();
}

void ComparePage::resizeEvent(QResizeEvent*) { fitHeights(); }

void ComparePage::fitHeights() {
  knobs_->setFixedHeight(std::min(knobs_->fullHeight(), std::max(80, static_cast<int>(height() * kKnobsShare))));
  bars_->setFixedHeight(std::min(bars_->heightFor(width()), std::max(120, static_cast<int>(height() * kBarsShare))));
}

Picture ComparePage::picture() const {
  Picture picture;
  const QString name = text(session_->design().name);
  picture.title = tr("%1, compared").arg(name);
  picture.file_name = slug(name) + QStringLiteral("-compared");
  picture.size = QSize(std::max(900, bars_->width()), bars_->heightFor(bars_->width()) + 60);
  picture.paint = [bars = bars_, title = name_](QPaintDevice& device, QSize size, double scale) {
    QPainter painter(&device);
    painter.scale(scale, scale);
    const Colors& colors = Theme::instance().colors();
    painter.fillRect(QRect(QPoint(), size), colors.panel);
    painter.setFont(Theme::instance().uiFont(14, QFont::DemiBold));
    painter.setPen(colors.text);
    painter.drawText(QRect(16, 8, size.width() - 32, 28), Qt::AlignLeft | Qt::AlignVCenter, title);
    bars->paint(painter, QRectF(16, 44, size.width() - 32, size.height() - 52), colors.panel);
  };
  picture.csv = [model = model_] { return csv_text(*model); };
  return picture;
}

}  // namespace shardscape::ui
