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
  private int[][] previous = {}; // the link before each link; for a free link, the next free one
  private int size; // so far used
  private int firstFree = -1; // the first one

  /** The link to it. */
  int add(long place, int link) {
    int at = firstFree;
    if (at >= 0) firstFree = previousLink(at);
    else {
      if (size == previous.length << PAGE) grow();
      at = size++;
    }
    places[at >>> PAGE][at & SIZE - 1] = place;
    link(at, link);
    return at;
  }

  private void grow() {
    int pages = previous.length;
    var morePlaces = Arrays.copyOf(places, pages + 1);
    var moreBefore = Arrays.copyOf(previous, pages + 1);
    morePlaces[pages] = new long[SIZE];
    moreBefore[pages] = new int[SIZE];
    places = morePlaces;
    previous = moreBefore;
  }

  private int previousLink(int at) {
    return previous[at >>> PAGE][at & SIZE - 1];
  }

  private void link(int at, int to) {
    previous[at >>> PAGE][at & SIZE - 1] = to;
  }

  long place(int at) {
    return places[at >>> PAGE][at & SIZE - 1];
  }

  long[] read(int link, int count) {
    var all = new long[count];
    int at = link;
    for (int i = count - 1; i >= 0; i--) {
      all[i] = place(at);
      at = previousLink(at);
    }
    return all;
  }

  /** Moves all links, and the remains in free ones. */
  void move(Relocations relocations) {
    for (var page : places) for (int i = 0; i < SIZE; i++) page[i] = relocations.newPlace(page[i]);
  }

  boolean has(int link, int count, long place) {
    int at = link;
    for (int i = 0; i < count; i++) {
      if (place(at) == place) return true;
      at = previousLink(at);
    }
    return false;
  }

  void remove(int link, int count) {
    link(firstLink(link, count), firstFree);
    firstFree = link;
  }

  private int firstLink(int link, int count) {
    int first = link;
    for (int i = 1; i < count; i++) first = previousLink(first);
    return first;
  }

  /** Returns the place that was added first. */
  long first(int link, int count) {
    return place(firstLink(link, count));
  }
}
