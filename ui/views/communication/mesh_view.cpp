#include "ui/views/communication/mesh_view.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPainter>
#include <QPixmap>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QShowEvent>
#include <QVBoxLayout>
#include <algorithm>

#include "plan/rank_mesh.h"
#include "ui/inspector/communication_inspection.h"
#include "ui/plot/design_choice.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/communication/mesh_canvas.h"
#include "ui/views/communication/mesh_text.h"

namespace shardscape::ui {
namespace {

QIcon swatch(const QColor& color, double scale) {
  QPixmap pixmap(QSize(12, 12) * scale);
  pixmap.setDevicePixelRatio(scale);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.fillRect(QRectF(1, 1, 10, 10), color);
  return QIcon(pixmap);
}

// The first rank of the stage at the same relative place as the selected stage.
int64_t matching_rank(const SelectionState& state, const Report& of) {
  const Session& session = *state.session();
  const int stages = session.report() ? static_cast<int>(session.report()->stages.size()) : 1;
  return mesh_of(of).with(
      0, MeshAxis::Pp,
      Comparisons::sameStagePlace(state.stage(), stages, static_cast<int>(of.stages.size())));
}

}  // namespace

MeshView::MeshView(SelectionState* state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      session_(state->session()),
      row_(new QHBoxLayout),
      buttons_(new QButtonGroup(this)),
      canvas_(new MeshCanvas(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  row_->setSpacing(6);
  row_->addStretch(1);
  choice_ = new DesignChoice(session_, tr("Mesh of"), this);
  row_->addWidget(choice_);
  column->addLayout(row_);
  column->addWidget(canvas_, 1);
  connect(buttons_, &QButtonGroup::buttonClicked, this,
          [this](QAbstractButton* button) { selectGroup(button->property("group").toString()); });
  connect(state_, &SelectionState::selectionChanged, this, &MeshView::followSelection);
  connect(canvas_, &MeshCanvas::rankSelected, this, [this](qint64 rank) {
    explained_ = true;
    if (choice_->member() == 0) {
      state_->setRank(rank);
    } else {
      rank_ = rank;
      refresh();
    }
    explain();
  });
  // Another design has other ranks: select the first rank of the stage at the same relative place.
  connect(choice_, &DesignChoice::changed, this, [this] {
    if (const auto of = choice_->report(); choice_->member() > 0 && of) rank_ = matching_rank(*state_, *of);
    refresh();
    if (isVisible()) explain();
  });
  connect(session_->comparisons(), &Comparisons::changed, this, &MeshView::refresh);
  connect(session_, &Session::reportChanged, this, &MeshView::refresh);
  connect(state_, &SelectionState::stageChanged, this, &MeshView::refresh);
  connect(state_, &SelectionState::inspectionChanged, this, [this] {
    if (!explaining_) explained_ = false;  // another view filled the inspector
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
  const std::shared_ptr<const Report> report = choice_->report();
  if (!report || !report->valid() || report->stages.empty() || !isVisibleTo(parentWidget())) return;
  const bool follows = explained_;
  std::vector<RankGroup> groups = groups_of_rank(*report, rank());
  // If the design no longer has the chosen group, the first group is shown.
  int chosen = -1;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (text_of(groups[i].name) == chosen_) chosen = static_cast<int>(i);
  }
  if (chosen < 0) chosen = groups.empty() ? -1 : 0;
  chosen_ = chosen < 0 ? QString() : text_of(groups[static_cast<size_t>(chosen)].name);
  canvas_->setMesh(report, std::move(groups), rank(), chosen);
  countOthers();
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
    // deleteLater(), because a button may still be handling its click.
    for (QAbstractButton* button : before) {
      buttons_->removeButton(button);
      button->hide();
      button->deleteLater();
    }
    for (size_t i = 0; i < groups.size(); ++i) {
      auto* button = new QPushButton(this);
      button->setCheckable(true);
      button->setProperty("group", text_of(groups[i].name));
      buttons_->addButton(button);
      row_->insertWidget(static_cast<int>(i), button);
    }
  }
  const QList<QAbstractButton*> buttons = buttons_->buttons();
  for (size_t i = 0; i < groups.size(); ++i) {
    QAbstractButton* button = buttons[static_cast<qsizetype>(i)];
    const QString size = groups[i].takesPart() ? grouped_text(static_cast<Wide>(groups[i].ranks.size()))
                                               : tr("none");
    QStringList others;
    bool differs = false;
    for (const OtherSize& other : othersOf(groups[i].name)) {
      others << other.text();
      differs = differs || other.ranks != size;
    }
    button->setText(QStringLiteral("%1: %2%3")
                        .arg(text_of(groups[i].name), size, differs ? QStringLiteral(" ≠") : QString()));
    button->setToolTip((QStringList{group_label(groups[i].name)} + others).join(u'\n'));
    button->setAccessibleName(
        (QStringList{members_text(*canvas_->grid(), groups[i])} + others).join(QStringLiteral(", ")));
    button->setIcon(swatch(group_color(groups[i].name), devicePixelRatioF()));
    button->setIconSize({12, 12});
    button->setChecked(text_of(groups[i].name) == chosen_);
  }
}

qint64 MeshView::rank() const { return choice_->member() == 0 ? state_->rank() : rank_; }

void MeshView::countOthers() {
  others_.clear();
  const std::vector<PinnedDesign>& pinned = session_->comparisons()->all();
  for (int member = 0; member <= static_cast<int>(pinned.size()); ++member) {
    const auto of = member == 0 ? session_->report() : pinned[static_cast<size_t>(member - 1)].result.report;
    if (member == choice_->member() || !of || !of->valid()) continue;
    Other& other = others_.emplace_back(Other{member, {}});
    for (const RankGroup& group : groups_of_rank(*of, matching_rank(*state_, *of)))
      if (group.takesPart()) other.sizes[group.name] = group.ranks.size();
  }
}

QList<MeshView::OtherSize> MeshView::othersOf(const std::string& group) const {
  QList<OtherSize> out;
  for (const Other& other : others_) {
    const auto it = other.sizes.find(group);
    out.append({Comparisons::letter(other.member),
                it == other.sizes.end() ? tr("none") : grouped_text(static_cast<Wide>(it->second))});
  }
  return out;
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

// Selects the group in all views.
void MeshView::selectGroup(const QString& name) {
  setGroup(name);
  if (!session_->report() || !session_->report()->valid()) return;
  Selection selection;
  selection.kind = SelectionKind::Group;
  selection.stage = state_->stage();
  selection.group = name.toStdString();
  state_->selectInAllViews(remapToStage(selection, *session_->report(), selection.stage),
                           this);  // other views show the present design, which may lack the group
}

// Shows the selected group. Keeps the shown group if it is one of several selected groups or if none is
// selected.
void MeshView::followSelection(const QObject* by) {
  if (by == this || choice_->member() > 0) return;
  const std::shared_ptr<const Report> report = session_->report();
  if (!report || !report->valid()) return;
  const auto is_selected = [&](const std::string& name) {
    return state_->resolvedSelection().group(state_->stage(), name);
  };
  if (is_selected(chosen_.toStdString())) return;
  for (const RankGroup& group : groups_of_rank(*report, rank()))
    if (is_selected(group.name)) {
      chosen_ = text_of(group.name);
      return refresh();
    }
}

void MeshView::explain() {
  const std::shared_ptr<const Report> report = choice_->report();
  if (!report || !report->valid() || !canvas_->grid()) return;
  explained_ = true;
  const QScopedValueRollback<bool> guard(explaining_, true);
  const int chosen = chosenIndex();
  Inspection out = chosen < 0 ? inspect_lone_rank(*report, *canvas_->grid(), rank())
                              : inspect_rank_group(*report, *canvas_->grid(), rank(),
                                                   canvas_->groups()[static_cast<size_t>(chosen)]);
  if (choice_->member() > 0)
    out.title = QStringLiteral("%1: %2").arg(Comparisons::letter(choice_->member()), out.title);
  if (chosen >= 0)
    for (const OtherSize& other : othersOf(canvas_->groups()[static_cast<size_t>(chosen)].name))
      out.rows.append({tr("ranks of this group in %1").arg(other.letter), other.ranks});
  state_->inspect(out);
}

Picture MeshView::picture(const QString& file_name) const {
  Picture picture = canvas_->picture(tr("Groups of the mesh"), file_name);
  if (canvas_->grid()) picture.csv = [this] { return mesh_csv(*choice_->report(), *canvas_->grid()); };
  return picture;
}

void MeshView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  followSelection(nullptr);
  refresh();
}

}  // namespace shardscape::ui
