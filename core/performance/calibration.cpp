#include "performance/calibration.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>

#include "base/data_dir.h"
#include "base/units.h"

namespace shardscape {
namespace {

// Replaces section by section: a user's measurement of one kind of op must not hide built-in sections of
// other kinds.
void replace_sections(Calibration& into, Calibration&& from) {
  for (auto& m : from.matmul) {
    std::erase_if(into.matmul, [&](const auto& old) { return old.dtype == m.dtype; });
    into.matmul.push_back(std::move(m));
  }
  // A forward section without "training" replaces the forward sections of inference and of training.
  for (const auto& a : from.attention)
    std::erase_if(into.attention, [&](const auto& old) {
      return old.dtype == a.dtype && old.pass == a.pass && old.causal == a.causal &&
             (old.training || !a.training);
    });
  for (auto& a : from.attention) into.attention.push_back(std::move(a));
  for (auto& t : from.training) {
    std::erase_if(into.training, [&](const auto& old) { return old.dtype == t.dtype; });
    into.training.push_back(std::move(t));
  }
  for (auto& t : from.training_products) {
    std::erase_if(into.training_products, [&](const auto& old) { return old.dtype == t.dtype; });
    into.training_products.push_back(std::move(t));
  }
  for (auto& k : from.attention_kernels) {
    std::erase_if(into.attention_kernels, [&](const auto& old) { return old.kernel == k.kernel; });
    into.attention_kernels.push_back(std::move(k));
  }
  if (from.memory) into.memory = std::move(from.memory);
  if (from.host_launch_us > 0) {
    into.host_launch_us = from.host_launch_us;
    into.host_source = from.host_source;
  }
  if (!from.collectives.empty()) {
    into.collectives = std::move(from.collectives);
    into.source = std::move(from.source);
  }
  if (!from.basis.empty()) into.basis = from.basis;
}

// Constants for devices without measurements: tile sizes that all tensor cores support, 3/4 of the peak.
Calibration unmeasured() {
  const std::string source = "not measured: 3/4 of the peak for large GEMMs, 0.85 of the bandwidth";
  Calibration c;
  MatmulCalibration matmul;
  matmul.source = source;
  matmul.tiles = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}};
  matmul.scale = 4.0 / 3;
  c.matmul.push_back(matmul);
  for (const AttentionPass pass : {AttentionPass::Forward, AttentionPass::Backward, AttentionPass::Decode}) {
    AttentionCalibration attention;
    attention.pass = pass;
    attention.source = source;
    attention.scale = pass == AttentionPass::Forward ? 1.5 : pass == AttentionPass::Backward ? 1.75 : 1.1;
    if (pass == AttentionPass::Decode)
      attention.launch_us = 8;  // two launches: parts of the keys, then their sum
    c.attention.push_back(attention);
  }
  c.memory = MemoryCalibration{};
  c.memory->source = source;
  c.memory->share = 0.85;
  return c;
}

std::initializer_list<DType> fallback_types(DType type) {
  static constexpr std::initializer_list<DType> kPlain{DType::BF16},
      kFp8{DType::FP8, DType::FP8Block, DType::BF16}, kBlock{DType::FP8Block, DType::FP8, DType::BF16},
      kMx{DType::MXFP8, DType::FP8, DType::FP8Block, DType::BF16},
      kFp4{DType::NVFP4, DType::FP8, DType::BF16}, kFp32{DType::FP32, DType::BF16};
  switch (type) {
    case DType::FP8: return kFp8;
    case DType::FP8Block: return kBlock;
    case DType::MXFP8: return kMx;
    case DType::NVFP4: return kFp4;
    case DType::FP32: return kFp32;
    case DType::BF16:
    case DType::FP16:
    case DType::Int64:
    case DType::Int32:
    case DType::Bool:
    case DType::Int8:
    case DType::FP8Block2D:  // from here on types of stored weights and caches, in which no unit computes
    case DType::FP8BlockE8M0:
    case DType::MXFP4:
    case DType::Int4G32:
    case DType::Int4G128:
    case DType::FP8Entry:
    case DType::E5M6:
    case DType::Int8Block:
    case DType::NF4:
    case DType::NF4Double: return kPlain;
  }
  return kPlain;
}

class Store {
 public:
  Store() {
    for (const auto& path : data_files("resources/calibration")) {
      auto text = read_text(path);
      if (auto* problem = std::get_if<Problem>(&text)) {
        problems.push_back(*problem);
        continue;
      }
      // collective_table.cpp reads the tables of collectives that several accelerators share.
      if (path.parent_path().filename() == "collectives") continue;
      auto read = read_calibration(std::get<std::string>(text), path.string());
      if (auto* problem = std::get_if<Problem>(&read)) {
        problems.push_back(*problem);
        continue;
      }
      Calibration& c = std::get<Calibration>(read);
      if (!find_accelerator(c.accelerator)) {
        problems.push_back({ProblemCode::UnknownAccelerator, path.string(),
                            "accelerator \"" + c.accelerator + "\" is not in the catalogue",
                            "the id of an accelerator"});
        continue;
      }
      if (Calibration* known = find(c.accelerator))
        replace_sections(*known, std::move(c));
      else
        files_.push_back(std::move(c));
    }
    for (const Accelerator& a : accelerators()) kernels_.push_back(resolve(a));
  }

  const Kernels& of(const Accelerator& accelerator) const {
    const auto& all = accelerators();
    const Accelerator *first = all.data(), *last = first + all.size();
    if (std::less_equal<>()(first, &accelerator) && std::less<>()(&accelerator, last))
      return *kernels_[static_cast<size_t>(&accelerator - first)];
    // A changed copy of an accelerator has its tables; one that is not in the catalogue has those of its
    // family.
    for (const auto same : {&Accelerator::id, &Accelerator::family}) {
      if ((accelerator.*same).empty()) continue;
      for (size_t i = 0; i < all.size(); ++i)
        if (all[i].*same == accelerator.*same) return *kernels_[i];
    }
    return *unmeasured_;
  }

  std::vector<Problem> problems;

 private:
  Calibration* find(const std::string& id) {
    for (Calibration& c : files_) {
      if (c.accelerator == id) return &c;
    }
    return nullptr;
  }

  // The member of the family with the most tables.
  const Calibration* family_calibration(const Accelerator& accelerator) {
    const Calibration* best = nullptr;
    if (accelerator.family.empty()) return nullptr;
    for (const Calibration& c : files_) {
      if (find_accelerator(c.accelerator)->family != accelerator.family || c.accelerator == accelerator.id)
        continue;
      if (!best || c.matmul.size() + c.attention.size() > best->matmul.size() + best->attention.size())
        best = &c;
    }
    return best;
  }

  static std::unique_ptr<Kernels> complete(std::vector<Calibration> layers) {
    auto out = std::make_unique<Kernels>();
    for (Calibration& layer : layers) {
      layer.basis.clear();
      replace_sections(out->data, std::move(layer));
    }
    const auto& data = out->data;
    for (size_t type = 0; type < out->matmul.size(); ++type) {
      for (DType want : fallback_types(static_cast<DType>(type))) {
        for (const MatmulCalibration& m : data.matmul) {
          if (!out->matmul[type] && m.dtype == want) out->matmul[type] = &m;
        }
      }
    }
    for (const AttentionPass pass :
         {AttentionPass::Forward, AttentionPass::Backward, AttentionPass::Decode}) {
      for (const bool causal : {false, true}) {
        const AttentionCalibration*& slot = out->attention[static_cast<size_t>(pass)][causal ? 1 : 0];
        // A measured table takes precedence over the right mask: a table of the other mask is better than
        // none.
        const auto rank = [&](const AttentionCalibration& a) {
          return (a.from.empty() ? 0 : 2) + (a.causal == causal ? 1 : 0);
        };
        for (const AttentionCalibration& a : data.attention) {
          if (a.pass == pass && !a.training && (!slot || rank(a) >= rank(*slot))) slot = &a;
        }
      }
    }
    for (const AttentionCalibration& a : data.attention) {
      if (a.training) out->training_forward[a.causal ? 1 : 0] = &a;
    }
    return out;
  }

  // Layers: unmeasured constants, bases, own files. Each layer replaces sections of the layers before it.
  std::unique_ptr<Kernels> resolve(const Accelerator& accelerator) {
    const Calibration* own = find(accelerator.id);
    std::vector<const Calibration*> bases;  // nearest basis first
    for (const Calibration* next = own && !own->basis.empty() ? find(own->basis)
                                                              : family_calibration(accelerator);
         next && next != own && std::find(bases.begin(), bases.end(), next) == bases.end();
         next = next->basis.empty() ? nullptr : find(next->basis))
      bases.push_back(next);
    std::vector<Calibration> layers{unmeasured()};
    for (auto basis = bases.rbegin(); basis != bases.rend(); ++basis) {
      layers.push_back(**basis);
      // Training corrections of a basis apply until the device has its own. Measured collectives of a basis
      // do not apply, because they depend on its links.
      const std::string of = "from the " + find_accelerator((*basis)->accelerator)->name + ": ";
      for (TrainingFactor& factor : layers.back().training) factor.source = of + factor.source;
      for (TrainingMatmuls& products : layers.back().training_products)
        products.source = of + products.source;
      layers.back().collectives.clear();
    }
    if (own) layers.push_back(*own);
    return complete(std::move(layers));
  }

  std::deque<Calibration> files_;
  std::vector<std::unique_ptr<Kernels>> kernels_;
  std::unique_ptr<Kernels> unmeasured_ = complete({unmeasured()});
};

const Store& store() {
  static const Store instance;
  return instance;
}

std::string basis_text(const Accelerator& accelerator, const std::string& from, const std::string& source,
                       const HeldOut& held) {
  if (from.empty()) return source;
  std::string text;
  if (from != accelerator.id) {
    const Accelerator* measured = find_accelerator(from);
    text = (measured ? measured->name : from) + " table scaled by peak and bandwidth: ";
  }
  text += source;
  if (held.rows > 0)
    text += "; median error " + significant(held.median_percent, 2) + " % on " + std::to_string(held.rows) +
            " rows held out";
  return text;
}

}  // namespace

const Kernels& kernels_of(const Accelerator& accelerator) { return store().of(accelerator); }

const std::vector<Problem>& calibration_problems() { return store().problems; }

std::string matmul_basis(const Accelerator& accelerator, DType dtype) {
  const MatmulCalibration& m = *kernels_of(accelerator).matmul[static_cast<size_t>(dtype)];
  std::string text = basis_text(accelerator, m.from, m.source, m.held_out);
  if (m.dtype != dtype && !m.from.empty()) {
    text += "; efficiency of " + std::string(dtype_name(m.dtype)) + " at the peak of " +
            std::string(dtype_name(dtype));
  }
  return text;
}

std::string attention_basis(const Accelerator& accelerator, AttentionPass pass) {
  const AttentionCalibration& a = kernels_of(accelerator).of(pass, true);
  return basis_text(accelerator, a.from, a.source, a.held_out);
}

}  // namespace shardscape
