#include "ui/views/timeline/spans_model.h"

#include <algorithm>

#include "ui/plot/comparison_cells.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/timeline/matching_item.h"
#include "ui/views/timeline/span_text.h"

namespace shardscape::ui {
namespace {

const std::vector<TableColumn>& columns() {
  static const std::vector<TableColumn> all{
      {SpansModel::tr("Stage"), QStringLiteral("stage"), true, {}},
      {SpansModel::tr("Stream"), QStringLiteral("stream"), false, {}},
      {SpansModel::tr("Action"), QStringLiteral("what"), false, {}},
      {SpansModel::tr("Microbatch"), QStringLiteral("microbatch"), true, {}},
      {SpansModel::tr("Chunk"), QStringLiteral("chunk"), true, SpansModel::tr("Virtual stage")},
      {SpansModel::tr("Starts"), QStringLiteral("start (s)"), true,
       SpansModel::tr("Since the start of the step")},
      {SpansModel::tr("Takes"), QStringLiteral("duration (s)"), true, {}},
      {SpansModel::tr("Critical"), QStringLiteral("critical"), false,
       SpansModel::tr("On the longest path through the step")},
      {SpansModel::tr("Waits for"), QStringLiteral("waits for"), false,
       SpansModel::tr("The last span to end before this span could start")}};
  return all;
}

QString exact(double seconds) { return QString::number(seconds, 'g', 12); }

}  // namespace

void SpansModel::setLanes(std::shared_ptr<const Lanes> lanes, int stage) {
  setLanes(std::move(lanes), stage, {});
}

void SpansModel::setLanes(std::shared_ptr<const Lanes> lanes, int stage,
                          const std::vector<OtherDesign>& others) {
  beginResetModel();
  lanes_ = std::move(lanes);
  others_.clear();
  rows_.clear();
  for (int s = 0; lanes_ && s < lanes_->stages(); ++s)
    if (stage == kAllStages || s == stage) lanes_->add_by_begin(s, {}, rows_);
  for (const OtherDesign& other : others) {
    if (rows_.empty()) break;
    const std::vector<std::vector<ItemRef>> there = matchingItems(*lanes_, stage, *other.lanes);
    Compared& to = others_.emplace_back(Compared{other.member, {}, {}});
    for (const ItemRef& ref : rows_) {
      const ItemRef& same = there[static_cast<size_t>(ref.lane)][static_cast<size_t>(ref.item)];
      to.takes.push_back(same.valid()
                             ? std::optional(other.lanes->item(same).end - other.lanes->item(same).begin)
                             : std::nullopt);
    }
    to.cells.resize(rows_.size());
  }
  endResetModel();
}

int SpansModel::rowOf(const ItemRef& ref) const {
  const auto it = std::find(rows_.begin(), rows_.end(), ref);
  return it == rows_.end() ? -1 : static_cast<int>(it - rows_.begin());
}

int SpansModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int SpansModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : takes(static_cast<int>(others_.size()));
}

QVariant SpansModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const ItemRef& ref = rows_[static_cast<size_t>(index.row())];
  const LaneItem& item = lanes_->item(ref);
  const bool text = role == Qt::DisplayRole || role == Qt::ToolTipRole, raw = role == RawRole,
             sort = role == SortRole;
  if (role == Qt::TextAlignmentRole)
    return int((index.column() > WaitsFor || columns()[static_cast<size_t>(index.column())].number
                    ? Qt::AlignRight
                    : Qt::AlignLeft) |
               Qt::AlignVCenter);
  if (role == AlarmRole) return false;
  if (!text && !raw && !sort) return {};
  if (index.column() > WaitsFor) {
    const TableCell& cell = comparisonCell(index.row(), index.column());
    return sort ? cell.sort : raw ? cell.raw : cell.text;
  }
  const auto number = [&](int value) -> QVariant {
    if (sort) return value;
    return value < 0 ? QString() : QString::number(value);
  };
  const auto seconds = [&](double value) -> QVariant {
    if (sort) return value;
    return raw ? exact(value) : seconds_text(value);
  };
  switch (index.column()) {
    case Stage: return number(ref.stage);
    case Stream: return lane_label(lanes_->lane(ref).stream);  // as in the labels of the rows
    case What:
      return item.name >= 0 ? text_of(lanes_->simulation().names[static_cast<size_t>(item.name)].text)
                            : pass_label(item).toLower();
    case Microbatch: return number(item.microbatch);
    case Chunk: return number(item.microbatch < 0 ? -1 : item.chunk);
    case Begin: return seconds(item.begin);
    case Takes: return seconds(item.end - item.begin);
    case Critical: return item.critical ? tr("yes") : tr("no");
    case WaitsFor: {
      const Span& span = lanes_->span(ref.stage, lanes_->span_index(ref));
      return span.waits_stage < 0 ? QString() : span_words(*lanes_, span.waits_stage, span.waits_span);
    }
    default: return {};
  }
}

const TableCell& SpansModel::comparisonCell(int row, int column) const {
  const Compared& of = others_[static_cast<size_t>((column - takes(0)) / kComparisonCells)];
  auto& cells = of.cells[static_cast<size_t>(row)];
  const LaneItem& mine = lanes_->item(rows_[static_cast<size_t>(row)]);
  if (!cells)
    cells = comparisonCells(mine.end - mine.begin, of.takes[static_cast<size_t>(row)], seconds_text);
  return (*cells)[static_cast<size_t>((column - takes(0)) % kComparisonCells)];
}

QVariant SpansModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
    return QAbstractTableModel::headerData(section, orientation, role);
  TableColumn column;
  if (section <= WaitsFor) {
    column = columns()[static_cast<size_t>(section)];
  } else {
    const int at = (section - takes(0)) / kComparisonCells;
    column = comparisonColumns(
        others_[static_cast<size_t>(at)].member, tr("takes"), QStringLiteral("duration (s)"),
        tr("The same action on the stage at the same relative place of its pipeline"))[static_cast<size_t>(
        section - takes(at))];
  }
  switch (role) {
    case Qt::DisplayRole: return column.label;
    case Qt::ToolTipRole: return column.tip.isEmpty() ? QVariant() : column.tip;
    case Qt::TextAlignmentRole:
      return int((column.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case RawRole: return column.raw_label;
    default: return {};
  }
}

}  // namespace shardscape::ui
