package io.fibry.store.folder;

import java.util.Arrays;

/**
 * The positions of actors that have several, in chains: each position is linked to the one before.
 * A link is the index of a position. The pages are never copied when this grows. Guarded by the
 * monitor of its stripe.
 */
final class PositionChains {
  private static final int PAGE_BITS = 8;
  private static final int PAGE_SIZE = 1 << PAGE_BITS;

  private long[][] positions = {};
  private int[][] previous = {}; // the link before each link, or the next free link behind a free link
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

  /** Returns the positions of a chain, the first one first. */
  long[] read(int link, int count) {
    var chain = new long[count];
    int currentLink = link;
    for (int i = count - 1; i >= 0; i--) {
      chain[i] = positionAt(currentLink);
      currentLink = previousLink(currentLink);
    }
    return chain;
  }

  /** Replaces all positions by their new ones, also in free links, where it has no effect. */
  void move(Relocations relocations) {
    for (var page : positions) for (int i = 0; i < PAGE_SIZE; i++) page[i] = relocations.newPosition(page[i]);
  }

  /** Returns whether a chain contains a position. */
  boolean contains(int link, int count, long position) {
    int currentLink = link;
    for (int i = 0; i < count; i++) {
      if (positionAt(currentLink) == position) return true;
      currentLink = previousLink(currentLink);
    }
    return false;
  }

  /** Removes a chain: its links become free. */
  void remove(int link, int count) {
    setPreviousLink(firstLink(link, count), firstFreeLink);
    firstFreeLink = link;
  }

  private int firstLink(int link, int count) {
    int first = link;
    for (int i = 1; i < count; i++) first = previousLink(first);
    return first;
  }

  /** Returns the position that was added to the chain first. */
  long firstPosition(int link, int count) {
    return positionAt(firstLink(link, count));
  }
}
