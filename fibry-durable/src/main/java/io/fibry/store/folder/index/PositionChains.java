package io.fibry.store.folder.index;

import java.util.Arrays;

/**
 * The positions of records, for the actors that have several. The positions of an actor form a
 * chain, in which each position has a link to the previous position. A link is the index of a
 * position. Growth adds a page of positions, and copies no page. Guarded by the monitor of the
 * {@link IndexStripe}.
 */
final class PositionChains {
  private static final int PAGE_BITS = 8;
  private static final int PAGE_SIZE = 1 << PAGE_BITS;

  private long[][] positions = {};
  private int[][] previous = {}; // by link: the previous link of its chain, or the next free link if the link is free
  private int size; // links that were ever in use
  private int firstFreeLink = -1; // -1 if there is none

  /**
   * Adds a position to a chain, and returns its link.
   *
   * @param previousLink the last link of the chain, or -1 to begin a chain
   */
  int add(long position, int previousLink) {
    int newLink = firstFreeLink;
    if (newLink >= 0) firstFreeLink = previousLink(newLink);
    else {
      if (size == previous.length << PAGE_BITS) grow();
      newLink = size++;
    }
    positions[newLink >>> PAGE_BITS][newLink & PAGE_SIZE - 1] = position;
    setPreviousLink(newLink, previousLink);
    return newLink;
  }

  private void grow() {
    int pageCount = previous.length;
    var newPositions = Arrays.copyOf(positions, pageCount + 1);
    var newPrevious = Arrays.copyOf(previous, pageCount + 1);
    newPositions[pageCount] = new long[PAGE_SIZE];
    newPrevious[pageCount] = new int[PAGE_SIZE];
    positions = newPositions;
    previous = newPrevious;
  }

  private int previousLink(int link) {
    return previous[link >>> PAGE_BITS][link & PAGE_SIZE - 1];
  }

  private void setPreviousLink(int link, int previousLink) {
    previous[link >>> PAGE_BITS][link & PAGE_SIZE - 1] = previousLink;
  }

  long positionAt(int link) {
    return positions[link >>> PAGE_BITS][link & PAGE_SIZE - 1];
  }

  /** Returns the positions of a chain, in the order in which they were added. */
  long[] read(int lastLink, int count) {
    var chain = new long[count];
    int currentLink = lastLink;
    for (int i = count - 1; i >= 0; i--) {
      chain[i] = positionAt(currentLink);
      currentLink = previousLink(currentLink);
    }
    return chain;
  }

  /**
   * Replaces the positions of records that were moved. The positions of free links do not matter.
   */
  void move(Relocations relocations) {
    for (var page : positions) for (int i = 0; i < PAGE_SIZE; i++) page[i] = relocations.newPosition(page[i]);
  }

  /** Returns whether a chain contains a position. */
  boolean contains(int lastLink, int count, long position) {
    int currentLink = lastLink;
    for (int i = 0; i < count; i++) {
      if (positionAt(currentLink) == position) return true;
      currentLink = previousLink(currentLink);
    }
    return false;
  }

  /** Removes a chain: its links become free. */
  void remove(int lastLink, int count) {
    setPreviousLink(firstLink(lastLink, count), firstFreeLink);
    firstFreeLink = lastLink;
  }

  private int firstLink(int lastLink, int count) {
    int link = lastLink;
    for (int i = 1; i < count; i++) link = previousLink(link);
    return link;
  }

  /** Returns the position that was added to the chain first. */
  long firstPosition(int lastLink, int count) {
    return positionAt(firstLink(lastLink, count));
  }
}
