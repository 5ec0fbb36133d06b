#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "tyto/base/types.h"

namespace tyto {

// Which columns of a file are in memory: each in a frame, a piece of memory of the size of a column. Only the
// bookkeeping, for one thread at a time.
//
// What stays: most frames hold what they hold until a short list of columns wants them: first those that are
// empty, then those that a pass over many columns has filled, then the one that no short list has asked for
// longest. A pass fills empty frames too, and otherwise goes through the frames of a ring, the oldest first.
// So a pass never drives out what short lists want, however long it is; and of a file that is read over and
// over, what the first pass has kept is not read again.
class FrameCache {
 public:
  static constexpr std::int32_t kNone = -1;

  FrameCache(Index columns, std::int32_t frames, std::int32_t ring);  // ring: how many of the frames

  std::int32_t find(Index column) const { return frame_of_[static_cast<std::size_t>(column)]; }
  Index column(std::int32_t frame) const { return at(frame).column; }

  // A frame for a column that has none; it is pinned. `keep`: for a short list. kNone where every frame that
  // it could have is pinned.
  std::int32_t take(Index column, bool keep);
  void keep(std::int32_t frame);  // a short list asks for a column that is there
  // A frame is given to no other column as long as it was pinned more often than unpinned.
  void pin(std::int32_t frame) { ++at(frame).pins; }
  void unpin(std::int32_t frame) { --at(frame).pins; }

 private:
  enum List : std::int32_t { kEmpty, kPassed, kKept, kRing, kLists };
  struct Frame {
    Index column = kNone;
    std::int32_t pins = 0, before = kNone, after = kNone;
    List list = kEmpty;
  };
  Frame& at(std::int32_t frame) { return frames_[static_cast<std::size_t>(frame)]; }
  const Frame& at(std::int32_t frame) const { return frames_[static_cast<std::size_t>(frame)]; }
  std::int32_t end_of(List list) const { return static_cast<std::int32_t>(frames_.size()) - kLists + list; }
  void link(std::int32_t frame, List list, std::int32_t before);
  void unlink(std::int32_t frame);
  void append(std::int32_t frame, List list) { link(frame, list, end_of(list)); }
  std::int32_t first_unpinned(std::initializer_list<List> lists) const;

  std::vector<Frame> frames_;           // and the ends of the lists, which are circular
  std::vector<std::int32_t> frame_of_;  // by column
};

}  // namespace tyto
