#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tyto/data/dataset.h"

namespace tyto {

// The certificate of a model, computed again from the files alone: plain loops and full sorts in extended
// precision, with none of the solver's code or numbers. Only the readers and the weight sequences are shared.
struct Verification {
  double primal = 0, dual = 0, gap = 0;  // as found here
  // As the model says. What it claims is P(b) - P(b*) <= claimed_gap + claimed_rounding.
  double claimed_primal = 0, claimed_gap = 0, claimed_rounding = 0, tolerance = 0;
  bool holds = false;
  std::string reason;  // why it does not hold, in words
  // Of a relaxed model: how far its relaxed part is from the least squares on the pattern.
  std::optional<double> relaxed_error = {};
};

// Of each strength that the file holds, one for a model and many for a path, or of the given one alone,
// counted from 0. Throws DataError for a model that cannot be read, InvalidArgument for data of another
// shape, or with numbers that are infinite or NaN.
std::vector<Verification> verify(const std::string& model_path, const Dataset& data,
                                 std::optional<Index> step = {});
// The same of the text of such a file; `name` stands for it in messages.
std::vector<Verification> verify_text(const std::string& model, const std::string& name, const Dataset& data,
                                      std::optional<Index> step = {});

}  // namespace tyto
