package io.fibry.net;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * One of the exchanges that a server may have at work. While it waits for its client it is not at
 * work: else slow clients would keep out the others. Belongs to the thread of its exchange; the
 * count is shared.
 */
final class ExchangePermit {
  // may be above the most for a moment: who comes back from its client is not sent away
  private final AtomicInteger atWork;
  private boolean held = true;

  private ExchangePermit(AtomicInteger atWork) {
    this.atWork = atWork;
  }

  /** Null: too many are at work. */
  static ExchangePermit of(AtomicInteger atWork, int most) {
    // one that is refused must not count, not even for a moment: it would have others refused
    for (int now = atWork.get(); now < most; now = atWork.get())
      if (atWork.compareAndSet(now, now + 1)) return new ExchangePermit(atWork);
    return null;
  }

  /** It begins to wait for its client. */
  void away() {
    if (held) atWork.decrementAndGet();
  }

  void back() {
    if (held) atWork.incrementAndGet();
  }

  /** It is over, or waits for its client from now on. */
  void leave() {
    if (held) atWork.decrementAndGet();
    held = false;
  }
}
