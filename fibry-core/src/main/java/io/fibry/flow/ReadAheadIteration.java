package io.fibry.flow;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.NoSuchElementException;

/**
 * The reader's side of a {@link ReadAheadBuffer}. Neither buffer nor producers refer to it: when it
 * is garbage, the cleaner ends the producers.
 *
 * <p>It takes up to a quarter of {@code ahead} at once, to spare the lock. These count as unread
 * until the last of them is read.
 */
final class ReadAheadIteration<T> implements Generator.Iteration<T> {
  private static final Cleaner CLEANER = Cleaner.create();
  private static final int MOST = 64;

  private final ReadAheadBuffer<T> buffer;
  private final Cleaner.Cleanable producers;
  private final Object[] hand; // of the reader, as the next two
  private int next;
  private int end;

  ReadAheadIteration(ReadAheadBuffer<T> buffer) {
    this.buffer = buffer;
    this.hand = new Object[Math.clamp(buffer.ahead / 4, 1, MOST)];
    this.producers = CLEANER.register(this, buffer::end);
  }

  @Override
  public boolean hasNext() {
    try {
      buffer.refuseIfClosed();
      if (next < end) return true;
      next = 0;
      end = 0; // `take` may throw
      end = buffer.take(hand);
      if (end == 0) producers.clean();
      return end > 0;
    } finally {
      Reference.reachabilityFence(this); // not garbage while it waits
    }
  }

  @Override
  @SuppressWarnings("unchecked")
  public T next() {
    if (!hasNext()) throw new NoSuchElementException("the producers have no more; ask hasNext() first");
    var element = (T) hand[next];
    hand[next++] = null;
    if (next == end) buffer.allRead();
    return element;
  }

  @Override
  public void close() {
    buffer.close();
    producers.clean();
    buffer.awaitEnd();
  }
}
