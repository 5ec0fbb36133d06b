#include "tyto/columns/frame_cache.h"

namespace tyto {

FrameCache::FrameCache(Index columns, std::int32_t frames, std::int32_t ring)
    : frames_(static_cast<std::size_t>(frames + kLists)),
      frame_of_(static_cast<std::size_t>(columns), kNone) {
  for (const List list : {kEmpty, kPassed, kKept, kRing})
    at(end_of(list)).before = at(end_of(list)).after = end_of(list);
  for (std::int32_t frame = 0; frame < frames; ++frame) append(frame, frame < ring ? kRing : kEmpty);
}

void FrameCache::unlink(std::int32_t frame) {
  at(at(frame).before).after = at(frame).after;
  at(at(frame).after).before = at(frame).before;
}

void FrameCache::link(std::int32_t frame, List list, std::int32_t before) {
  at(frame).list = list;
  at(frame).before = at(before).before;
  at(frame).after = before;
  at(at(before).before).after = frame;
  at(before).before = frame;
}

std::int32_t FrameCache::first_unpinned(std::initializer_list<List> lists) const {
  for (const List list : lists)
    for (std::int32_t frame = at(end_of(list)).after; frame != end_of(list); frame = at(frame).after)
      if (at(frame).pins == 0) return frame;
  return kNone;
}

std::int32_t FrameCache::take(Index column, bool keep) {
  const std::int32_t frame =
      keep ? first_unpinned({kEmpty, kPassed, kKept, kRing}) : first_unpinned({kEmpty, kRing});
  if (frame == kNone) return kNone;
  Frame& taken = at(frame);
  if (taken.column != kNone) frame_of_[static_cast<std::size_t>(taken.column)] = kNone;
  unlink(frame);
  append(frame, taken.list == kRing ? kRing : keep ? kKept : kPassed);
  taken.column = column;
  taken.pins = 1;
  frame_of_[static_cast<std::size_t>(column)] = frame;
  return frame;
}

// A frame of the ring changes places with one that a short list would have got.
void FrameCache::keep(std::int32_t frame) {
  if (at(frame).list == kRing) {
    const std::int32_t other = first_unpinned({kEmpty, kPassed, kKept});
    if (other == kNone) return;
    unlink(other);
    link(other, kRing, at(end_of(kRing)).after);
  }
  unlink(frame);
  append(frame, kKept);
}

}  // namespace tyto
