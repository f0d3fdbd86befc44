package io.fibry.testing;

import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A sender whose stack overflows. It sends one number to one receiver, which may be a pool, at each
 * level of its stack below a first depth. Negative numbers are for probes of the test.
 */
public class OverflowingSender implements Runnable {
  public static final int MAX_DEPTH = 60_000;
  private static final Integer[] NUMBERS = Stream.iterate(0, i -> i + 1).limit(MAX_DEPTH).toArray(Integer[]::new);
  private static final int STACK_BYTES = 200_000;
  private static final Duration TIMER_DELAY = Duration.ofMillis(1);

  public enum Verb { MESSAGE, FUTURE, ASK, TIMER }

  public final ActorWithReturn<Integer, Integer> receiver;
  public final List<CompletableFuture<Integer>> futures = new ArrayList<>(MAX_DEPTH);
  private final AtomicIntegerArray handled = new AtomicIntegerArray(MAX_DEPTH);
  private final boolean[] accepted = new boolean[MAX_DEPTH];
  private final Verb verb;
  private final int firstDepth; // the depth of the first send
  private int depth;

  /** Creates a sender with a receiver that answers each number with itself. */
  public OverflowingSender(ActorBuilder<Integer> receivers, Verb verb, int firstDepth) {
    this.verb = verb;
    this.firstDepth = firstDepth;
    this.receiver = receivers.newActorWithReturn((Integer number) -> {
      if (number >= 0) handled.incrementAndGet(number);
      return number;
    });
  }

  /** Runs on a thread with a small stack, or on a fiber, and returns the depth that it reached. */
  public int play(boolean onFiber) throws InterruptedException {
    var sender = onFiber ? Thread.ofVirtual().unstarted(this) : smallStack(this);
    sender.start();
    sender.join();
    return depth;
  }

  /** Returns an unstarted thread whose stack is small. */
  public static Thread smallStack(Runnable code) {
    return new Thread(null, code, "overflowing", STACK_BYTES);
  }

  @Override
  public void run() {
    try {
      descend(0);
    } catch (StackOverflowError expected) {
      // the overflow is intended
    }
  }

  private void descend(int level) {
    depth = level;
    if (level >= firstDepth) send(level);
    if (level < MAX_DEPTH - 1) descend(level + 1);
  }

  /** Sends the number. */
  public void send(int level) {
    switch (verb) {
      case MESSAGE -> accepted[level] = receiver.sendMessage(NUMBERS[level]);
      case FUTURE -> {
        var future = receiver.sendMessageReturn(NUMBERS[level]);
        accepted[level] = true;
        futures.add(future);
      }
      case ASK -> accepted[level] = receiver.ask(NUMBERS[level]) != null;
      case TIMER -> {
        receiver.sendMessageLater(NUMBERS[level], TIMER_DELAY);
        accepted[level] = true;
      }
    }
  }

  public boolean hasOverflowed() {
    return depth < MAX_DEPTH - 1;
  }

  public int depth() {
    return depth;
  }

  public int handled(int number) {
    return handled.get(number);
  }

  public int acceptedCount() {
    return (int) levels().filter(i -> accepted[i]).count();
  }

  /** Returns how many accepted numbers were not handled exactly once. */
  public long unhandledCount() {
    return levels().filter(i -> accepted[i] && handled.get(i) != 1).count();
  }

  /**
   * Returns a text about a number that was handled twice, or that was accepted and not handled, or
   * null if there is none.
   */
  public String findWrongCount(boolean mayLackSome) {
    return levels().filter(i -> handled.get(i) > 1 || accepted[i] && handled.get(i) != 1 && !mayLackSome)
        .mapToObj(i -> i + (accepted[i] ? " was accepted and" : " was") + " handled " + handled.get(i)
            + " times, the max depth was " + depth)
        .findFirst().orElse(null);
  }

  private IntStream levels() {
    return IntStream.rangeClosed(0, depth);
  }
}
