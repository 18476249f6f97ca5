#include "ui/charts/mesh_view.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPainter>
#include <QPixmap>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QShowEvent>
#include <QVBoxLayout>

#include "ui/charts/communication_inspection.h"
#include "ui/charts/mesh_canvas.h"
#include "ui/charts/mesh_text.h"
#include "ui/models/value_scale.h"
#include "ui/theme/theme.h"

namespace shardscape::ui {
namespace {

constexpr QSize kLeastPicture(720, 360);

QIcon swatch(const QColor& color, double scale) {
  QPixmap pixmap(QSize(12, 12) * scale);
  pixmap.setDevicePixelRatio(scale);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.fillRect(QRectF(1, 1, 10, 10), color);
  return QIcon(pixmap);
}

}  // namespace

MeshView::MeshView(Session* session, QWidget* parent)
    : QWidget(parent), session_(session), row_(new QHBoxLayout), buttons_(new QButtonGroup(this)), canvas_(new MeshCanvas(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  row_->setSpacing(6);
  row_->addStretch(1);
  column->addLayout(row_);
  column->addWidget(canvas_, 1);
  connect(buttons_, &QButtonGroup::buttonClicked, this,
          [this](QAbstractButton* button) { setGroup(button->property("group").toString()); });
  connect(canvas_, &MeshCanvas::picked, this, [this](qint64 rank) {
    explained_ = true;
    session_->setRank(rank);
    explain();
  });
  connect(session_, &Session::reportChanged, this, &MeshView::refresh);
  connect(session_, &Session::stageChanged, this, &MeshView::refresh);
  connect(session_, &Session::inspectionChanged, this, [this] {
    if (!explaining_) explained_ = false;  // the inspector went elsewhere
  });
  connect(&Theme::instance(), &Theme::changed, this, &MeshView::refresh);
  refresh();
}

int MeshView::chosenIndex() const {
  const std::vector<RankGroup>& groups = canvas_->groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    if (text_of(groups[i].name) == chosen_) return static_cast<int>(i);
  }
  return -1;
}

void MeshView::refresh() {
  const std::shared_ptr<const Report>& report = session_->report();
  if (!report || !report->valid() || report->stages.empty() || !isVisibleTo(parentWidget())) return;
  const bool follows = explained_;
  std::vector<RankGroup> groups = groups_of_rank(*report, session_->rank());
  // A group that the design no longer has gives way to the first one.
  int chosen = -1;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (text_of(groups[i].name) == chosen_) chosen = static_cast<int>(i);
  }
  if (chosen < 0) chosen = groups.empty() ? -1 : 0;
  chosen_ = chosen < 0 ? QString() : text_of(groups[static_cast<size_t>(chosen)].name);
  canvas_->setMesh(report, std::move(groups), session_->rank(), chosen);
  fillChips();
  if (follows) explain();
}

void MeshView::fillChips() {
  const std::vector<RankGroup>& groups = canvas_->groups();
  const QList<QAbstractButton*> before = buttons_->buttons();
  bool same = before.size() == static_cast<qsizetype>(groups.size());
  for (qsizetype i = 0; same && i < before.size(); ++i)
    same = before[i]->property("group").toString() == text_of(groups[static_cast<size_t>(i)].name);
  if (!same) {
    // Buttons that may be in the middle of their own click go when it is over.
    for (QAbstractButton* button : before) {
      buttons_->removeButton(button);
      button->hide();
      button->deleteLater();
    }
    for (size_t i = 0; i < groups.size(); ++i) {
      auto* button = new QPushButton(this);
      button->setCheckable(true);
      button->setProperty("group", text_of(groups[i].name));
      button->setToolTip(group_label(groups[i].name));
      buttons_->addButton(button);
      row_->insertWidget(static_cast<int>(i), button);
    }
  }
  const QList<QAbstractButton*> buttons = buttons_->buttons();
  for (size_t i = 0; i < groups.size(); ++i) {
    QAbstractButton* button = buttons[static_cast<qsizetype>(i)];
    const QString size = groups[i].takesPart() ? grouped_text(static_cast<Wide>(groups[i].ranks.size())) : tr("none");
    button->setText(QStringLiteral("%1: %2").arg(text_of(groups[i].name), size));
    button->setAccessibleName(members_text(*canvas_->grid(), groups[i]));
    button->setIcon(swatch(group_color(groups[i].name), devicePixelRatioF()));
    button->setIconSize({12, 12});
    button->setChecked(text_of(groups[i].name) == chosen_);
  }
}

QList<QPushButton*> MeshView::chips() const {
  QList<QPushButton*> out;
  for (QAbstractButton* button : buttons_->buttons()) out.append(qobject_cast<QPushButton*>(button));
  return out;
}

void MeshView::setGroup(const QString& name) {
  chosen_ = name;
  explained_ = true;
  refresh();
}

void MeshView::explain() {
  const std::shared_ptr<const Report>& report = session_->report();
  if (!report || !report->valid() || !canvas_->grid()) return;
  explained_ = true;
  const QScopedValueRollback<bool> guard(explaining_, true);
  const int chosen = chosenIndex();
  const int64_t rank = session_->rank();
  session_->inspect(chosen < 0 ? inspect_lone_rank(*report, *canvas_->grid(), rank)
                               : inspect_rank_group(*report, *canvas_->grid(), rank, canvas_->groups()[static_cast<size_t>(chosen)]));
}

Picture MeshView::picture(const QString& file_name) const {
  Picture picture;
  picture.title = tr("Who is in whose group");
  picture.file_name = file_name;
  picture.size = canvas_->size().expandedTo(kLeastPicture);
  picture.paint = [this](QPaintDevice& device, QSize size, double scale) {
    canvas_->paint(device, size, scale, tr("Who is in whose group"));
  };
  if (canvas_->grid()) picture.csv = [this] { return mesh_csv(*session_->report(), *canvas_->grid()); };
  return picture;
}

void MeshView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

}  // namespace shardscape::ui
