#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tyto/design/design.h"

namespace tyto {

// What a file holds: the raw matrix, the response beside it, and the names, all in the file's own units.
struct Dataset {
  Design design;                           // n x p
  Vector response;                         // n, or empty where there is none
  std::vector<std::string> names = {};     // p feature names, or empty where the file names none
  std::string response_name = {};          // empty where unknown
  Vector weights = {};                     // n, how often each row counts, where they were asked for
  std::string weights_name = {};           // of their column; empty where they came from a file
  IndexSet dropped_rows = {};              // rows of the files that were left out for missing values, from 0
  bool response_by_name = false;           // nobody said which column it is: its name did
  std::vector<std::string> warnings = {};  // what was guessed and may be wrong, in a line each
};

enum class Header { kAuto, kYes, kNo };            // kAuto: a first line with anything that is not a number
enum class Missing { kRefuse, kDropRows, kKeep };  // kKeep: as NaN, for the caller to see to

struct ReadOptions {
  std::string format = {};  // a row of the format table, or empty: by the file's name and content
  // The response: a CSV column by name or 0-based number, or a file beside an .npy or .mtx matrix. Default:
  // the label of LIBSVM; the column of a CSV header that is called y, target, label or response, of which
  // there must be one; the last column of .npy, and of CSV without a header.
  std::optional<std::string> target = {};
  // Weights of the rows: a CSV column by name or 0-based number, or a file beside the data.
  std::optional<std::string> weights = {};
  // Where target or weights come from a model, which anybody may have written, they name columns of the data
  // and no file is opened for them.
  bool target_from_model = false, weights_from_model = false;
  Header header = Header::kAuto;       // of CSV files
  bool target_optional = false;        // new data for a model: take the response where it is there
  std::vector<std::string> drop = {};  // CSV columns to leave out, by name or 0-based number
  std::vector<std::string> used = {};  // new data for a model: CSV columns beside these need not be numbers
  Missing missing = Missing::kRefuse;  // what to do about NA, NaN or empty cells
  Index features = 0;  // p, where the caller knows it: a LIBSVM file does not say how wide it is, and
                       // a file without names and with just so many columns has no response
};

// Reads one file, or several of the same shape stacked by rows; plain or compressed with gz, bz2, xz or zst.
// Throws DataError ("name:line: expected ..., got ...") or InvalidArgument for options that do not fit the
// file.
Dataset read(const std::vector<std::string>& files, const ReadOptions& options = {});

std::vector<std::string> format_names();

}  // namespace tyto
