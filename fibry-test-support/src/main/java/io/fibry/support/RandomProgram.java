package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * The messages of a random program, which its seed decides. Each message must be handled once, in
 * the order of its sender, and a receiver must handle one message at a time. A failure contains the
 * seed. Thread-safe.
 */
public final class RandomProgram {
  private final long seed;
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong handled = new AtomicLong();
  private final AtomicLong disorders = new AtomicLong();
  private final AtomicLong overlaps = new AtomicLong();

  private RandomProgram(long seed) {
    this.seed = seed;
  }

  /** Runs programs, the first with the seed {@code -Dfibry.seed} or a new seed, which it prints. */
  public static void runAll(int count, Consumer<RandomProgram> code) {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("fibry.seed=" + seed);
    for (int i = 0; i < count; i++) code.accept(new RandomProgram(seed + i));
  }

  public long seed() {
    return seed;
  }

  /** Counts messages, or other work whose end the program must await. Called before the work. */
  public void countSent(int count) {
    sent.addAndGet(count);
  }

  public void countHandled() {
    handled.incrementAndGet();
  }

  /** Returns a receiver of messages. Senders have the numbers from 0 to {@code senders - 1}. */
  public Receiver newReceiver(int senders) {
    return new Receiver(senders);
  }

  /** Waits until each message was handled, and checks their order. */
  public void awaitMessages() {
    Patience.progress("messages were lost, fibry.seed=" + seed, handled::get, () -> handled.get() == sent.get());
    assertEquals(0, disorders.get(), () -> "wrong order, fibry.seed=" + seed);
    assertEquals(0, overlaps.get(), () -> "two messages at a time, fibry.seed=" + seed);
  }

  /** Checks the messages of one actor, whose handler calls both methods. */
  public final class Receiver {
    private final long[] lastNumbers; // by sender
    private boolean isBusy; // no lock: the engine must order the handler's reads and writes

    private Receiver(int senders) {
      this.lastNumbers = new long[senders];
    }

    /** Begins a message. A sender gives growing numbers to its messages for this receiver. */
    public void begin(int sender, long number) {
      if (isBusy) overlaps.incrementAndGet();
      isBusy = true;
      if (number <= lastNumbers[sender]) disorders.incrementAndGet();
      lastNumbers[sender] = number;
    }

    public void end() {
      isBusy = false;
      countHandled();
    }
  }
}
