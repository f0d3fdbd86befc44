package io.fibry.mailbox;

import io.fibry.mailbox.Place.Where;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The way into a queue that keeps its places in the order in which they come: senders enter without its monitor, whoever holds the monitor takes them over.
 *
 * <p>One compare-and-set of {@link #newest} does it all: each place knows its number, so the newest knows how many ever came, and less those that have left, that is how many are there. It links to the one that came
 * before it, up to the one that was taken over last. A place is used once and the newest one stays, so what is found unchanged was unchanged all the time.
 */
final class Inbox<E> {
  private static final VarHandle NEWEST;

  static {
    try {
      NEWEST = MethodHandles.lookup().findVarHandle(Inbox.class, "newest", Place.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final int capacity;
  private volatile Place<E> newest; // null: none came yet
  private Place<E> known; // the newest that was taken over; guarded by the queue
  private volatile long left; // how many of those that came are gone; written under the monitor

  Inbox(int capacity) {
    this.capacity = capacity;
  }

  /** Lets a block in, if there is room for all of it. */
  boolean enter(Place<E> block) {
    while (true) {
      var before = newest;
      long number = before == null ? 0 : before.number;
      if (number + block.size - left > capacity) return false;
      var last = before;
      for (var place = block; place != null; place = place.next) {
        place.older = last;
        place.number = ++number;
        last = place;
      }
      if (NEWEST.compareAndSet(this, before, last)) return true;
    }
  }

  /** Whether something was not taken over yet. */
  boolean hasNew() {
    return newest != known;
  }

  /** Takes over what came, to the end of the chain; answers how many. It calls nothing, so that no StackOverflowError of whoever only looks at a queue leaves it half done. */
  int moveTo(Chain<E> chain) {
    int moved = 0;
    var last = newest;
    var first = (Place<E>) null;
    for (var place = last; place != known; moved++) {
      var older = place.older;
      place.older = null;
      place.counted = true;
      if (place.where != Where.QUEUE) place.where = Where.QUEUE;
      place.after = first;
      if (first != null) first.before = place;
      first = place;
      place = older;
    }
    if (moved == 0) return 0;
    first.before = chain.tail;
    if (chain.tail == null) chain.head = first;
    else chain.tail.after = first;
    chain.tail = last;
    known = last;
    return moved;
  }

  /** One that came is gone. */
  void leaves() {
    left++;
  }

  /** How many are there. */
  int count() {
    var last = newest;
    return last == null ? 0 : (int) (last.number - left);
  }
}
