#include "ui/views/architecture/sizes_model.h"

#include <algorithm>

#include "base/units.h"
#include "model/layer_variant.h"
#include "model/library.h"
#include "model/model_sizes.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

// Columns before those of kinds: label, symbol, the model's size.
constexpr int kLabel = 0, kSymbol = 1, kModel = 2, kKinds = 3;

const ModelSize& size_at(int row) { return kModelSizes[static_cast<size_t>(row)]; }

// The architecture as if it had only this kind: its axes are those of the kind's blocks.
bool uses_axis(const SectionTemplate& kind, Axis axis, const ModelLibrary& library) {
  return std::any_of(kind.lines.begin(), kind.lines.end(), [&](const OpLine& line) {
    const BlockTemplate* block = library.block(line.callee);
    return block && std::any_of(block->params.begin(), block->params.end(), [&](const BlockParam& param) {
             return std::find(param.axes.begin(), param.axes.end(), axis) != param.axes.end();
           });
  });
}

}  // namespace

SizesModel::SizesModel(Edit edit, QObject* parent) : QAbstractTableModel(parent), edit_(std::move(edit)) {}

void SizesModel::setModel(const ModelSpec& model, const std::vector<KindNumbers>& kinds) {
  beginResetModel();
  model_ = model;
  kinds_.clear();
  rows_.clear();
  uses_.assign(kinds.size(), {});
  const ModelLibrary& library = ModelLibrary::instance();
  const Architecture* architecture = library.architecture(model.architecture);
  for (const KindNumbers& kind : kinds) kinds_ << QString::fromStdString(kind.name);
  for (int row = 0; architecture && row < static_cast<int>(kModelSizes.size()); ++row) {
    const ModelSize& size = size_at(row);
    if (!size.varies || (size.part.axis && !architecture->uses(*size.part.axis))) continue;
    if (!size.part.axis && model.*size.member == 0 &&
        std::none_of(model.variants.begin(), model.variants.end(),
                     [&](const LayerVariant& v) { return v.sizes.contains(row); }))
      continue;
    rows_.push_back(row);
    for (size_t k = 0; k < kinds.size(); ++k) {
      const auto section = std::find_if(architecture->kinds.begin(), architecture->kinds.end(),
                                        [&](const SectionTemplate& s) { return s.name == kinds[k].kind; });
      uses_[k].push_back(!size.part.axis || (section != architecture->kinds.end() &&
                                             uses_axis(*section, *size.part.axis, library)));
    }
  }
  endResetModel();
}

const LayerVariant* SizesModel::variant(int column) const {
  if (column < kKinds) return nullptr;
  const std::string name = kinds_[column - kKinds].toStdString();
  for (const LayerVariant& v : model_.variants)
    if (v.name == name) return &v;
  return nullptr;
}

bool SizesModel::has(int row, int column) const {
  return column < kKinds || uses_[static_cast<size_t>(column - kKinds)][static_cast<size_t>(row)];
}

int SizesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}
// With one kind, the model's size is that of the layers.
int SizesModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kKinds + (kinds_.size() > 1 ? static_cast<int>(kinds_.size()) : 0);
}

QVariant SizesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const ModelSize& size = size_at(rows_[static_cast<size_t>(index.row())]);
  const int column = index.column();
  const LayerVariant* own = variant(column);
  const bool differs = own && own->sizes.contains(rows_[static_cast<size_t>(index.row())]);
  const int64_t value = differs ? own->sizes.at(rows_[static_cast<size_t>(index.row())])
                                : model_.*size.member;
  switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
      if (column == kLabel) return QString::fromUtf8(size.label);
      if (column == kSymbol) return QString::fromUtf8(size.symbol);
      if (!has(index.row(), column)) return QStringLiteral("–");
      return QString::fromStdString(grouped(value));
    case Qt::TextAlignmentRole:
      return QVariant(column < kModel ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      if (column == kSymbol || (column >= kKinds && !differs)) return Theme::instance().colors().secondary;
      return {};
    case Qt::FontRole:
      if (differs) return Theme::instance().uiFont(13, QFont::DemiBold);
      return {};
    case Qt::ToolTipRole:
      if (column >= kKinds && !has(index.row(), column)) return tr("Layers of this kind have no such size.");
      if (column >= kKinds)
        return differs ? tr("Own size of this kind; the model has %1. Clear the cell to take it.")
                             .arg(QString::fromStdString(grouped(model_.*size.member)))
                       : tr("As in the whole model. Type a number to give these layers their own.");
      return QString::fromUtf8(size.help);
    default: return {};
  }
}

QVariant SizesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant(section < kModel ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  if (section == kLabel) return tr("Size");
  if (section == kSymbol) return QString();
  return section == kModel ? tr("Whole model") : kinds_.value(section - kKinds);
}

Qt::ItemFlags SizesModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  const Qt::ItemFlags usual = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
  return index.column() >= kModel && has(index.row(), index.column()) ? usual | Qt::ItemIsEditable : usual;
}

bool SizesModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole || index.column() < kModel) return false;
  const QString text = value.toString().trimmed();
  if (text == data(index, Qt::DisplayRole).toString()) return true;
  const QString kind = index.column() == kModel ? QString() : kinds_[index.column() - kKinds];
  const QString why = edit_(rows_[static_cast<size_t>(index.row())], kind, text);
  if (!why.isEmpty()) Q_EMIT refused(why);
  return why.isEmpty();
}

}  // namespace shardscape::ui
