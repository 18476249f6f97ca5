// The list of a structure's members, and the keys that are selections from it.
#include "graph/structure_fields.h"

#include <QtTest>

#include <set>
#include <string>

#include "graph/build.h"

using namespace shardscape;

namespace {

template <class T>
void change(T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    value += "x";
  else if constexpr (std::is_same_v<T, bool>)
    value = !value;
  else if constexpr (std::is_same_v<T, RecomputeModules> || std::is_same_v<T, LoraModules>)
    value.bits ^= 1;
  else if constexpr (std::is_same_v<T, LayerPattern>)
    value.repeat.push_back(1);
  else if constexpr (std::is_same_v<T, std::vector<LayerStructure>>)
    value.push_back({"full", "layer", {}});
  else if constexpr (std::is_same_v<T, CarriedUse>)
    ++value.made;
  else if constexpr (std::is_same_v<T, WeightFormats>)
    value[WeightRole::ExpertUp] = WeightFormat::NVFP4;
  else
    value = static_cast<T>(static_cast<int64_t>(value) + 1);
}

std::vector<int64_t> words(const Structure& structure) {
  const CacheKey key = key_of(structure);
  return {key.words().begin(), key.words().end()};
}

}  // namespace

class StructureFieldsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyMemberIsListedOnce();
  void keysDependOnTheirMembersOnly();
};

// A row for every member, by count (visit_fields), and no member in two rows.
void StructureFieldsTest::everyMemberIsListedOnce() {
  const Structure structure;
  std::set<const void*> members;
  std::set<std::string> names;
  visit_fields(
      [&](const auto& field, const auto& value) {
        members.insert(&value);
        names.insert(field.name);
      },
      structure);
  QCOMPARE(members.size(), member_count<Structure>());
  QCOMPARE(names.size(), member_count<Structure>());
}

void StructureFieldsTest::keysDependOnTheirMembersOnly() {
  const Structure usual;
  Structure changed;
  visit_fields(
      [&](const auto& field, auto& value) {
        change(value);
        QVERIFY2(words(changed) != words(usual), field.name);
        QVERIFY2((members_with<&StructureUses::segments>(changed) == usual) != field.uses.segments,
                 field.name);
        QVERIFY2((members_with<&StructureUses::compiled_ops>(changed) == usual) != field.uses.compiled_ops,
                 field.name);
        // Lifetimes and seconds of ops are those of segments.
        QVERIFY2(!field.uses.segments || (field.uses.lifetimes && field.uses.compiled_ops), field.name);
        changed = usual;
      },
      changed);
}

QTEST_APPLESS_MAIN(StructureFieldsTest)
#include "structure_fields_test.moc"
