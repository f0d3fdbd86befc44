package io.fibry.store.folder;

import java.util.Arrays;

/**
 * Places of actors that have several, each one linked to the one before. It grows by pages, so that
 * growth copies none. Under its stripe's monitor.
 */
final class PlaceLists {
  private static final int PAGE = 8; // bits
  private static final int SIZE = 1 << PAGE;

  private long[][] places = {};
  private int[][] before = {}; // the link before each link; for a free link, the next free one
  private int size; // so far used
  private int free = -1; // the first one

  /** The link to it. */
  int add(long place, int link) {
    int at = free;
    if (at >= 0) free = before(at);
    else {
      if (size == before.length << PAGE) grow();
      at = size++;
    }
    places[at >>> PAGE][at & SIZE - 1] = place;
    link(at, link);
    return at;
  }

  private void grow() {
    int pages = before.length;
    var morePlaces = Arrays.copyOf(places, pages + 1);
    var moreBefore = Arrays.copyOf(before, pages + 1);
    morePlaces[pages] = new long[SIZE];
    moreBefore[pages] = new int[SIZE];
    places = morePlaces;
    before = moreBefore;
  }

  private int before(int at) {
    return before[at >>> PAGE][at & SIZE - 1];
  }

  private void link(int at, int to) {
    before[at >>> PAGE][at & SIZE - 1] = to;
  }

  long place(int at) {
    return places[at >>> PAGE][at & SIZE - 1];
  }

  long[] read(int link, int count) {
    var all = new long[count];
    int at = link;
    for (int i = count - 1; i >= 0; i--) {
      all[i] = place(at);
      at = before(at);
    }
    return all;
  }

  /** Moves all links, and the remains in free ones. */
  void move(Relocations moves) {
    for (var page : places) for (int i = 0; i < SIZE; i++) page[i] = moves.of(page[i]);
  }

  boolean has(int link, int count, long place) {
    int at = link;
    for (int i = 0; i < count; i++) {
      if (place(at) == place) return true;
      at = before(at);
    }
    return false;
  }

  void remove(int link, int count) {
    link(firstLink(link, count), free);
    free = link;
  }

  private int firstLink(int link, int count) {
    int first = link;
    for (int i = 1; i < count; i++) first = before(first);
    return first;
  }

  /** Returns the place that was added first. */
  long first(int link, int count) {
    return place(firstLink(link, count));
  }
}
