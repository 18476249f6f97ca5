#include "ui/shell/problems_model.h"

#include "design/knobs/knobs.h"
#include "ui/session/memory_problem.h"
#include "ui/session/session.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/icons.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
QString problemPlace(const Problem& problem) {
  const Knob* knob = find_knob(problem.where);
  if (knob) return knobName(*knob);
  if (problem.where == kGpusField) return ProblemsModel::tr("GPUs");
  return isOfMemory(problem) ? ProblemsModel::tr("Memory") : text_of(problem.where);
}

QString problemText(const Problem& problem) {
  const std::string_view code = code_text(problem.code);
  return text_of(to_string(problem)) +
         QStringLiteral(" [%1]").arg(QLatin1String(code.data(), static_cast<qsizetype>(code.size())));
}

void ProblemsModel::setProblems(const std::vector<Problem>& problems) {
  beginResetModel();
  problems_ = problems;
  endResetModel();
}

int ProblemsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(problems_.size());
}

int ProblemsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : int{ColumnCount};
}

QVariant ProblemsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) return {};
  const Problem& problem = problems_[static_cast<size_t>(index.row())];
  const Colors& colors = Theme::instance().colors();
  const bool error = problem.severity == Severity::Error;
  if (role == Qt::DecorationRole && index.column() == Where) {
    return iconPixmap(isMemoryProblem(problem) ? "cross"
                      : error                  ? "error"
                                               : "note",
                      error ? colors.bad : colors.note, 16);  // as in the verdict
  }
  if (role == Qt::ForegroundRole && index.column() == FixColumn) return readable(colors.accent, colors.panel);
  if (role == Qt::FontRole && index.column() == FixColumn)
    return Theme::instance().uiFont(13, QFont::DemiBold);
  if (role == Qt::ForegroundRole && index.column() == Accepted) return colors.secondary;
  if (role == Qt::AccessibleTextRole && index.column() == Where) {
    return (error ? tr("Error: ") : tr("Note: ")) + problemPlace(problem);
  }
  if (role == Qt::ToolTipRole && index.column() != FixColumn) return problemText(problem);
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case Where: return problemPlace(problem);
    case What: return text_of(problem.what);
    case Accepted: return text_of(problem.accepted);
    case FixColumn:
      return problem.fixes.empty() ? QString() : capitalized(text_of(problem.fixes.front().label));
    default: return {};
  }
}

QVariant ProblemsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole || orientation != Qt::Horizontal) return {};
  switch (section) {
    case Where: return tr("Where");
    case What: return tr("Problem");
    case Accepted: return tr("Accepted");
    case FixColumn: return tr("Fix");
    default: return {};
  }
}

}  // namespace shardscape::ui
