package io.fibry.mailbox;

/** Places one behind the other, of which any can leave. Guarded by its queue. */
final class Chain<E> {
  Place<E> head; // null: empty
  Place<E> tail;

  boolean has(Place<E> place) {
    return place.before != null || place.after != null || head == place;
  }

  void add(Place<E> place) {
    place.before = tail;
    if (tail == null) head = place;
    else tail.after = place;
    tail = place;
  }

  void addFirst(Place<E> place) {
    place.after = head;
    if (head == null) tail = place;
    else head.before = place;
    head = place;
  }

  /** Before one that is in it. */
  void addBefore(Place<E> place, Place<E> next) {
    if (next == head) {
      addFirst(place);
      return;
    }
    place.before = next.before;
    place.after = next;
    next.before.after = place;
    next.before = place;
  }

  void remove(Place<E> place) {
    if (place.before == null) head = place.after;
    else place.before.after = place.after;
    if (place.after == null) tail = place.before;
    else place.after.before = place.before;
    place.before = null;
    place.after = null;
  }
}
