#include "ui/views/graph/sheet_builder.h"

#include <QFontMetricsF>
#include <QStringList>
#include <algorithm>
#include <tuple>

#include "plan/stage_boundary.h"
#include "ui/toolkit/stage_text.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/graph/row_layout.h"

namespace shardscape::ui {
namespace {

constexpr FlowGaps kOpGaps{24, 32}, kUnitGaps{24, 28}, kStageGaps{24, 40};
constexpr double kLaneGap = 56, kLaneCaption = 22;

// The summary of a stage next to its name.
QString stage_detail(const PipelineLayout& places, const StageReport& stage) {
  // With several chunks, the ranges of layers take all the room.
  if (stage.chunks.size() > 1) {
    const bool twice = places.layout == ChunkLayout::BothWays;
    return layers_text(stage) +
           (twice ? QStringLiteral(", as on stage %1").arg(places.stages - 1 - stage.stage) : QString());
  }
  QStringList parts{layers_text(stage)};
  parts << qtext(format_count(stage.parameters.value)) + QStringLiteral(" parameters per rank");
  return parts.join(QStringLiteral(" · "));
}

// "equal: 13 × 8 layers · 1.02 B parameters per rank"
QString equal_detail(int count, const StageReport& stage) {
  const QString layers = counted_text(stage.layers, QStringLiteral("layer"), QStringLiteral("layers")),
                chunks = stage.chunks.size() > 1 ? QStringLiteral(" in %1 chunks").arg(stage.chunks.size())
                                                 : QStringLiteral(" · %1 parameters per rank")
                                                       .arg(qtext(format_count(stage.parameters.value)));
  return QStringLiteral("equal: %1 × %2%3").arg(count).arg(layers, chunks);
}

}  // namespace

SheetBuilder::SheetBuilder(const GraphTree& tree, const SheetOptions& options, const SheetFonts& fonts,
                           const Expanded& expanded, SheetCache& cache, std::stop_token stop)
    : tree_(tree),
      options_(options),
      fonts_(fonts),
      expanded_(expanded),
      cache_(cache),
      stop_(std::move(stop)),
      text_(tree.report().binding, options.numbers, options.units) {}

std::shared_ptr<const Sheet> SheetBuilder::root() {
  std::vector<Piece> pieces;
  const auto folded = [&](int stage) { return !expanded_.count(tree_.stage_node(stage)); };
  for (int stage = 0; stage < tree_.stages();) {
    int count = 1;
    if (folded(stage))
      while (stage + count < tree_.stages() && folded(stage + count) &&
             tree_.equal_stages(stage, stage + count))
        ++count;
    pieces.push_back(stage_piece(stage, count));
    stage += count;
    if (stop_.stop_requested()) return nullptr;
  }
  return options_.rightwards ? stage_row(std::move(pieces))
                             : chain_sheet(std::move(pieces), false, false, true, kStageGaps.below);
}

std::shared_ptr<const Sheet> SheetBuilder::stage_row(std::vector<Piece> stages) const {
  auto sheet = std::make_shared<Sheet>();
  const std::vector<Link> links = chain_links(stages, false, false, true);
  sheet->pieces = std::move(stages);
  arrange_row(*sheet, links, fonts_.caption);
  join_lines(*sheet);
  return sheet;
}

Piece SheetBuilder::stage_piece(int stage, int count) {
  Piece piece;
  piece.id = tree_.stage_node(stage);
  piece.units = count;
  piece.expandable = true;
  const StageReport& report = tree_.report().stages[static_cast<size_t>(stage)];
  const QString title = tree_.stage_name(stage, count);
  if (expanded_.count(piece.id)) {
    make_frame(piece, title, stage_detail(pipeline_layout(tree_.report().design.parallel), report),
               stage_sheet(stage));
    return piece;
  }
  std::set<int> segments;
  for (int s = stage; s < stage + count; ++s)
    for (const auto& units : tree_.units_of(s)) piece.held.push_back(units);
  for (const auto& [first, end] : tree_.units_of(stage))
    for (int unit = first; unit < end; ++unit) segments.insert(tree_.segment_of(unit));
  piece.segments.assign(segments.begin(), segments.end());
  make_card(piece, title,
            count > 1 ? equal_detail(count, report)
                      : stage_detail(pipeline_layout(tree_.report().design.parallel), report),
            320, 52);
  return piece;
}

std::shared_ptr<const Sheet> SheetBuilder::stage_sheet(int stage) {
  std::vector<Piece> pieces;
  const auto folded_layer = [&](int u) {
    return tree_.is_layer(u) && !expanded_.count(tree_.unit_node(u, stage));
  };
  for (const auto& [first, end] : tree_.units_of(stage)) {
    for (int unit = first; unit < end && !stop_.stop_requested();) {
      int count = 1;
      if (folded_layer(unit))
        while (unit + count < end && folded_layer(unit + count)) ++count;
      pieces.push_back(unit_piece(stage, unit, count));
      unit += count;
    }
  }
  return chain_sheet(std::move(pieces), stage > 0, stage + 1 < tree_.stages(), false, kUnitGaps.below);
}

Piece SheetBuilder::unit_piece(int stage, int unit, int count) {
  Piece piece;
  piece.id = tree_.unit_node(unit, stage);
  piece.units = count;
  piece.segment = tree_.segment_of(unit);
  piece.expandable = true;
  QString title = tree_.unit_name(unit, count);
  if (expanded_.count(piece.id)) {
    if (tree_.is_layer(unit)) title += QStringLiteral(" of %1").arg(tree_.layers_like(unit));
    make_frame(piece, title, {}, unit_sheet(stage, unit));
    return piece;
  }
  std::set<int> kinds;
  for (int i = unit; i < unit + count; ++i) kinds.insert(tree_.segment_of(i));
  piece.segments.assign(kinds.begin(), kinds.end());
  const bool one_kind = kinds.size() == 1;
  const auto ops = tree_.ops_of(piece.id, options_.passes).size();
  QString detail;
  if (count > 1) {
    detail = one_kind ? QStringLiteral("%1 × the same, %2 ops each").arg(count).arg(ops)
                      : tree_.sequence_text(unit, count);
  } else {
    detail = ops == 1 ? QStringLiteral("1 op") : QStringLiteral("%1 ops").arg(ops);
  }
  make_card(piece, title, detail, 280, 52);
  return piece;
}

std::shared_ptr<const Sheet> SheetBuilder::unit_sheet(int stage, int unit) {
  const int segment = tree_.segment_of(unit);
  std::set<int> open[2];
  std::pair<int, std::vector<NodeId>> key{segment, {}};
  for (const NodeId& id : expanded_)
    if (id.level == NodeLevel::Block && id.stage == stage && id.unit == unit &&
        shows(options_.passes, id.backward)) {
      open[id.backward].insert(id.block);
      key.second.push_back({NodeLevel::Block, -1, -1, id.backward, id.block});
    }
  if (const auto known = cache_.find(key); known != cache_.end()) return known->second;

  auto sheet = std::make_shared<Sheet>();
  std::vector<std::shared_ptr<const Sheet>> lanes;
  double height = 0;
  for (const bool backward : {false, true}) {
    if (!shows(options_.passes, backward)) continue;
    lanes.push_back(lane_sheet(segment, backward, open[backward]));
    if (!lanes.back()) return nullptr;
    height = std::max(height, lanes.back()->size.height());
  }
  if (lanes.size() == 1) {
    *sheet = *lanes.front();
  } else {
    const QString names[2] = {QStringLiteral("forward ↓"), QStringLiteral("backward ↑")};
    double x = 0;
    for (size_t i = 0; i < lanes.size(); ++i) {
      Sheet lane = *lanes[i];
      const double slack = height - lane.size.height(), above = std::floor(slack / 2);
      extend_to_edges(lane, above + kLaneCaption, slack - above);
      sheet->captions.push_back(make_line(names[i], {x, 0}));
      merge(*sheet, lane, {x, kLaneCaption + above});
      x += lane.size.width() + kLaneGap;
    }
    sheet->size = {x - kLaneGap, height + kLaneCaption};
  }
  join_lines(*sheet);
  cache_[key] = sheet;
  return sheet;
}

std::shared_ptr<const Sheet> SheetBuilder::lane_sheet(int segment, bool backward,
                                                      const std::set<int>& open_blocks) {
  std::vector<Piece> pieces;
  const Lane& lane = tree_.lane(segment, backward);
  for (const LaneChild& child : lane.children) {
    if (child.is_block())
      pieces.push_back(block_piece(segment, backward, child, open_blocks.count(child.block) > 0));
    else
      pieces.push_back(op_piece(segment, backward, -1, child.ops.front()));
  }
  return flow_sheet(segment, backward, lane.children, std::move(pieces));
}

Piece SheetBuilder::block_piece(int segment, bool backward, const LaneChild& child, bool open) {
  Piece piece;
  piece.id = {NodeLevel::Block, -1, -1, backward, child.block};
  piece.segment = segment;
  piece.expandable = true;
  const Segment& of = tree_.segment(segment);
  const BlockInstance& block = of.blocks[static_cast<size_t>(child.block)];
  const QString name = qtext(block.label.empty() ? block.name : block.label);
  if (open) {
    std::vector<Piece> ops;
    std::vector<LaneChild> singles;
    for (OpId op : child.ops) {
      ops.push_back(op_piece(segment, backward, child.block, op));
      singles.push_back({child.block, {op}});
    }
    auto inside = flow_sheet(segment, backward, singles, std::move(ops));
    if (inside) join_lines(*inside);
    make_frame(piece, name, backward ? QStringLiteral("backward") : QStringLiteral("forward"), inside);
    return piece;
  }
  Expr flops;
  for (OpId op : child.ops) flops += of.op(op).flops;
  QString detail = QStringLiteral("%1 ops").arg(child.ops.size());
  if (!flops.is_zero()) detail += QStringLiteral(" · ") + text_.flops(flops);
  for (OpId op : child.ops)
    if (const QString window = text_.window(of, of.op(op)); !window.isEmpty())
      detail += QStringLiteral(" · ") + window;
  make_card(piece, name, detail, 240, 52);
  return piece;
}

Piece SheetBuilder::op_piece(int segment, bool backward, int block, OpId id) const {
  const Segment& of = tree_.segment(segment);
  const Op& op = of.op(id);
  Piece piece;
  piece.id = {NodeLevel::Op, -1, -1, backward, block, id};
  piece.segment = segment;
  piece.kind = static_cast<int>(op.kind);
  const QString title = op_title(op), detail = text_.detail(of, op);
  if (is_redistribution(op.kind)) {
    piece.shape = PieceShape::Pill;
    const QFontMetricsF plain(fonts_.plain), mono(fonts_.detail);
    const double title_width = plain.horizontalAdvance(title), gap = detail.isEmpty() ? 0 : 8;
    const double width = std::max(
        160.0, std::ceil((title_width + gap + mono.horizontalAdvance(detail) + 40) / 40) * 40);
    piece.rect = {0, 0, width, 28};
    const double left = (width - title_width - gap - mono.horizontalAdvance(detail)) / 2;
    piece.title = make_line(title, {left, (28 - plain.height()) / 2});
    piece.detail = make_line(
        detail, {left + title_width + gap, (28 - plain.height()) / 2 + plain.ascent() - mono.ascent()});
    return piece;
  }
  make_card(piece, title, detail, 160, 44);
  return piece;
}

void SheetBuilder::make_card(Piece& piece, const QString& title, const QString& detail, double min_width,
                             double height) const {
  constexpr double kMost = 320, kPad = 14,
                   kStep = 40;  // widths are multiples of kStep, so that columns look even
  const double chevron = piece.expandable ? 16 : 0;
  const QFontMetricsF bold(fonts_.title), mono(fonts_.detail);
  const double wanted = std::max(bold.horizontalAdvance(title), mono.horizontalAdvance(detail)) + 2 * kPad +
                        chevron;
  const double width = std::clamp(std::ceil(wanted / kStep) * kStep, min_width, kMost),
               room = width - 2 * kPad - chevron;
  piece.rect = {0, 0, width, height};
  const double lines = bold.height() + (detail.isEmpty() ? 0 : mono.height() + 2), top = (height - lines) / 2;
  piece.title = make_line(bold.elidedText(title, Qt::ElideRight, room), {kPad + chevron, top});
  if (!detail.isEmpty())
    piece.detail = make_line(mono.elidedText(detail, Qt::ElideRight, room),
                             {kPad + chevron, top + bold.height() + 2});
}

void SheetBuilder::make_frame(Piece& piece, const QString& title, const QString& detail,
                              std::shared_ptr<const Sheet> inside) const {
  if (!inside) return;  // stopped: the caller drops the result
  constexpr double kSide = 20, kTitleLeft = 30;
  const QFontMetricsF plain(fonts_.plain), caption(fonts_.note);
  const double title_width = plain.horizontalAdvance(title);
  const double bar = kTitleLeft + title_width +
                     (detail.isEmpty() ? 0 : 10 + caption.horizontalAdvance(detail)) + kSide;
  const double width = std::max(inside->size.width() + 2 * kSide, bar);
  constexpr double kAir = 6;  // pixels below the title, if no line enters from above
  const auto any = [&](auto passes) {
    return std::any_of(inside->wires.begin(), inside->wires.end(), passes);
  };
  const bool passes_above = any([](const Wire&w) { return w.upper < 0; }),
             passes_below = any([](const Wire&w) { return w.lower < 0; });
  const double bar_height = kTitleBar + (passes_above ? 0 : kAir);
  piece.shape = PieceShape::Frame;
  piece.inside_at = {std::floor((width - inside->size.width()) / 2), bar_height};
  piece.rect = {0, 0, std::ceil(width), bar_height + inside->size.height() + (passes_below ? 0 : kSide)};
  piece.title = make_line(title, {kTitleLeft, (kTitleBar - plain.height()) / 2});
  piece.detail = make_line(detail, {kTitleLeft + title_width + 10,
                                    (kTitleBar - plain.height()) / 2 + plain.ascent() - caption.ascent()});
  piece.inside = std::move(inside);
}

std::shared_ptr<Sheet> SheetBuilder::flow_sheet(int segment, bool backward,
                                                const std::vector<LaneChild>& children,
                                                std::vector<Piece> pieces) {
  const Segment& of = tree_.segment(segment);
  std::vector<int> child_of(of.ops.size(), -1);
  for (size_t i = 0; i < children.size(); ++i)
    for (OpId op : children[i].ops) child_of[static_cast<size_t>(op)] = static_cast<int>(i);
  const TensorId passed_in = backward ? of.output_grad : of.input,
                 passed_out = backward ? of.input_grad : of.output;
  const auto same_lane = [&](OpId op) { return (op >= of.backward_begin) == backward; };

  std::vector<Link> links;
  std::set<std::tuple<int, int, TensorId>> known;
  const auto link = [&](int from, int to, TensorId tensor, OpId reader) {
    if (from == to || !known.insert({from, to, tensor}).second) return;
    // The line outside the container has the label.
    const QString label = from < 0 || to < 0 ? QString() : text_.line(of, tensor, reader);
    links.push_back({from, to, backward, segment, tensor, false, label});
  };
  for (size_t i = 0; i < of.ops.size(); ++i) {
    if (!same_lane(static_cast<OpId>(i))) continue;
    const int reader = child_of[i];
    for (const TensorId tensor : of.ops[i].inputs) {
      const Tensor& t = of.tensor(tensor);
      const bool from_lane = t.producer >= 0 && same_lane(t.producer);
      // Saved activations have no lines on the sheet. The canvas draws them for the selected op.
      const bool from_outside = t.producer < 0 &&
                                (tensor == passed_in || (!backward && t.role == TensorRole::Input));
      if (!from_lane && !from_outside) continue;
      const int from = from_lane ? child_of[static_cast<size_t>(t.producer)] : -1;
      if (from >= 0 || reader >= 0) link(from, reader, tensor, static_cast<OpId>(i));
    }
  }
  if (passed_out >= 0) {
    const OpId last = of.tensor(passed_out).producer;
    if (last >= 0 && same_lane(last) && child_of[static_cast<size_t>(last)] >= 0)
      link(child_of[static_cast<size_t>(last)], -1, passed_out, -1);
  }
  auto sheet = std::make_shared<Sheet>();
  sheet->pieces = std::move(pieces);
  return arrange(*sheet, links, kOpGaps, fonts_.caption, stop_) ? sheet : nullptr;
}

std::vector<Link> SheetBuilder::chain_links(const std::vector<Piece>& chain, bool before, bool after,
                                            bool transfer) const {
  std::vector<Link> links;
  const StageBoundary boundary = stage_boundary(tree_.graph());
  // The line below piece i carries the residual stream down and its gradient up.
  const auto between = [&](int upper, int lower) {
    const Piece& piece = chain[static_cast<size_t>(upper < 0 ? lower : upper)];
    const NodeId& id = piece.id;
    const int unit = id.level == NodeLevel::Stage
                         ? (upper < 0 ? tree_.units_of(id.stage).front().first
                                      : tree_.units_of(id.stage + piece.units - 1).front().second) -
                               1
                         : (upper < 0 ? id.unit - 1 : id.unit + piece.units - 1);
    if (unit < 0) return;
    const int segment = tree_.segment_of(unit);
    const Segment& of = tree_.segment(segment);
    // Between two chunks of a stage, the stream passes other stages.
    const bool round = !transfer && upper >= 0 && lower >= 0 &&
                       chain[static_cast<size_t>(lower)].id.unit != unit + 1;
    const bool sent = transfer || round;
    const auto add = [&](int from, int to, bool up, TensorId tensor) {
      QString label;
      if (from >= 0 && to >= 0)
        label = sent ? QStringLiteral("send ") + text_.shape(of.kind == SegmentKind::Tower
                                                                 ? image_message(tree_.graph())
                                                                 : boundary.message)
                     : text_.shape(of.tensor(tensor));
      if (round && !label.isEmpty())
        label += pipeline_layout(tree_.report().design.parallel).layout == ChunkLayout::Round
                     ? QStringLiteral(" round all stages")
                     : QStringLiteral(" by other stages");
      links.push_back({from, to, up, segment, tensor, sent, label});
    };
    if (shows(options_.passes, false) && of.output >= 0) add(upper, lower, false, of.output);
    if (shows(options_.passes, true) && of.output_grad >= 0) add(lower, upper, true, of.output_grad);
  };
  const int count = static_cast<int>(chain.size());
  if (before && count > 0) between(-1, 0);
  for (int i = 0; i + 1 < count; ++i) between(i, i + 1);
  if (after && count > 0) between(count - 1, -1);
  return links;
}

std::shared_ptr<const Sheet> SheetBuilder::chain_sheet(std::vector<Piece> pieces, bool before, bool after,
                                                       bool transfer, double gap) {
  if (stop_.stop_requested()) return nullptr;
  auto sheet = std::make_shared<Sheet>();
  const std::vector<Link> links = chain_links(pieces, before, after, transfer);
  sheet->pieces = std::move(pieces);
  if (!arrange(*sheet, links, {kUnitGaps.between, gap}, fonts_.caption, stop_)) return nullptr;
  join_lines(*sheet);
  return sheet;
}

}  // namespace shardscape::ui
