package io.fibry.flow;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.NoSuchElementException;

/**
 * The reader's side of an iteration. It knows the {@link ReadAheadBuffer}, and so the producers; none
 * of them knows it: forgotten, it is garbage, and the cleaner ends them.
 *
 * <p>It takes several elements at once, a quarter of what the producers may be ahead, so that the
 * lock costs little; they count as not read until the last of them is.
 */
final class ReadAheadIteration<T> implements Generator.Iteration<T> {
  // a daemon thread, started at the first generator that is read
  private static final Cleaner CLEANER = Cleaner.create();
  private static final int MOST = 64;

  private final ReadAheadBuffer<T> buffer;
  private final Cleaner.Cleanable forgotten;
  private final Object[] hand; // the reader's, as the next two
  private int at; // the next one in hand
  private int end; // behind the last one in hand

  ReadAheadIteration(ReadAheadBuffer<T> buffer) {
    this.buffer = buffer;
    this.hand = new Object[Math.clamp(buffer.ahead / 4, 1, MOST)];
    this.forgotten = CLEANER.register(this, buffer::end);
  }

  @Override
  public boolean hasNext() {
    try {
      buffer.refuseIfClosed();
      if (at < end) return true;
      at = 0;
      end = 0; // what `take` throws leaves nothing in hand
      end = buffer.take(hand);
      if (end == 0) forgotten.clean();
      return end > 0;
    } finally {
      Reference.reachabilityFence(this); // while its reader waits in the buffer it is not forgotten
    }
  }

  @Override
  @SuppressWarnings("unchecked") // the buffer puts nothing else in
  public T next() {
    if (!hasNext()) throw new NoSuchElementException("the producers have no more; ask hasNext() first");
    var element = (T) hand[at];
    hand[at++] = null;
    if (at == end) buffer.allRead();
    return element;
  }

  @Override
  public void close() {
    buffer.close();
    forgotten.clean();
    buffer.awaitEnd();
  }
}
