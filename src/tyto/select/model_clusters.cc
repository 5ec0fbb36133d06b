// How alike the features of each cluster are.
#include <algorithm>
#include <cmath>

#include "tyto/select/model.h"

namespace tyto {
namespace {

constexpr std::size_t kKeptColumns = 1500;  // whose products are kept from one strength to the next

// The columns of each cluster, increasing; of a large one, some at even distances.
std::vector<IndexSet> compared_members(const Model& model) {
  std::vector<IndexSet> members(static_cast<std::size_t>(model.clusters()));
  for (const Coefficient& c : model.coefficients)
    if (c.cluster >= 0) members[static_cast<std::size_t>(c.cluster)].push_back(c.column);
  constexpr Index kMost = ClusterCorrelation::kMostMembers;
  for (IndexSet& all : members) {
    all.erase(std::unique(all.begin(), all.end()), all.end());  // a feature may be in it for several classes
    const Index size = std::ssize(all);
    if (size <= kMost) continue;
    for (Index k = 0; k < kMost; ++k)
      all[static_cast<std::size_t>(k)] = all[static_cast<std::size_t>(k * (size - 1) / (kMost - 1))];
    all.resize(static_cast<std::size_t>(kMost));
  }
  return members;
}

// All that are compared with another one, increasing.
IndexSet columns_of(const std::vector<std::vector<IndexSet>>& members) {
  IndexSet columns;
  for (const std::vector<IndexSet>& clusters : members)
    for (const IndexSet& cluster : clusters)
      if (cluster.size() > 1) columns.insert(columns.end(), cluster.begin(), cluster.end());
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

// `design` has columns of mean 0 and standard deviation 1, so that x_i'x_k is r_ik times the number of rows.
// `cache`: its products, where they are kept; else null.
ClusterCorrelation correlation(const Design& design, GramCache* cache, const IndexSet& places) {
  const Index size = std::ssize(places);
  Eigen::MatrixXd products(size, size);
  if (cache != nullptr)
    cache->gram(design, places, products);
  else
    design.gram(places, products);
  ClusterCorrelation result{0, 1};
  for (Index k = 1; k < size; ++k)
    for (Index i = 0; i < k; ++i) {
      const double r = std::min(1.0, std::abs(products(i, k)) / design.total_weight());
      result.mean += r;
      result.least = std::min(result.least, r);
    }
  result.mean = std::max(result.least, result.mean / static_cast<double>(size * (size - 1) / 2));
  return result;
}

}  // namespace

void correlate_clusters(const Dataset& data, std::vector<Model>& models) {
  std::vector<std::vector<IndexSet>> members;
  for (Model& model : models) {
    members.push_back(compared_members(model));
    model.correlations.assign(members.back().size(), {});
  }
  const IndexSet columns = columns_of(members);
  if (columns.empty()) return;
  const Vector& weights = models.front().options.observation_weights;
  const Design design = data.design.select(columns).standardized(true, true, weights);
  GramCache cache(design.cols());
  GramCache* const kept = columns.size() <= kKeptColumns ? &cache : nullptr;
  for (std::size_t k = 0; k < models.size(); ++k)
    for (std::size_t cluster = 0; cluster < members[k].size(); ++cluster) {
      IndexSet places = members[k][cluster];
      if (places.size() < 2) continue;
      for (Index& column : places) column = std::ranges::lower_bound(columns, column) - columns.begin();
      models[k].correlations[cluster] = correlation(design, kept, places);
    }
}

}  // namespace tyto
