// The tables of the profile window. Times are those of one step of one rank.
#pragma once

#include "profile/profile_comparison.h"
#include "profile/rank_profile.h"
#include "ui/plot/table_model.h"

namespace shardscape::ui {

// comparison: null shows the profile alone.
class ProfilePartModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setParts(const std::vector<ComparedTime>& parts, const ComparedTime& step, bool predicted);
};

class ProfileCollectiveModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setCollectives(const ProfiledStep& step, const ProfileComparison* comparison, UnitSystem units);
};

class ProfileLayerModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setLayers(const ProfiledStep& step, const ProfileComparison* comparison);
};

class ProfileKernelModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setKernels(const ProfiledStep& step);
};

class ProfileRankModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setRanks(const std::vector<RankProfile>& ranks);
};

// The parts of the step, the longest first; predicted times are 0.
std::vector<ComparedTime> measured_parts(const ProfiledStep& step);
QString time_text(double seconds);        // "12.3 ms"; "0" for 0
QString difference_text(double seconds);  // "+12.3 ms"
QString rank_text(const RankProfile& profile);

}  // namespace shardscape::ui
