package io.fibry.net;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.NoSuchElementException;

/** One iteration over what a client sends. Belongs to the reader's thread. */
final class ClientReader<T> implements Iterator<T> {

  /** Where they come from. */
  interface Source<T> {
    /** Waits for the next one; null at the end. */
    T next() throws IOException;
  }

  private final Source<T> source;
  private T next; // null: not looked yet
  private boolean ended;

  ClientReader(Source<T> source) {
    this.source = source;
  }

  @Override
  public boolean hasNext() {
    if (next != null) return true;
    if (ended) return false;
    try {
      next = source.next();
    } catch (IOException failure) {
      ended = true;
      throw new UncheckedIOException(failure.getMessage(), failure);
    }
    ended = next == null;
    return !ended;
  }

  @Override
  public T next() {
    if (!hasNext()) throw new NoSuchElementException("the client has sent all; ask hasNext() before");
    var one = next;
    next = null;
    return one;
  }
}
