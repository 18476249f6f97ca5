#include "report/comparison_page.h"

#include <algorithm>

#include "base/units.h"
#include "explore/study.h"
#include "report/page_pictures.h"

namespace shardscape {
namespace {

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::Better: return " better";
    case Verdict::Worse: return " worse";
    case Verdict::Tie: return " tie";
    case Verdict::None: break;
  }
  return "";
}

// "9.80 s (-12.2 % better)"; the baseline has its value alone.
std::string cell(const ComparedFigure& figure, size_t design) {
  const std::string percent = design > 0 ? figure.percent(design) : "";
  return figure.text(design) +
         (percent.empty() ? "" : " (" + percent + verdict_text(figure.verdict(design)) + ")");
}

PageRow heading(const char* first, const std::vector<std::string>& names) {
  PageRow out{first};
  out.insert(out.end(), names.begin(), names.end());
  return out;
}

PageSection settings_section(const std::vector<std::string>& names, const std::vector<Design>& designs) {
  PageSection out{"Settings that differ", {}, {heading("setting", names)}, ""};
  for (const ComparedKnob& row : compare_knobs(designs)) {
    PageRow cells{row.knob->label};
    cells.insert(cells.end(), row.values.begin(), row.values.end());
    out.rows.push_back(std::move(cells));
  }
  if (out.rows.size() == 1) out = {out.title, {"None: the designs are the same."}, {}, ""};
  return out;
}

// One section per group of figures, in their order.
std::vector<PageSection> figure_sections(const std::vector<std::string>& names,
                                         const std::vector<ComparedFigure>& figures) {
  std::vector<PageSection> out;
  for (const ComparedFigure& figure : figures) {
    const std::string title(figure_group_label(figure.group));
    if (out.empty() || out.back().title != title) out.push_back({title, {}, {heading("figure", names)}, ""});
    PageRow cells{figure.label};
    for (size_t i = 0; i < names.size(); ++i) cells.push_back(cell(figure, i));
    out.back().rows.push_back(std::move(cells));
  }
  return out;
}

// How the step time of every other design compares with that of the first.
std::string verdict_of(const std::vector<std::string>& names, const std::vector<ComparedFigure>& figures) {
  const auto step = std::find_if(figures.begin(), figures.end(),
                                 [](const ComparedFigure& one) { return one.id == "step_seconds"; });
  std::string out;
  if (step == figures.end()) return out;
  for (size_t i = 1; i < names.size(); ++i) {
    const std::string judged = step->judged_ratio(i), percent = step->percent(i);
    out += (out.empty() ? "" : " ") + names[i] + ": step time " +
           (!judged.empty()   ? judged
            : percent.empty() ? "as " + names[0]
                              : percent + verdict_text(step->verdict(i))) +
           (judged.empty() && percent.empty() ? "." : " than " + names[0] + ".");
  }
  return out;
}

std::string document_of(const std::vector<std::string>& names, const std::vector<Design>& designs) {
  Study study;
  study.design = designs.back();
  for (size_t i = 0; i + 1 < designs.size(); ++i) study.compared.push_back({names[i], designs[i]});
  return to_json(study);
}

}  // namespace

PageReport comparison_page(const std::vector<std::string>& names,
                           const std::vector<ComparedDesign>& designs) {
  std::vector<Design> plain;
  for (const ComparedDesign& one : designs) plain.push_back(one.report->design);
  const std::vector<ComparedFigure> figures = compare_figures(designs);
  PageReport page;
  for (const std::string& name : names) page.title += (page.title.empty() ? "" : ", ") + name;
  page.verdict = verdict_of(names, figures);
  page.fits = std::all_of(designs.begin(), designs.end(), [](const ComparedDesign& one) {
    return one.report->memory && one.report->memory->fits;
  });
  page.document = document_of(names, plain);
  page.sections.push_back(settings_section(names, plain));
  for (PageSection& section : figure_sections(names, figures)) page.sections.push_back(std::move(section));
  for (size_t i = 0; i < designs.size(); ++i) {
    page.sections.push_back({"Step of " + names[i], {}, {}, step_picture(*designs[i].simulation)});
    if (designs[i].report->memory)
      page.sections.push_back({"Memory of " + names[i], {}, {}, memory_picture(*designs[i].report->memory)});
  }
  return page;
}

}  // namespace shardscape
