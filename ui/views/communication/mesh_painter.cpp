#include "ui/views/communication/mesh_painter.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>
#include <utility>

#include "ui/inspector/communication_inspection.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/communication/mesh_text.h"

namespace shardscape::ui {
namespace {

constexpr double kLegendLine = 22, kSwatch = 12;
constexpr double kHairlineBlock = 6;  // blocks of at least this size have a line between nodes

QString tr_painter(const char* text) { return QCoreApplication::translate("MeshView", text); }

QColor node_tint(bool strong, const QColor& ground) {
  return mixed(ground, Theme::instance().colors().text, strong ? 0.13 : 0.05);
}

class MeshPainter {
 public:
  MeshPainter(QPainter& painter, const MeshDrawing& drawing, const MeshLayout& layout)
      : p_(painter), d_(drawing), grid_(*drawing.grid), layout_(layout), colors_(Theme::instance().colors()) {
    if (d_.chosen >= 0 && (*d_.groups)[static_cast<size_t>(d_.chosen)].takesPart())
      group_ = &(*d_.groups)[static_cast<size_t>(d_.chosen)];
    if (group_) ink_ = group_color(group_->name);
  }

  void legend(const QRectF& line) {
    double x = line.left();
    const auto entry = [&](const QColor& fill, const QColor& edge, double width, const QString& text) {
      const QRectF swatch(x, line.center().y() - kSwatch / 2, kSwatch, kSwatch);
      frame(swatch, fill, edge, width);
      p_.setFont(Theme::instance().uiFont(12));
      p_.setPen(colors_.secondary);
      const double advance = QFontMetricsF(p_.font()).horizontalAdvance(text);
      p_.drawText(QRectF(swatch.right() + 6, line.top(), advance + 2, line.height()),
                  Qt::AlignLeft | Qt::AlignVCenter, text);
      x = swatch.right() + 6 + advance + 16;
    };
    entry(colors_.accent, colors_.accent, 1, tr_painter("rank %1").arg(grouped_text(d_.selected)));
    if (group_) entry(member_fill(), edge(), 2, tr_painter("its %1 group").arg(text_of(group_->name)));
    entry(node_tint(false, d_.ground), colors_.line, 1, {});
    x -= 18;
    entry(node_tint(true, d_.ground), colors_.line, 1,
          grid_.hasRacks()
              ? tr_painter("racks of %1, in nodes of %2")
                    .arg(counted_text(grid_.ranksPerRack(), tr_painter("rank"), tr_painter("ranks")),
                         grouped_text(grid_.gpusPerNode()))
              : tr_painter("nodes of %1")
                    .arg(counted_text(grid_.gpusPerNode(), tr_painter("rank"), tr_painter("ranks"))));
  }

  void detail() {
    const MeshWindow& w = layout_.window();
    p_.setFont(Theme::instance().uiFont(11));
    for (int64_t c = w.column; c < w.column + layout_.shownColumns(); ++c) {
      p_.setPen(colors_.secondary);
      p_.drawText(layout_.columnHeading(c), Qt::AlignCenter,
                  fitted(columnTexts(c), layout_.columnHeading(c).width()));
    }
    for (int64_t s = w.stage; s < w.stage + layout_.shownStages(); ++s) {
      p_.setFont(Theme::instance().uiFont(11));
      p_.setPen(colors_.secondary);
      p_.drawText(layout_.stageHeading(s), Qt::AlignRight | Qt::AlignVCenter, tr_painter("stage %1").arg(s));
      for (int64_t l = w.line; l < w.line + layout_.shownLines(); ++l) cells(s, l);
    }
  }

  void overview() {
    const QRectF area = layout_.overview();
    p_.setFont(Theme::instance().uiFont(11));
    p_.setPen(colors_.secondary);
    const int64_t each = layout_.ranksPerBlock() * layout_.stagesPerBand();
    QString text = tr_painter("All %1 ranks, a row for each stage: ").arg(grouped_text(grid_.ranks()));
    if (layout_.stagesPerBand() > 1)
      text = tr_painter("All %1 ranks, a row for each %2 stages: ")
                 .arg(grouped_text(grid_.ranks()), grouped_text(layout_.stagesPerBand()));
    text += each == 1 ? tr_painter("a block is one rank")
                      : tr_painter("a block is %1 ranks").arg(grouped_text(each));
    p_.drawText(QRectF(area.left() + MeshLayout::kStageLabel, area.top(),
                       area.width() - MeshLayout::kStageLabel, MeshLayout::kHeading),
                Qt::AlignLeft | Qt::AlignVCenter, text);
    for (int64_t band = 0; band < layout_.bands(); ++band) blocks(band);
    bandLabels();
    window();
    // Members above the node grounds, in one pass, because a group may have as many members as there are
    // ranks.
    if (group_) {
      std::map<std::pair<int64_t, int64_t>, bool> marked;
      for (const int64_t rank : group_->ranks) {
        const MeshBlock block = layout_.blockOf(rank);
        if (marked.emplace(std::pair(block.band, block.index), true).second)
          p_.fillRect(inner(block), edge());
      }
    }
    const QRectF at = layout_.blockRect(layout_.blockOf(d_.selected));
    frame(at.adjusted(-2, -2, 2, 2), colors_.accent, colors_.text, 1.5);
  }

 private:
  QColor edge() const { return ink_; }
  QColor member_fill() const { return mixed(d_.ground, ink_, 0.28); }

  void frame(const QRectF& rect, const QColor& fill, const QColor& edge, double width) {
    p_.setBrush(fill);
    p_.setPen(QPen(edge, width, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
    p_.drawRect(rect.adjusted(width / 2, width / 2, -width / 2, -width / 2));
    p_.setBrush(Qt::NoBrush);
  }

  // The first of the texts that fits.
  QString fitted(const QStringList& texts, double room) const {
    const QFontMetricsF metrics(p_.font());
    for (const QString& text : texts) {
      if (metrics.horizontalAdvance(text) <= room) return text;
    }
    return {};
  }

  QStringList columnTexts(int64_t column) const {
    const int64_t rank = grid_.rank({0, column, 0});
    const QString dp = QString::number(grid_.mesh().coordinate(rank, MeshAxis::Dp));
    if (grid_.mesh().degree(MeshAxis::Cp) == 1) return {tr_painter("dp %1").arg(dp), dp};
    const QString cp = QString::number(grid_.mesh().coordinate(rank, MeshAxis::Cp));
    return {tr_painter("dp %1, cp %2").arg(dp, cp), dp + u'/' + cp};
  }

  QStringList nodeTexts(int64_t rank) const {
    const QString node = grouped_text(grid_.node(rank));
    QStringList out{tr_painter("node %1").arg(node), tr_painter("n%1").arg(node)};
    if (!grid_.hasRacks()) return out;
    const QString rack = grouped_text(grid_.rack(rank));
    return QStringList{tr_painter("rack %1, node %2").arg(rack, node),
                       tr_painter("r%1 n%2").arg(rack, node)} +
           out;
  }

  // One line of cells: grounds of nodes with their names, then the ranks.
  void cells(int64_t stage, int64_t line) {
    const MeshWindow& w = layout_.window();
    std::vector<std::pair<int64_t, QRectF>> ranks;
    for (int64_t c = w.column; c < w.column + layout_.shownColumns(); ++c) {
      for (int64_t i = 0; i < layout_.cellsPerLine(); ++i) {
        const MeshPlace place{stage, c, line * layout_.cellsPerLine() + i};
        if (place.cell < grid_.cells()) ranks.emplace_back(grid_.rank(place), layout_.cell(place));
      }
    }
    const double top = layout_.line(stage, line).top();
    // Alternates by the number of the node or rack. Neighbours always differ, even if a line has only every
    // second one.
    bool strong = grid_.ground(ranks.front().first) % 2 == 0;
    int64_t before = -1;
    for (size_t first = 0, next = 0; first < ranks.size(); first = next) {
      if (const int64_t ground = grid_.ground(ranks[first].first); std::exchange(before, ground) != ground)
        strong = !strong;
      const QColor tint = node_tint(strong, d_.ground);
      const int64_t node = grid_.node(ranks[first].first);
      while (next < ranks.size() && grid_.node(ranks[next].first) == node) ++next;
      const QRectF run(QPointF(ranks[first].second.left() - 1, top),
                       ranks[next - 1].second.bottomRight() + QPointF(1, 1));
      frame(run, tint, colors_.line, 1);
      p_.setFont(Theme::instance().uiFont(10.5));
      p_.setPen(readable(colors_.secondary, tint));
      const QRectF strip(run.left() + 5, top, run.width() - 10, MeshLayout::kNodeStrip);
      p_.drawText(strip, Qt::AlignLeft | Qt::AlignVCenter,
                  fitted(nodeTexts(ranks[first].first), strip.width()));
    }
    for (const auto& [rank, rect] : ranks) cell(rank, rect);
  }

  void cell(int64_t rank, const QRectF& rect) {
    const bool selected = rank == d_.selected, member = group_ && group_->contains(rank);
    const QRectF box = rect.adjusted(1.5, 1.5, -1.5, -1.5);
    QColor ground = d_.ground;
    if (selected) {
      ground = colors_.accent;
      frame(box, ground, group_ ? edge() : colors_.accent, 2);
      if (d_.focused) frame(box.adjusted(-1.5, -1.5, 1.5, 1.5), Qt::transparent, colors_.text, 1.5);
    } else if (member) {
      ground = member_fill();
      frame(box, ground, edge(), 2);
    } else {
      frame(box, ground, colors_.line, 1);
    }
    p_.setFont(Theme::instance().uiFont(11.5, selected || member ? QFont::DemiBold : QFont::Normal));
    p_.setPen(readable(selected ? d_.ground : member ? colors_.text : colors_.secondary, ground));
    p_.drawText(rect, Qt::AlignCenter, grouped_text(rank));
  }

  QRectF inner(const MeshBlock& block) const {
    const QRectF rect = layout_.blockRect(block);
    return rect.width() >= kHairlineBlock && rect.height() >= kHairlineBlock ? rect.adjusted(1, 1, -1, -1)
                                                                             : rect;
  }

  // Neighbouring blocks of one node or rack are one rectangle. Blocks with several have one ground colour.
  void blocks(int64_t band) {
    const auto node_of = [&](int64_t index) -> int64_t {
      const MeshBlock block{band, index};
      const int64_t first = grid_.ground(layout_.firstRank(block)),
                    last = grid_.ground(layout_.lastRank(block));
      return first == last ? first : -1;
    };
    const QColor even = mixed(d_.ground, colors_.text, 0.09);
    int64_t node = node_of(0);
    for (int64_t first = 0, next = 0; first < layout_.blocks(); first = next) {
      const int64_t here = node;
      const QRectF start = layout_.blockRect({band, first});
      QRectF run = start;
      while (++next < layout_.blocks()) {
        node = node_of(next);
        const QRectF rect = layout_.blockRect({band, next});
        if (node != here || rect.top() != start.top()) break;
        run = run.united(rect);
      }
      const QColor tint = here < 0 ? even : node_tint(here % 2 != 0, d_.ground);
      if (here >= 0 && run.width() >= kHairlineBlock && run.height() >= kHairlineBlock)
        frame(run, tint, colors_.line, 1);
      else
        p_.fillRect(run, tint);
    }
  }

  void bandLabels() {
    const int64_t selected = layout_.blockOf(d_.selected).band;
    double free_from = layout_.overview().top();
    p_.setFont(Theme::instance().uiFont(11));
    const auto draw = [&](int64_t band, bool strong) {
      const QRectF rect = layout_.bandRect(band);
      const QRectF text(layout_.overview().left(), rect.center().y() - 7, MeshLayout::kStageLabel - 8, 14);
      p_.setPen(strong ? colors_.text : colors_.secondary);
      p_.drawText(text, Qt::AlignRight | Qt::AlignVCenter,
                  tr_painter("stage %1")
                      .arg(strong ? grid_.place(d_.selected).stage : band * layout_.stagesPerBand()));
      return text;
    };
    const double selected_y = layout_.bandRect(selected).center().y();
    for (int64_t band = 0; band < layout_.bands(); ++band) {
      const double y = layout_.bandRect(band).center().y();
      if (band == selected || y - 7 < free_from || std::abs(y - selected_y) < 14) continue;
      free_from = draw(band, false).bottom();
    }
    draw(selected, true);
  }

  // A frame around the part that is shown as cells.
  void window() {
    const MeshWindow& w = layout_.window();
    const int64_t last_line = std::min(grid_.cells(),
                                       (w.line + layout_.shownLines()) * layout_.cellsPerLine()) -
                              1;
    p_.setPen(QPen(colors_.text, 1));
    p_.setBrush(Qt::NoBrush);
    for (int64_t stage = w.stage; stage < w.stage + layout_.shownStages(); stage += layout_.stagesPerBand()) {
      const QRectF a = layout_.blockRect(
          layout_.blockOf(grid_.rank({stage, w.column, w.line * layout_.cellsPerLine()})));
      const QRectF b = layout_.blockRect(
          layout_.blockOf(grid_.rank({stage, w.column + layout_.shownColumns() - 1, last_line})));
      if (a.top() == b.top()) p_.drawRect(a.united(b).adjusted(-0.5, -0.5, 0.5, 0.5));
    }
  }

  QPainter& p_;
  const MeshDrawing& d_;
  const MeshGrid& grid_;
  const MeshLayout& layout_;
  const Colors& colors_;
  const RankGroup* group_ = nullptr;
  QColor ink_;
};

}  // namespace

MeshLayout paint_mesh(QPainter* painter, const QRectF& rect, const MeshDrawing& drawing,
                      const MeshWindow& before) {
  const QFont font = Theme::instance().uiFont(13), small = Theme::instance().uiFont(11.5, QFont::DemiBold);
  const QString sentence = mesh_sentence(*drawing.grid, drawing.selected, *drawing.groups);
  const QRectF words = QFontMetricsF(font).boundingRect(QRectF(rect.left(), rect.top(), rect.width(), 200),
                                                        Qt::TextWordWrap, sentence);
  const QRectF legend(rect.left(), words.bottom() + 3, rect.width(), kLegendLine);
  const double widest = QFontMetricsF(small).horizontalAdvance(grouped_text(drawing.grid->ranks() - 1));
  MeshLayout layout(*drawing.grid, QRectF(QPointF(rect.left(), legend.bottom() + 4), rect.bottomRight()),
                    widest, drawing.selected, before);
  if (!painter) return layout;
  const Colors& colors = Theme::instance().colors();
  painter->fillRect(rect, drawing.ground);
  painter->setFont(font);
  painter->setPen(colors.text);
  painter->drawText(words, Qt::TextWordWrap, sentence);
  MeshPainter mesh(*painter, drawing, layout);
  mesh.legend(legend);
  if (!layout.whole()) mesh.overview();
  mesh.detail();
  return layout;
}

}  // namespace shardscape::ui
