package io.fibry.engine.timer;

/** A list of nodes in the order in which they were added; used by the timer thread only. */
final class TimerList {
  TimerNode first; // null if the list is empty
  private TimerNode last;
  int size;
  long earliest; // the smallest due time of all nodes; undefined if the list is empty

  void add(TimerNode node) {
    if (first == null) first = node;
    else last.nextInQueue = node;
    last = node;
    if (size++ == 0 || node.dueAt - earliest < 0) earliest = node.dueAt;
  }

  /** Removes the first node. Leaves `earliest` as it is. */
  void removeFirst() {
    var node = first;
    first = node.nextInQueue;
    node.nextInQueue = null;
    size--;
  }

  /** Removes all nodes, which stay linked, and returns the first. */
  TimerNode removeAll() {
    var node = first;
    first = null;
    size = 0;
    return node;
  }
}
