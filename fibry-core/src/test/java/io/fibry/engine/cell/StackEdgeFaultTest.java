package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertNull;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Promise;
import io.fibry.SilencedStdErr;
import io.fibry.Strategy;
import io.fibry.StressHarness;
import io.fibry.StressWaits;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests stack overflows inside sends. A sender recurses until its stack is full, and from a certain
 * depth on sends a message at every depth. Wherever the overflow occurs, the receiver must still
 * work afterwards. It must handle each accepted message exactly once, unless it runs on the
 * sender's stack.
 */
@ExtendWith(SilencedStdErr.class)
class StackEdgeFaultTest {
  private static final int MAX_DEPTH = 60_000;
  private static final Integer[] NUMBERS = Stream.iterate(0, i -> i + 1).limit(MAX_DEPTH).toArray(Integer[]::new);
  private static final Integer PROBE_NUMBER = -1;
  private static final int EPISODES_WITH_LATER_SEND = Soak.ON ? 2_000 : 8;
  // 15, because with a stack probe of half the size, 8 episodes did not always fail
  private static final int EPISODES_WITHOUT_LATER_SEND = Soak.ON ? 2_000 : 15;

  enum SendMethod { MESSAGE, FUTURE, ASK }

  /** An executor without locks, because a stack overflow may break the JDK's executors. */
  private static final class Worker implements Runnable, AutoCloseable {
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Thread thread = Thread.ofPlatform().daemon().start(this);
    private volatile boolean closed;

    void add(Runnable task) {
      tasks.offer(task);
      LockSupport.unpark(thread);
    }

    @Override
    public void run() {
      while (!closed) {
        var task = tasks.poll();
        if (task == null) LockSupport.parkNanos(10_000_000);
        else task.run();
      }
    }

    @Override
    public void close() {
      closed = true;
      LockSupport.unpark(thread);
    }
  }

  /** One receiver, and one sender whose stack overflows. */
  private static final class Episode implements Runnable {
    private final AtomicIntegerArray handled = new AtomicIntegerArray(MAX_DEPTH);
    private final boolean[] accepted = new boolean[MAX_DEPTH];
    private final List<CompletableFuture<Integer>> futures = new ArrayList<>(MAX_DEPTH);
    private final ActorWithReturn<Integer, Integer> receiver;
    private final SendMethod method;
    private final int firstDepth; // the depth of the first send
    // if true, the receiver runs on the sender's stack, so its handler may overflow, too
    private final boolean nested;
    private int depth;

    Episode(Strategy strategy, Mailbox<? super Integer> mailbox, SendMethod method, int firstDepth) {
      this.method = method;
      this.firstDepth = firstDepth;
      this.nested = strategy == Strategy.CALLER;
      this.receiver = Scopes.root("edge", ActorScope.Options.defaults()).anonymous().strategy(strategy)
          .onFailure(FailurePolicy.resume().withoutLog()).mailbox(mailbox).newActorWithReturn((Integer number) -> {
            if (number >= 0) handled.incrementAndGet(number);
            return number;
          });
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

    private void send(int level) {
      switch (method) {
        case MESSAGE -> accepted[level] = receiver.sendMessage(NUMBERS[level]);
        case FUTURE -> {
          var future = receiver.sendMessageReturn(NUMBERS[level]);
          accepted[level] = true;
          futures.add(future);
        }
        case ASK -> accepted[level] = receiver.ask(NUMBERS[level]) != null;
      }
    }

    boolean handledAllAccepted() {
      for (int i = 0; i <= depth; i++) if (accepted[i] && handled.get(i) != 1 && !nested) return false;
      return true;
    }

    /** Returns the first violation, or null. */
    String findViolation() throws Exception {
      var cell = (Cell) (Exitable) receiver;
      StressWaits.runWithState(() -> Patience.value(receiver.sendMessageReturn(PROBE_NUMBER)),
          () -> "the receiver is dead: phase " + ActorInternals.phase(cell) + ", drained by " + cell.drain()
              + ", stranded "
              + ActorInternals.strandedNode(cell) + ", the max depth was " + depth);
      for (int i = 0; i <= depth; i++) {
        if (handled.get(i) > 1) return i + " was handled " + handled.get(i) + " times, the max depth was " + depth;
        if (accepted[i] && handled.get(i) != 1 && !nested)
          return i + " was accepted and not handled, the max depth was " + depth;
      }
      for (var future : futures) if (!future.isDone()) return "a request is incomplete, the max depth was " + depth;
      return null;
    }
  }

  static Stream<Object[]> cases() {
    List<Mailbox<? super Integer>> mailboxes = List.of(Mailbox.unbounded(), Mailbox.bounded(MAX_DEPTH, Overflow.BLOCK),
        Mailbox.priority((Integer a, Integer b) -> 0));
    return Stream.of("FIBER", "THREAD", "CALLER", "of(executor)").flatMap(strategy -> mailboxes.stream()
        .flatMap(mailbox -> Stream.of(SendMethod.values()).map(method -> new Object[] {strategy, mailbox, method})));
  }

  private static Strategy strategy(String name, Worker worker) {
    return switch (name) {
      case "FIBER" -> Strategy.FIBER;
      case "THREAD" -> Strategy.THREAD;
      case "CALLER" -> Strategy.CALLER;
      default -> Strategy.of(worker::add);
    };
  }

  @Promise("8.5")
  @ParameterizedTest
  @MethodSource("cases")
  void receiverHandlesNextMessageAfterOverflowInsideSend(String strategy, Mailbox<? super Integer> mailbox,
      SendMethod method)
      throws Exception {
    try (var worker = new Worker()) {
      int[] overflowDepths = new int[2];
      for (int i = 0; i < EPISODES_WITH_LATER_SEND; i++) {
        int stackKind = i % 4 == 3 ? 1 : 0; // 1: the sender has the stack of a virtual thread
        var episode = new Episode(strategy(strategy, worker), mailbox, method,
            overflowDepths[stackKind] == 0 ? MAX_DEPTH : Math.max(0, overflowDepths[stackKind] - 100 - 40 * (i % 20)));
        var sender =
            stackKind == 1 ? Thread.ofVirtual().unstarted(episode) : new Thread(null, episode, "sender", 200_000);
        sender.start();
        sender.join();
        overflowDepths[stackKind] = episode.depth;

        assertNull(episode.findViolation(), "episode " + i);
        episode.receiver.askExit();
        Patience.awaitEnd(episode.receiver::waitForExit);
      }
    }
  }

  /**
   * Sends no message after the overflow, so the receiver must handle the accepted messages without
   * the help of another send.
   */
  @Promise("3.1")
  @ParameterizedTest
  @MethodSource("cases")
  void acceptedMessagesAreHandledAfterOverflow(String strategy, Mailbox<? super Integer> mailbox, SendMethod method)
      throws Exception {
    try (var worker = new Worker()) {
      long seed = StressHarness.seed();
      System.out.println("overflows of sends: -Dfibry.seed=" + seed);
      var random = new SplittableRandom(seed);
      int maxDepth = MAX_DEPTH;
      for (int i = 0; i < EPISODES_WITHOUT_LATER_SEND; i++) {
        var episode =
            new Episode(strategy(strategy, worker), mailbox, method, Math.max(0, maxDepth - 1 - random.nextInt(1_000)));
        var sender = new Thread(null, episode, "sender", 200_000);
        sender.start();
        sender.join();
        maxDepth = episode.depth;

        Patience.eventually(episode::handledAllAccepted);
      }
    }
  }

  @Test
  void systemTimerSendsItsMessage() throws Exception {
    var timerFired = new CountDownLatch(1);

    ActorSystem.anonymous().newActor((Integer i) -> timerFired.countDown()).sendMessageLater(1, Duration.ofMillis(1));

    Patience.await(timerFired);
  }
}
