#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tyto/base/names.h"
#include "tyto/design/design.h"

namespace tyto {

// Of rows that stand for others (moments/): how many those are, and what was taken off each of them.
struct Origin {
  Index rows = 0;
  ExtendedVector columns = {};
  long double response = 0;
};

// A CSV column of words that becomes columns of 0 and 1, called "column=word": one for each word, or, of two
// words, one for the second.
struct OneHot {
  std::string column;              // its name, or 0-based number
  std::vector<std::string> words;  // in alphabetical order; to be found in the data where there are none

  std::vector<std::string> features() const {
    std::vector<std::string> names;
    for (std::size_t k = words.size() == 2 ? 1 : 0; k < words.size(); ++k)
      names.push_back(column + "=" + words[k]);
    return names;
  }
};

// What takes the place of a missing value: see Missing::kMean.
struct Filling {
  Index column;
  std::string name;  // of the feature; empty where the data has no names
  double value;
};

// Whose a row is, in the words of PLINK: family (FID) and person (IID).
struct Sample {
  std::string family, person;
};

// What a file holds: the raw matrix, the response beside it, and the names, all in the file's own units.
struct Dataset {
  Design design;                         // n x p
  Vector response;                       // n, or empty where there is none
  std::vector<std::string> names = {};   // p feature names, or empty where the file names none
  std::string response_name = {};        // empty where unknown
  Vector row_weights = {};               // n, how often each row counts, where they were asked for
  std::string weights_name = {};         // of their column; empty where they came from a file
  Vector offset = {};                    // n, added to the linear predictor, where it was asked for
  std::string offset_name = {};          // of its column; empty where it came from a file
  Vector events = {};                    // n, 1 where the response is the time of an event, else 0
  std::string event_name = {};           // of its column; empty where it came from a file
  std::vector<std::string> labels = {};  // where the response is text, its words: they count as 0, 1, ...
  IndexSet dropped_rows = {};            // rows of the files that were left out for missing values, from 0
  std::vector<std::string> dropped_columns = {};   // the same for columns, by name or 0-based number
  std::vector<double> means = {};                  // p, of the features, where missing values became those
  Index filled = 0;                                // missing values that did
  std::vector<OneHot> one_hot = {};                // columns that were words, with all their words
  std::vector<Sample> samples = {};                // n, where the file says whose its rows are
  bool response_by_name = false;                   // nobody said which column it is: its name did
  std::vector<std::string> warnings = {};          // what was guessed and may be wrong, in a line each
  std::shared_ptr<const Origin> origin = nullptr;  // where rows stand for others

  Index rows() const { return origin ? origin->rows : design.rows(); }  // of the data
};

enum class Header { kAuto, kYes, kNo };  // kAuto: a first line with anything that is not a number
// What to do about missing values. kMean: they become the mean of the other rows. With kDropColumns and
// kMean, rows without a response, weight, offset or event are left out. kKeep: as NaN, for the caller to see
// to.
enum class Missing { kRefuse, kDropRows, kDropColumns, kMean, kKeep };
inline constexpr Names kMissingWords({
    std::pair<std::string_view, Missing>{"refuse", Missing::kRefuse},
    {"mean", Missing::kMean},
    {"drop-rows", Missing::kDropRows},
    {"drop-columns", Missing::kDropColumns},
});
enum class Decimal { kAuto, kPoint, kComma };  // kAuto: a comma where the file shows that it is one

struct ReadOptions {
  std::string format = {};  // a row of the format table, or empty: by the file's name and content
  // The response: a CSV column by name or 0-based number, a column of the `response` file, or, as another way
  // to name that file, a file beside an .npy, .npz, .mtx or .bed matrix. Default: the label of LIBSVM; the
  // column of a CSV header that is called y, target, label or response, of which there must be one; the last
  // column of .npy, and of CSV without a header; the sixth of .fam.
  std::optional<std::string> target = {};
  // A file with the response, where the data has only features: see ResponseFile.
  std::optional<std::string> response = {};
  // Weights of the rows: a CSV column by name or 0-based number, or a file beside the data.
  std::optional<std::string> weights = {};
  std::optional<std::string> offset = {};  // of the linear predictor, row by row: as the weights
  // Whether each row's time is that of an event: 0 and 1, or FALSE and TRUE; found as the weights are.
  std::optional<std::string> event = {};
  // Where target, weights, offset or event come from a model, which anybody may have written, they name
  // columns of the data and no file is opened for them.
  bool target_from_model = false, weights_from_model = false, offset_from_model = false;
  bool event_from_model = false;
  bool text_labels = false;            // the response of a CSV file may be text: see Dataset::labels
  Header header = Header::kAuto;       // of CSV files
  bool target_optional = false;        // new data for a model: take the response where it is there
  std::vector<std::string> drop = {};  // CSV columns to leave out, by name or 0-based number
  std::vector<std::string> used = {};  // new data for a model: CSV columns beside these need not be numbers
  std::vector<OneHot> one_hot = {};    // CSV columns of words
  Decimal decimal = Decimal::kAuto;    // of CSV files
  Missing missing = Missing::kRefuse;  // what to do about NA, NaN or empty cells
  std::vector<Filling> fill = {};      // new data for a model: instead of means; what is not here becomes 0
  Index features = 0;  // p, where the caller knows it: a LIBSVM file does not say how wide it is, and
                       // a file without names and with just so many columns has no response
  Index memory = 0;    // bytes for all that is computed from columns that stay in a file; 0: it is mapped
};

// Reads one file, or several of the same shape stacked by rows; plain or compressed with gz, bz2, xz or zst.
// Throws DataError ("name:line: expected ..., got ...") or InvalidArgument for options that do not fit the
// file.
Dataset read(const std::vector<std::string>& files, const ReadOptions& options = {});

// Whether read() leaves the columns of these files where they are and reads them as they are wanted, within
// ReadOptions::memory.
bool reads_columns(const std::vector<std::string>& files, const ReadOptions& options = {});

std::vector<std::string> format_names();

}  // namespace tyto
