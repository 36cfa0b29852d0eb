#include "slicewise/scenarios/load.hpp"

#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

struct FoundMember {
  const Field* field = nullptr;  // nullptr where a block on the way is absent
  void* member = nullptr;
};

FoundMember member_at(const FieldList* fields, void* owner, std::string_view path) {
  while (true) {
    const Field* field = fields->find(path.substr(0, path.find('.')));
    const bool last = path.find('.') == std::string_view::npos;
    assert(field != nullptr);
    if (field->binding != nullptr) {
      void* member = field->binding->member(owner);
      if (last || member == nullptr) return {member == nullptr ? nullptr : field, member};
      owner = field->binding->type->inside(member);
      if (owner == nullptr) return {};
    }
    fields = field->block;
    path.remove_prefix(path.find('.') + 1);
  }
}

AmountUnit unit_of(const FieldList* fields, std::string_view path) {
  const Field* field = fields->find(path.substr(0, path.find('.')));
  while (path.find('.') != std::string_view::npos) {
    path.remove_prefix(path.find('.') + 1);
    field = field->block->find(path.substr(0, path.find('.')));
  }
  assert(field != nullptr && field->binding != nullptr);
  const MemberType* member = field->binding->type;
  // A rate that the file has as a number.
  if (member == &kMemberType<Rate> || member == &kMemberType<std::optional<Rate>>) {
    return AmountUnit::PerSecond;
  }
  if (field->type == FieldType::Random) field = field->block->find("mean");
  switch (field->type) {
    case FieldType::Duration:
    case FieldType::FineDuration:
      return AmountUnit::Seconds;
    case FieldType::Bytes:
      return AmountUnit::Bytes;
    case FieldType::Cpu:
      return AmountUnit::Cores;
    case FieldType::Percent:
      return AmountUnit::Ratio;
    default:
      return AmountUnit::Count;
  }
}

std::optional<double> amount_of_member(const FoundMember& found) {
  return found.field == nullptr ? std::nullopt : found.field->binding->type->amount(found.member);
}

void set_member(const FoundMember& found, double amount) {
  assert(found.field != nullptr);
  found.field->binding->type->set_amount(found.member, amount);
}

// Nothing is written through it.
template <class Owner>
void* unchanged(const Owner& owner) {
  return const_cast<Owner*>(&owner);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

}  // namespace

AmountUnit workload_unit(std::string_view path) { return unit_of(&kWorkload, path); }
AmountUnit pool_unit(std::string_view path) { return unit_of(&kNodePool, path); }

std::optional<double> amount_at(const Workload& workload, std::string_view path) {
  return amount_of_member(member_at(&kWorkload, unchanged(workload), path));
}

std::optional<double> amount_at(const NodePool& pool, std::string_view path) {
  return amount_of_member(member_at(&kNodePool, unchanged(pool), path));
}

void set_amount(Workload& workload, std::string_view path, double amount) {
  set_member(member_at(&kWorkload, &workload, path), amount);
}

void set_amount(NodePool& pool, std::string_view path, double amount) {
  set_member(member_at(&kNodePool, &pool, path), amount);
}

}  // namespace slicewise::scenarios
