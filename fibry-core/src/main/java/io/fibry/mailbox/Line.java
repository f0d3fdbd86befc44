package io.fibry.mailbox;

import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Blocked senders, first come first served. Guarded by its queue, but for the look whether somebody
 * stands there.
 */
final class Line<E> {
  private final ArrayDeque<Place<E>> places = new ArrayDeque<>(1); // most queues never have a line
  private volatile boolean empty = true; // written under the monitor; read by senders too

  boolean isEmpty() {
    return empty;
  }

  /** For its sender. */
  void add(Place<E> place) {
    place.sender = Thread.currentThread();
    place.goTo(Place.LINE);
    places.add(place);
    empty = false;
  }

  Place<E> first() {
    return places.getFirst();
  }

  void remove(Place<E> place) {
    places.remove(place);
    empty = places.isEmpty();
  }

  /** All who stood there. */
  List<Place<E>> clear() {
    var all = List.copyOf(places);
    places.clear();
    empty = true;
    return all;
  }

  /** Lets them look whether they wait for somebody who waits for them. */
  void alert() {
    for (var place : places) LockSupport.unpark(place.sender);
  }

  /**
   * The fence: unpark only looks, where it finds a permit that an earlier one left. The sender
   * takes that, and must then see where its place stands now.
   */
  static void wake(Place<?> place) {
    VarHandle.fullFence();
    LockSupport.unpark(place.sender);
    place.sender = null; // the inbox keeps its newest place
  }
}
