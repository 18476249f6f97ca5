#include "ui/views/graph/graph_scene.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <algorithm>
#include <utility>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

// A font caches the font engine of the thread that uses it. The worker therefore gets deep copies of the
// window's fonts.
SheetFonts own_copy(SheetFonts fonts) {
  for (QFont* font : {&fonts.title, &fonts.plain, &fonts.detail, &fonts.caption, &fonts.note}) {
    font->setUnderline(true);  // any change detaches
    font->setUnderline(false);
  }
  return fonts;
}

}  // namespace

GraphScene::GraphScene(QObject* parent) : QObject(parent) {
  constexpr int kLateAfterMs = 90;  // shorter delays would flicker
  late_timer_.setSingleShot(true);
  late_timer_.setInterval(kLateAfterMs);
  connect(&late_timer_, &QTimer::timeout, this, [this] {
    late_ = pending();
    Q_EMIT lateChanged();
  });
  connect(&worker_, &LayoutWorker::finished, this, &GraphScene::takeSheet);
  updateFonts();
}

void GraphScene::updateFonts() {
  const Theme& theme = Theme::instance();
  SheetFonts fonts{theme.uiFont(13, QFont::DemiBold), theme.uiFont(13), theme.monoFont(12),
                   theme.monoFont(11), theme.uiFont(12)};
  if (fonts == fonts_) return;
  fonts_ = fonts;
  request(true);
}

void GraphScene::setReport(std::shared_ptr<const Report> report) {
  if (!report || !report->valid()) return;  // the last graph stays
  tree_ = std::make_shared<const GraphTree>(std::move(report));
  keepValid();
  foldEqualStages();
  request(true);
}

// Stages open unfolded, except in a run of equal stages.
void GraphScene::foldEqualStages() {
  constexpr int kLeastRun = 3;
  for (int first = 0, end = 0; first < tree_->stages(); first = end) {
    for (end = first + 1; end < tree_->stages() && tree_->equal_stages(first, end);) ++end;
    for (int stage = first; stage < end; ++stage) {
      const auto chosen = stage_choices_.find(stage);
      const bool unfolded = chosen == stage_choices_.end() ? end - first < kLeastRun : chosen->second;
      if (unfolded)
        expanded_.insert(tree_->stage_node(stage));
      else
        expanded_.erase(tree_->stage_node(stage));
    }
  }
}

bool GraphScene::unfold(const NodeId& id) {
  if (id.level == NodeLevel::Stage) stage_choices_[id.stage] = true;
  return expanded_.insert(id).second;
}

void GraphScene::setFlow(FlowChoice choice) {
  flow_choice_ = choice;
  updateFlow();
}

void GraphScene::setViewport(const QSize& size) {
  viewport_ = size;
  updateFlow();
}

void GraphScene::updateFlow() {
  // Room for three unfolded stages next to each other, and less room below them.
  constexpr double kWideShape = 1.3;
  constexpr int kWide = 1150;
  const bool wide = viewport_.width() >= kWide && viewport_.width() >= kWideShape * viewport_.height();
  const bool rightwards = flow_choice_ == FlowChoice::Auto ? wide : flow_choice_ == FlowChoice::Right;
  if (std::exchange(options_.rightwards, rightwards) == rightwards) return;
  Q_EMIT flowChanged();
  if (tree_ && tree_->stages() > 1) request(false);
}

void GraphScene::keepValid() {
  // Node ids are positions. Ids that still exist in the new design stay unfolded.
  Expanded kept;
  for (const NodeId& id : expanded_) {
    if (id.level == NodeLevel::Stage && id.stage < tree_->stages()) kept.insert(id);
    if (id.unit < 0 || id.unit >= tree_->units()) continue;
    NodeId moved = id;
    moved.stage = tree_->unit_node(id.unit, id.stage).stage;
    const Segment& segment = tree_->segment(tree_->segment_of(id.unit));
    if (id.level == NodeLevel::Unit || id.block < static_cast<int>(segment.blocks.size())) kept.insert(moved);
  }
  expanded_ = std::move(kept);
}

void GraphScene::setPasses(Passes passes) {
  if (options_.passes == passes) return;
  options_.passes = passes;
  request(true);
}

void GraphScene::setNumbers(bool numbers) {
  if (options_.numbers == numbers) return;
  options_.numbers = numbers;
  request(true);
}

void GraphScene::setUnits(UnitSystem units) {
  if (options_.units == units) return;
  options_.units = units;
  request(true);
}

bool GraphScene::canExpand(const NodeId& id) const {
  return id.level > NodeLevel::Root && id.level < NodeLevel::Op && !isExpanded(id);
}

void GraphScene::expand(const NodeId& id) {
  if (!canExpand(id) || !tree_) return;
  unfold(id);
  keepValid();
  request(false);
}

void GraphScene::expandPath(const NodeId& id) {
  if (!shown_tree_) return;
  bool changed = false;
  for (NodeId at = shown_tree_->parent(id); at.level != NodeLevel::Root; at = shown_tree_->parent(at))
    changed = unfold(at) || changed;
  keepValid();
  if (changed) request(false);
}

void GraphScene::expandAll(const NodeId& below, int stages) {
  if (!tree_ || below.level == NodeLevel::Op) return;
  const auto expand_unit = [&](int stage, int unit) {
    expanded_.insert(tree_->unit_node(unit, stage));
    for (const bool backward : {false, true})
      for (const LaneChild& child : tree_->lane(tree_->segment_of(unit), backward).children)
        if (child.is_block()) expanded_.insert({NodeLevel::Block, stage, unit, backward, child.block});
  };
  if (below.level == NodeLevel::Block) expanded_.insert(below);
  if (below.level == NodeLevel::Unit) expand_unit(below.stage, below.unit);
  if (below.level < NodeLevel::Unit)
    for (int stage = 0; stage < tree_->stages(); ++stage) {
      if (below.level == NodeLevel::Stage && (stage < below.stage || stage >= below.stage + stages)) continue;
      unfold(tree_->stage_node(stage));
      for (const auto& [first, end] : tree_->units_of(stage))
        for (int unit = first; unit < end; ++unit) expand_unit(stage, unit);
    }
  request(false);
}

void GraphScene::collapse(const NodeId& id) {
  if (id.level == NodeLevel::Stage) stage_choices_[id.stage] = false;
  if (expanded_.erase(id) > 0) request(false);
}

void GraphScene::request(bool other) {
  if (!tree_) return;
  if (other) ++generation_;
  ++job_;
  if (!late_timer_.isActive()) late_timer_.start();
  worker_.request({tree_, options_, own_copy(fonts_), expanded_, job_, generation_});
}

void GraphScene::takeSheet(quint64 job, const std::shared_ptr<const Sheet>& sheet) {
  if (job != job_) return;
  shown_job_ = job;
  sheet_ = sheet;
  shown_tree_ = tree_;
  late_timer_.stop();
  const bool was_late = std::exchange(late_, false);
  Q_EMIT sheetChanged(std::exchange(shown_generation_, generation_) != generation_);
  if (was_late) Q_EMIT lateChanged();
}

void GraphScene::waitForSheet() {
  QElapsedTimer timer;
  timer.start();
  while (pending() && timer.elapsed() < 30000) QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
}

}  // namespace shardscape::ui
