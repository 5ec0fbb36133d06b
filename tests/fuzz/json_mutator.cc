#include <algorithm>
#include <iterator>
#include <random>

#include "tests/fuzz/commands.h"
#include "tyto/base/error.h"
#include "tyto/base/json.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace tyto::fuzz {
namespace {

using Random = std::minstd_rand;

std::size_t below(std::size_t limit, Random& random) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

void collect(Json& json, std::vector<Json*>& all) {
  all.push_back(&json);
  if (json.is_structured())
    for (Json& part : json) collect(part, all);
}

Json odd_value(Random& random) {
  static const std::vector<Json> kOdd{nullptr,
                                      true,
                                      false,
                                      "",
                                      "converged",
                                      "stalled",
                                      "tyto-model-1",
                                      "tyto-path-1",
                                      "tyto-cv-1",
                                      "given",
                                      "\n",
                                      0,
                                      1,
                                      -1,
                                      2,
                                      3,
                                      4,
                                      12,
                                      13,
                                      1e300,
                                      -1e300,
                                      1e-300,
                                      5e-324,
                                      0.5,
                                      1e15,
                                      1e19,
                                      INT64_MAX,
                                      INT64_MIN,
                                      UINT64_MAX,
                                      Json::array(),
                                      Json::object(),
                                      Json::array({0, 1}),
                                      Json::array({Json::array({0, 1.5})}),
                                      -0.0,
                                      1e154,
                                      2147483647,
                                      4294967296,
                                      1e-8};
  return kOdd[below(kOdd.size(), random)];
}

void nudge(Json& node, Random& random) {
  static const std::vector<double> kFactors{-1, 0.5, 1 + 1e-9, 1 - 1e-6, 2, 10, 1e10, 1e-10, 1e150, 1e-150};
  if (node.is_number_float())
    node = node.get<double>() * kFactors[below(kFactors.size(), random)];
  else if (node.is_number_integer())
    node = node.get<std::int64_t>() ^ (std::int64_t{1} << below(64, random));
  else
    node = odd_value(random);
}

// Removes, or repeats, a part of an array or object.
void resize(Json& node, Random& random) {
  if (!node.is_structured() || node.empty()) {
    node = odd_value(random);
    return;
  }
  const auto part = std::next(node.begin(), static_cast<std::ptrdiff_t>(below(node.size(), random)));
  if (node.is_array() && below(2, random) == 0) {
    const Json copy = *part;
    node.push_back(copy);
  } else {
    node.erase(part);
  }
}

void change(Json& root, Random& random) {
  std::vector<Json*> all;
  collect(root, all);
  Json& node = *all[below(all.size(), random)];
  switch (below(5, random)) {
    case 0:
      node = odd_value(random);
      break;
    case 1:
    case 2:
      nudge(node, random);
      break;
    case 3:
      resize(node, random);
      break;
    default: {  // another part of the text
      const Json copy = *all[below(all.size(), random)];
      node = copy;
    }
  }
}

}  // namespace

std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  Random random(seed);
  if (below(8, random) == 0) return LLVMFuzzerMutate(data, size, most);
  try {
    Json json = parse_json(bytes(data, size), "input");
    if (json.is_discarded()) return LLVMFuzzerMutate(data, size, most);
    for (std::size_t count = 1 + below(3, random); count > 0; --count) change(json, random);
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
    std::ranges::copy(text, data);
    return text.size();
  } catch (const DataError&) {  // too deep
    return LLVMFuzzerMutate(data, size, most);
  }
}

}  // namespace tyto::fuzz
