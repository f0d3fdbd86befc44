package io.fibry.net;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets an exchange be at work. One that waits for its client is not at work, or slow clients would
 * keep out others. Belongs to the thread of its exchange.
 */
final class ExchangePermit {
  // shared; above the limit after a resume, which is never refused
  private final AtomicInteger atWork;
  private boolean held = true;

  private ExchangePermit(AtomicInteger atWork) {
    this.atWork = atWork;
  }

  /** Null: {@code limit} exchanges are at work. */
  static ExchangePermit of(AtomicInteger atWork, int limit) {
    // not an increment that is taken back, and has others refused meanwhile
    for (int now = atWork.get(); now < limit; now = atWork.get())
      if (atWork.compareAndSet(now, now + 1)) return new ExchangePermit(atWork);
    return null;
  }

  /** The exchange waits for its client. */
  void suspend() {
    if (held) atWork.decrementAndGet();
  }

  void resume() {
    if (held) atWork.incrementAndGet();
  }

  /** The exchange is not at work any more. */
  void leave() {
    if (held) atWork.decrementAndGet();
    held = false;
  }
}
