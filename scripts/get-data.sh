#!/usr/bin/env bash
# Fetches the paper's public data sets from their public homes into DIR, as `tyto reproduce --data DIR` takes them:
#
#   scripts/get-data.sh DIR [duke] [colon-cancer] [ujiindoorloc] [slice] [blogfeedback]
#
# All of them by default (200 MB on disk). Broken downloads go on where they were; what is there and right is not fetched
# again. A file appears in DIR only when it is whole and its contents have the SHA-256 below. Of the full slice set no hash is
# known here: its shape is checked, and DIR/SHA256SUMS keeps the hash of the first fetch, which later ones must match.
# The zip files of UCI may hold their files in folders, or in another zip: members are found by name.
# Needs curl, unzip and bzip2. Exit code: 0 all there; 1 some set is not; 2 a mistake in the call.
# TYTO_LIBSVM_URL and TYTO_UCI_URL name mirrors; TYTO_DATA_HASHES a file that replaces the hashes below.
set -euo pipefail

libsvm=${TYTO_LIBSVM_URL:-https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary}
uci=${TYTO_UCI_URL:-https://archive.ics.uci.edu/static/public}
all=(duke colon-cancer ujiindoorloc slice blogfeedback)
slice_rows=53500 slice_columns=386

hashes() {
  if [ -n "${TYTO_DATA_HASHES:-}" ]; then cat "$TYTO_DATA_HASHES"; return; fi
  cat <<'EOT'
bf4e619c4b6b4b934164dfd860f323dddd777e75ada05f162b5c4d537e76b7b2  duke/data.svm
647eb57da9d5df273c8728a19033d80cf09bca70f4d35d1a2de5a281036bf35b  colon-cancer/data.svm
45ca0128bd12019c976bb4793e407c979c82995d7a5940ab7288620247905168  ujiindoorloc/trainingData.csv
5f90c536648cd657b2c516d20c4e0968d4003279ea6bd5d5d5322d3f1e8905c0  ujiindoorloc/validationData.csv
f3cc953ea9913361be6d3bae2c393eef73eab57b1cb8e5bf8a22f1e5eb5dd05f  blogfeedback/blogData_train.csv
EOT
}

say() { echo "get-data: $*"; }
complain() { echo "get-data: $*" >&2; }
mistake() { complain "$@"; exit 2; }

# The hash that the file should have; of slice, what was recorded; empty if nothing is known.
wanted() {
  local known
  known=$(hashes | awk -v path="$1" '$2 == path { print $1 }')
  if [ -z "$known" ] && [ -f "$dir/SHA256SUMS" ]; then
    known=$(awk -v path="$1" '$2 == path { print $1 }' "$dir/SHA256SUMS")
  fi
  echo "$known"
}

hash_of() { sha256sum "$1" | cut -d' ' -f1; }

# have PATH: it is there, and right.
have() {
  local hash
  hash=$(wanted "$1")
  [ -f "$dir/$1" ] && [ -n "$hash" ] && [ "$(hash_of "$dir/$1")" = "$hash" ]
}

# intact ARCHIVE: the archive can be read to its end.
intact() {
  case $1 in
    *.bz2) bzip2 -tq "$1" 2>/dev/null ;;
    *) unzip -tqq "$1" >/dev/null 2>&1 ;;
  esac
}

# download URL ARCHIVE: goes on with a part that is there, and where that cannot be, or the whole is broken, from the start.
download() {
  local url=$1 archive=$2 part=$2.part try code
  if [ -f "$archive" ]; then return 0; fi
  for try in 1 2 3 4; do
    say "fetching $url"
    code=0
    curl --fail --location --silent --show-error --retry 3 --connect-timeout 30 -C - -o "$part" "$url" || code=$?
    if [ $code -eq 0 ]; then
      mv "$part" "$archive"
      intact "$archive" && return 0
      complain "$url: the archive is broken"
      rm -f "$archive"
    elif [ ! -s "$part" ]; then
      return 1
    elif [ $code -eq 22 ] || [ $code -eq 33 ] || [ $code -eq 36 ]; then
      rm -f "$part"  # the server cannot go on from there
    fi
  done
  return 1
}

# unpack ARCHIVE NAME OUTPUT
unpack() {
  local archive=$1 name=$2 output=$3 member inner
  case $archive in
    *.bz2) bzip2 -dc "$archive" >"$output"; return ;;
  esac
  member=$(unzip -Z1 "$archive" | awk -v name="$name" '{ n = split($0, part, "/") } part[n] == name && !found { print; found = 1 }')
  if [ -n "$member" ]; then unzip -p "$archive" "$member" >"$output"; return; fi
  inner=$(unzip -Z1 "$archive" | awk '/\.zip$/ && !found { print; found = 1 }')
  if [ -z "$inner" ]; then complain "$archive: no $name in it"; return 1; fi
  unzip -p "$archive" "$inner" >"$work/inner.zip"
  member=$(unzip -Z1 "$work/inner.zip" | awk -v name="$name" '{ n = split($0, part, "/") } part[n] == name && !found { print; found = 1 }')
  if [ -z "$member" ]; then complain "$archive: no $name in it"; return 1; fi
  unzip -p "$work/inner.zip" "$member" >"$output"
  rm -f "$work/inner.zip"
}

# A table with a header, and with the rows and columns of the full slice set.
slice_shape() {
  awk -F, -v rows="$slice_rows" -v columns="$slice_columns" '
    { sub(/\r$/, "") }
    NR == 1 && ($1 != "patientId" || $NF != "reference") { bad = "header" }
    NF != columns { bad = "line " NR ": " NF " columns" }
    END { if (NR != rows + 1) bad = NR - 1 " rows"; if (bad) { print bad; exit 1 } }' "$1"
}

# place PATH FILE: into DIR under its name, if its contents are right.
place() {
  local path=$1 file=$2 hash got shape
  hash=$(wanted "$path")
  got=$(hash_of "$file")
  if [ -n "$hash" ] && [ "$got" != "$hash" ]; then
    complain "$path: want contents with SHA-256 $hash, got $got"
    return 1
  fi
  if [ "${path%%/*}" = slice ] && ! shape=$(slice_shape "$file"); then
    complain "$path: want $slice_rows rows, $slice_columns columns, patientId first and reference last; got $shape"
    return 1
  fi
  # Called where a failure does not end the script: each step says so itself.
  if ! { mkdir -p "$dir/${path%/*}" && mv "$file" "$dir/$path"; }; then return 1; fi
  if ! grep -qs "  $path\$" "$dir/SHA256SUMS"; then
    { cat "$dir/SHA256SUMS" 2>/dev/null || true; echo "$got  $path"; } >"$work/SHA256SUMS" || return 1
    mv "$work/SHA256SUMS" "$dir/SHA256SUMS" || return 1
  fi
  say "$path: done${hash:+, the contents are those expected}"
}

# get URL ARCHIVE PATH...: the files of one set.
get() {
  local url=$1 archive=$work/$2 path missing=()
  shift 2
  for path in "$@"; do have "$path" && say "$path: already there" || missing+=("$path"); done
  [ ${#missing[@]} -eq 0 ] && return 0
  if ! download "$url" "$archive"; then complain "$url: cannot fetch"; return 1; fi
  for path in "${missing[@]}"; do
    if ! { unpack "$archive" "${path##*/}" "$work/contents" && place "$path" "$work/contents"; }; then
      rm -f "$archive" "$work/contents"  # the next call fetches it again
      return 1
    fi
  done
  rm -f "$archive"
}

get_set() {
  case $1 in
    duke) get "$libsvm/duke.bz2" duke.bz2 duke/data.svm ;;
    colon-cancer) get "$libsvm/colon-cancer.bz2" colon-cancer.bz2 colon-cancer/data.svm ;;
    ujiindoorloc) get "$uci/310/ujiindoorloc.zip" ujiindoorloc.zip ujiindoorloc/trainingData.csv ujiindoorloc/validationData.csv ;;
    slice) get "$uci/206/relative+location+of+ct+slices+on+axial+axis.zip" slice.zip slice/slice_localization_data.csv ;;
    blogfeedback) get "$uci/304/blogfeedback.zip" blogfeedback.zip blogfeedback/blogData_train.csv ;;
  esac
}

[ $# -ge 1 ] && [ -n "$1" ] && [ "${1#-}" = "$1" ] || mistake "want a folder: scripts/get-data.sh DIR [${all[*]}]"
dir=$1
shift
sets=("$@")
[ ${#sets[@]} -gt 0 ] || sets=("${all[@]}")
for name in "${sets[@]}"; do
  [[ " ${all[*]} " == *" $name "* ]] || mistake "want some of ${all[*]}, got '$name'"
done
needed=()
for tool in curl unzip bzip2; do command -v "$tool" >/dev/null || needed+=("$tool"); done
[ ${#needed[@]} -eq 0 ] || mistake "want ${needed[*]}; to install: apt-get install ${needed[*]}"
work=$dir/.download
mkdir -p "$work" || mistake "cannot write to $dir"

failed=()
for name in "${sets[@]}"; do get_set "$name" || failed+=("$name"); done
rmdir "$work" 2>/dev/null || true  # parts of downloads stay, to go on with
if [ ${#failed[@]} -gt 0 ]; then
  complain "not there: ${failed[*]}; the same command tries again"
  exit 1
fi
say "all there: tyto reproduce --data $dir --output paper"
