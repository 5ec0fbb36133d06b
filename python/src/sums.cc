// Sums over rows, packed as bytes, which is how they travel between processes: see tyto/moments.
#include <nanobind/eigen/dense.h>

#include <memory>
#include <string>
#include <string_view>

#include "answers.h"
#include "bindings.h"
#include "run.h"
#include "tyto/base/error.h"
#include "tyto/base/pass_tuning.h"
#include "tyto/moments/packing.h"
#include "tyto/select/by_gradients.h"
#include "tyto/select/summed.h"

namespace tyto::python {
namespace {

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }
nb::bytes bytes_of(const std::string& packed) { return nb::bytes(packed.data(), packed.size()); }

// Rows of a table, as Python has them.
struct Rows {
  Dataset data;
  std::optional<std::vector<Index>> folds;  // given
};

Rows make_rows(const Design& design, const Vector& y, const std::optional<Vector>& weights,
               const std::optional<Vector>& offset, const std::vector<std::string>& names) {
  Rows rows{{design, y}, {}};
  if (weights) rows.data.row_weights = *weights;
  if (offset) rows.data.offset = *offset;
  rows.data.names = names;
  return rows;
}

void set_folds(Rows& rows, std::vector<Index> folds) { rows.folds = std::move(folds); }

// Of the rows of a partition, which may come in several blocks.
class PartitionMoments {
 public:
  PartitionMoments(Index folds, std::uint64_t seed, std::uint64_t first)
      : place_{first, folds, seed, nullptr} {}

  void add(const Rows& rows) {
    const nb::gil_scoped_release no_gil;
    RowPlace place = place_;
    place.given = rows.folds ? &*rows.folds : nullptr;
    sum_.add(rows.data, place);
    place_.first += static_cast<std::uint64_t>(rows.data.design.rows());
  }
  nb::bytes total() const { return bytes_of(pack(sum_.total())); }

 private:
  RowPlace place_;
  MomentSum sum_;
};

class PartitionEvidence {
 public:
  explicit PartitionEvidence(const nb::bytes& query) : query_(unpack_query(view(query), "query")) {}

  void add(const Rows& rows) {
    const nb::gil_scoped_release no_gil;
    sum_.add(rows.data, query_);
  }
  nb::bytes total() const { return bytes_of(pack(sum_.total())); }

 private:
  EvidenceQuery query_;
  EvidenceSum sum_;
};

// In pairs, in the order in which they come.
template <class Sum, class Unpack>
nb::bytes merged(const std::vector<nb::bytes>& parts, Unpack unpack) {
  PairwiseSum<Sum> sum;
  for (const nb::bytes& part : parts) sum.add(unpack(view(part), "sums"));
  return bytes_of(pack(sum.total()));
}

class PartitionColumns {
 public:
  void add(const Rows& rows) {
    const nb::gil_scoped_release no_gil;
    sum_.add(rows.data);
  }
  nb::bytes total() const { return bytes_of(pack(sum_.total())); }

 private:
  ColumnSum sum_;
};

class PartitionGradients {
 public:
  explicit PartitionGradients(const nb::bytes& query) : query_(unpack_gradient_query(view(query), "query")) {}

  void add(const Rows& rows) {
    const nb::gil_scoped_release no_gil;
    sum_.add(rows.data, query_);
  }
  nb::bytes total() const { return bytes_of(pack(sum_.total())); }

 private:
  GradientQuery query_;
  GradientSum sum_;
};

nb::dict about_columns(const nb::bytes& bytes) {
  const ColumnSet set = unpack_columns(view(bytes), "columns");
  if (set.empty()) throw InvalidArgument("X: want at least one row, got none");
  nb::dict dict;
  dict["rows"] = set.fingerprint.rows;
  dict["weight"] = set.moments.weight;
  dict["features"] = set.features();
  dict["names"] = set.names;
  dict["responses"] = set.responses;
  return dict;
}

nb::dict about_moments(const nb::bytes& bytes) {
  const MomentSet set = unpack_moments(view(bytes), "moments");
  if (set.empty()) throw InvalidArgument("X: want at least one row, got none");
  const CoMoments total = set.total();
  nb::dict dict;
  dict["rows"] = set.fingerprint.rows;
  dict["weight"] = total.weight;
  dict["features"] = set.features();
  dict["names"] = set.names;
  return dict;
}

Task task_of(const std::string& name) {
  if (name == "fit") return kFitTask;
  if (name == "path") return kPathTask;
  if (name == "cv") return kCvTask;
  throw InvalidArgument("task: want fit, path or cv, got '" + name + "'");
}

// A fit, a path or a cross-validation: see SummedEstimate.
class Passes {
 public:
  Passes(const nb::bytes& moments, const std::string& task, const RegressionOptions& regression,
         const CvOptions& cv, const FitOptions& options, const EstimateOptions& asked,
         const nb::object& progress)
      : task_(task_of(task)) {
    EstimateOptions all = asked;
    all.regression = regression;
    all.fit = options;
    all.cv = cv;
    const auto work = [all, kind = task_, set = unpack_moments(view(moments), "moments")](Watch&) {
      return std::make_shared<SummedEstimate>(set, all, kind);
    };
    found_ = run(work, progress);
  }

  std::optional<nb::bytes> ask() const {
    const auto query = found_->ask();
    if (!query) return {};
    return bytes_of(pack(*query));
  }
  void tell(const nb::bytes& sums) {
    const EvidenceSums told = unpack_sums(view(sums), "sums");
    const nb::gil_scoped_release no_gil;
    found_->tell(told);
  }
  Index passes() const { return found_->passes(); }
  nb::dict answer() const {
    if (task_ == kFitTask) return answer_of_fit(found_->estimate);
    return task_ == kPathTask ? answer_of_path(found_->estimate) : answer_of_cv(found_->cv);
  }

 private:
  Task task_;
  std::shared_ptr<SummedEstimate> found_;
};

// A fit or a path: see EstimateByGradients.
class GradientPasses {
 public:
  GradientPasses(const nb::bytes& columns, const std::string& task, const RegressionOptions& regression,
                 const CvOptions& cv, const FitOptions& options, const EstimateOptions& asked)
      : task_(task_of(task)) {
    EstimateOptions all = asked;
    all.regression = regression;
    all.fit = options;
    all.cv = cv;
    const ColumnSet set = unpack_columns(view(columns), "columns");
    const nb::gil_scoped_release no_gil;
    found_ = std::make_shared<EstimateByGradients>(set, all, task_);
  }

  std::optional<nb::bytes> ask() const {
    const auto query = found_->ask();
    if (!query) return {};
    return bytes_of(pack(*query));
  }
  void tell(const nb::bytes& sums) {
    const GradientSums told = unpack_gradients(view(sums), "sums");
    const nb::gil_scoped_release no_gil;
    found_->tell(told);
  }
  Index passes() const { return found_->passes(); }
  nb::dict answer() const {
    return task_ == kFitTask ? answer_of_fit(found_->estimate) : answer_of_path(found_->estimate);
  }

 private:
  Task task_;
  std::shared_ptr<EstimateByGradients> found_;
};

}  // namespace

void add_sums(nb::module_& module) {
  nb::class_<Rows>(module, "Rows")
      .def(
          "__init__",
          [](Rows* place, const Design& design, const Vector& y, const std::optional<Vector>& weights,
             const std::optional<Vector>& offset, const std::vector<std::string>& names) {
            new (place) Rows(make_rows(design, y, weights, offset, names));
          },
          nb::arg("design"), nb::arg("y"), nb::arg("weights").none(), nb::arg("offset").none(),
          nb::arg("names"))
      .def("set_folds", &set_folds, nb::arg("folds"));
  nb::class_<PartitionMoments>(module, "PartitionMoments")
      .def(nb::init<Index, std::uint64_t, std::uint64_t>(), nb::arg("folds"), nb::arg("seed"),
           nb::arg("first"))
      .def("add", &PartitionMoments::add, nb::arg("rows"))
      .def("total", &PartitionMoments::total);
  nb::class_<PartitionEvidence>(module, "PartitionEvidence")
      .def(nb::init<const nb::bytes&>(), nb::arg("query"))
      .def("add", &PartitionEvidence::add, nb::arg("rows"))
      .def("total", &PartitionEvidence::total);
  nb::class_<PartitionColumns>(module, "PartitionColumns")
      .def(nb::init<>())
      .def("add", &PartitionColumns::add, nb::arg("rows"))
      .def("total", &PartitionColumns::total);
  nb::class_<PartitionGradients>(module, "PartitionGradients")
      .def(nb::init<const nb::bytes&>(), nb::arg("query"))
      .def("add", &PartitionGradients::add, nb::arg("rows"))
      .def("total", &PartitionGradients::total);
  module.def(
      "merge_columns",
      [](const std::vector<nb::bytes>& parts) { return merged<ColumnSet>(parts, unpack_columns); },
      nb::arg("parts"));
  module.def(
      "merge_gradients",
      [](const std::vector<nb::bytes>& parts) { return merged<GradientSums>(parts, unpack_gradients); },
      nb::arg("parts"));
  module.def("about_columns", &about_columns, nb::arg("columns"));
  module.attr("most_columns_of_moments") = PassTuning().most_columns;
  nb::class_<GradientPasses>(module, "GradientPasses")
      .def(nb::init<const nb::bytes&, const std::string&, const RegressionOptions&, const CvOptions&,
                    const FitOptions&, const EstimateOptions&>(),
           nb::arg("columns"), nb::arg("task"), nb::arg("regression"), nb::arg("cv"), nb::arg("options"),
           nb::arg("estimate_options"))
      .def("ask", &GradientPasses::ask)
      .def("tell", &GradientPasses::tell, nb::arg("sums"))
      .def("answer", &GradientPasses::answer)
      .def_prop_ro("passes", &GradientPasses::passes);
  module.def(
      "merge_moments",
      [](const std::vector<nb::bytes>& parts) { return merged<MomentSet>(parts, unpack_moments); },
      nb::arg("parts"));
  module.def(
      "merge_evidence",
      [](const std::vector<nb::bytes>& parts) { return merged<EvidenceSums>(parts, unpack_sums); },
      nb::arg("parts"));
  module.def("about_moments", &about_moments, nb::arg("moments"));
  nb::class_<Passes>(module, "Passes")
      .def(nb::init<const nb::bytes&, const std::string&, const RegressionOptions&, const CvOptions&,
                    const FitOptions&, const EstimateOptions&, const nb::object&>(),
           nb::arg("moments"), nb::arg("task"), nb::arg("regression"), nb::arg("cv"), nb::arg("options"),
           nb::arg("estimate_options"), nb::arg("progress").none())
      .def("ask", &Passes::ask)
      .def("tell", &Passes::tell, nb::arg("sums"))
      .def("answer", &Passes::answer)
      .def_prop_ro("passes", &Passes::passes);
}

}  // namespace tyto::python
