// Reader of .tyto files: columns stay in the file.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "tyto/base/error.h"
#include "tyto/base/nearest.h"
#include "tyto/data/formats.h"
#include "tyto/data/text.h"
#include "tyto/data/tyto_file.h"

namespace tyto {
namespace {

// The columns of a file, of which some turn out to be no features.
class Parts {
 public:
  Parts(const std::string& path, TytoDescription description, Index memory_bytes)
      : path_(path),
        data_(std::move(description.about)),
        whole_(open_columns(std::move(description.columns), memory_bytes)),
        is_feature_(static_cast<std::size_t>(whole_.cols()), true) {}

  // Named by name or, where there are none, by 0-based number; -1: there is no such column.
  Index find(const std::string& name) const {
    const auto found = std::ranges::find(data_.names, name);
    if (found != data_.names.end()) return found - data_.names.begin();
    Index number = -1;
    return is_count(name, number) && number < whole_.cols() ? number : -1;
  }

  Vector take_out(Index column) {
    is_feature_[static_cast<std::size_t>(column)] = false;
    Vector values = Vector::Zero(whole_.rows());
    whole_.for_each_entry(column, [&](Index row, double value) { values[row] = value; });
    return values;
  }

  // Weights, offset or events: those of the file, where nothing else is asked for; a column of it; or left to
  // be read from a file beside it.
  void choose(const std::optional<std::string>& wanted, Vector& values, std::string& name) {
    if (!wanted || (values.size() > 0 && *wanted == name)) return;
    values.resize(0);
    name.clear();
    const Index column = find(*wanted);
    if (column < 0) return;
    values = take_out(column);
    name = *wanted;
  }

  void choose_response(const ReadOptions& options) {
    if (options.response) return;  // which takes its place
    const bool own = data_.response.size() > 0;
    if (!options.target || (own && *options.target == data_.response_name)) {
      if (!own && !options.target_optional)
        throw InvalidArgument("target: want a column or a file: " + printable(path_) + " has no response");
      return;
    }
    if (const Index column = find(*options.target); column >= 0) {
      data_.response = take_out(column);
      data_.response_name = data_.names.empty() ? "" : *options.target;
      data_.labels.clear();
      return;
    }
    if (options.target_optional && options.target_from_model) return;
    if (options.target_from_model) refuse_file_of_model("target", *options.target);
    data_.response = read_numbers(*options.target, whole_.rows(), "the response");
    data_.response_name.clear();
    data_.labels.clear();
  }

  void drop(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const Index column = find(name);
      if (column >= 0)
        is_feature_[static_cast<std::size_t>(column)] = false;
      else if (name != data_.weights_name && name != data_.response_name)
        throw InvalidArgument(unknown_word("drop: no such column", name, data_.names));
    }
  }

  Dataset result() && {
    IndexSet features;
    for (Index j = 0; j < whole_.cols(); ++j)
      if (is_feature_[static_cast<std::size_t>(j)]) features.push_back(j);
    if (features.empty()) fail(path_, 0, "expected at least one feature column, got none");
    const bool all = std::ssize(features) == whole_.cols();
    if (!all && !data_.names.empty()) {
      std::vector<std::string> names;
      for (const Index j : features) names.push_back(data_.names[static_cast<std::size_t>(j)]);
      data_.names = std::move(names);
    }
    data_.design = all ? whole_ : whole_.select(features);
    return std::move(data_);
  }
  Dataset& data() { return data_; }

 private:
  const std::string& path_;
  Dataset data_;
  Design whole_;
  std::vector<bool> is_feature_;
};

}  // namespace

bool looks_like_tyto(std::string_view beginning) {
  return beginning.starts_with(kTytoMagic) || beginning.starts_with(kTytoPartMagic);
}

Dataset read_tyto(const Sources& sources, const ReadOptions& options) {
  const std::string& path = sources.front().name();
  if (sources.size() > 1)
    fail(sources[1].name(), 0,
         "expected one .tyto file: rows cannot be stacked in place; convert the data together");
  if (!options.one_hot.empty())
    throw InvalidArgument("one-hot: want it where the data is converted, got it for a .tyto file");
  Parts parts(path, read_tyto_description(path), options.memory);
  Dataset& data = parts.data();
  if (!data.labels.empty() && !options.text_labels && !options.target && !options.target_optional)
    fail(path, 0, "expected numbers as the response, got words such as " + in_quotes(data.labels[0]));
  parts.choose_response(options);
  parts.choose(options.weights, data.row_weights, data.weights_name);
  parts.choose(options.offset, data.offset, data.offset_name);
  parts.choose(options.event, data.events, data.event_name);
  if (!options.event) data.events.resize(0);
  parts.drop(options.drop);
  return std::move(parts).result();
}

}  // namespace tyto
