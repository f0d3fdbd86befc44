package io.fibry.engine.timer;

/** A list of nodes in the order in which they were added; used by the timer thread only. */
final class TimerList {
  TimerNode first; // null if the list is empty
  private TimerNode last; // null if the list is empty, because a fired timer must become garbage
  int size;
  long earliest; // the smallest due time of all nodes since the list was empty; undefined if it is

  void add(TimerNode node) {
    if (first == null) first = node;
    else last.nextInQueue = node;
    last = node;
    if (size++ == 0 || node.dueAt - earliest < 0) earliest = node.dueAt;
  }

  /** Removes the first node, and returns it. Leaves `earliest` as it is. */
  TimerNode removeFirst() {
    var node = first;
    first = node.nextInQueue;
    if (first == null) last = null;
    node.nextInQueue = null;
    size--;
    return node;
  }

  /** Moves all nodes of the other list to this list, which must be empty. */
  void takeAllOf(TimerList other) {
    first = other.first;
    last = other.last;
    size = other.size;
    earliest = other.earliest;
    other.first = other.last = null;
    other.size = 0;
  }
}
