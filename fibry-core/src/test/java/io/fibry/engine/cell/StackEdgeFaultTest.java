package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.DeadLetter;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.SilencedStdErr;
import io.fibry.testing.StressRuns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests stack overflows inside sends. A sender recurses and sends at every depth until its stack is
 * full. The receiver must handle all messages, wherever the overflow occurs.
 */
@ExtendWith(SilencedStdErr.class)
class StackEdgeFaultTest {
  private static final int MAX_DEPTH = 60_000;
  private static final Integer[] NUMBERS = Stream.iterate(0, i -> i + 1).limit(MAX_DEPTH).toArray(Integer[]::new);
  private static final Integer PROBE_NUMBER = -1;
  private static final int EPISODES_WITH_NEXT_SEND = Soak.ON ? 2_000 : 8;
  // with only 8 episodes, the test may miss the error that a stack probe of half the size causes
  private static final int EPISODES_WITHOUT_NEXT_SEND = Soak.ON ? 2_000 : 15;

  private static final Duration TIMER_DELAY = Duration.ofMillis(1);

  enum Verb { MESSAGE, FUTURE, ASK, TIMER }

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
    private final ActorScope scope = Scopes.root("edge", ActorScope.Options.defaults());
    private final List<CompletableFuture<Integer>> futures = new ArrayList<>(MAX_DEPTH);
    private final ActorWithReturn<Integer, Integer> receiver;
    private final Verb verb;
    private final int firstDepth; // the depth of the first send
    // if true, the receiver runs on the sender's stack, and may fail at an accepted message
    private final boolean mayFail;
    private int depth;

    Episode(Strategy strategy, Mailbox<? super Integer> mailbox, Verb verb, int firstDepth) {
      this.verb = verb;
      this.firstDepth = firstDepth;
      this.mayFail = strategy == Strategy.CALLER && verb != Verb.ASK; // a failed ask returns no answer
      this.receiver = scope.anonymous().strategy(strategy).onFailure(FailurePolicy.resume().withoutLog())
          .mailbox(mailbox).newActorWithReturn((Integer number) -> {
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

    int acceptedCount() {
      return (int) IntStream.rangeClosed(0, depth).filter(i -> accepted[i]).count();
    }

    boolean hasOverflowed() {
      return depth < MAX_DEPTH - 1;
    }

    /** Returns whether all accepted messages were handled, or failed if they may fail. */
    boolean handledAllAccepted() {
      long unhandled = IntStream.rangeClosed(0, depth).filter(i -> accepted[i] && handled.get(i) != 1).count();
      return unhandled <= (mayFail ? scope.report().unhandled().getOrDefault(DeadLetter.Reason.FAILED, 0L) : 0);
    }

    /** Returns the first violation, or null. */
    String findViolation() throws Exception {
      var cell = (Cell) (Exitable) receiver;
      StressRuns.runWithState(() -> Patience.value(receiver.sendMessageReturn(PROBE_NUMBER)),
          () -> "the receiver is dead: phase " + ActorInternals.phase(cell) + ", drained by " + cell.drain()
              + ", stranded "
              + ActorInternals.strandedNode(cell) + ", the max depth was " + depth);
      for (int i = 0; i <= depth; i++) {
        if (handled.get(i) > 1) return i + " was handled " + handled.get(i) + " times, the max depth was " + depth;
        if (accepted[i] && handled.get(i) != 1 && !handledAllAccepted())
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
        .flatMap(mailbox -> Stream.of(Verb.MESSAGE, Verb.FUTURE, Verb.ASK)
            .map(verb -> new Object[] {strategy, mailbox, verb})));
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
  void receiverHandlesNextMessageAfterOverflowInsideSend(String strategy, Mailbox<? super Integer> mailbox, Verb verb)
      throws Exception {
    try (var worker = new Worker()) {
      int[] overflowDepths = new int[2];
      for (int i = 0; i < EPISODES_WITH_NEXT_SEND; i++) {
        int isVirtual = i % 4 == 3 ? 1 : 0;
        var episode = new Episode(strategy(strategy, worker), mailbox, verb,
            overflowDepths[isVirtual] == 0 ? MAX_DEPTH : Math.max(0, overflowDepths[isVirtual] - 100 - 40 * (i % 20)));
        var sender =
            isVirtual == 1 ? Thread.ofVirtual().unstarted(episode) : new Thread(null, episode, "sender", 200_000);
        sender.start();
        sender.join();
        overflowDepths[isVirtual] = episode.depth;

        assertTrue(isVirtual == 1 || episode.hasOverflowed()); // the stack of a fiber may be large enough
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
  void acceptedMessagesAreHandledAfterOverflow(String strategy, Mailbox<? super Integer> mailbox, Verb verb)
      throws Exception {
    try (var worker = new Worker()) {
      long seed = StressRuns.seed();
      System.out.println("overflows of sends: -Dfibry.seed=" + seed);
      var random = new SplittableRandom(seed);
      int maxDepth = MAX_DEPTH;
      for (int i = 0; i < EPISODES_WITHOUT_NEXT_SEND; i++) {
        var episode =
            new Episode(strategy(strategy, worker), mailbox, verb, Math.max(0, maxDepth - 1 - random.nextInt(1_000)));
        var sender = new Thread(null, episode, "sender", 200_000);
        sender.start();
        sender.join();
        maxDepth = episode.depth;

        assertTrue(episode.hasOverflowed());
        Patience.eventually(episode::handledAllAccepted);
      }
    }
  }

  /**
   * Sets timers until the stack overflows. All timers that were set must run, and timers that are
   * set afterwards, too.
   */
  @Test
  void systemTimersSetNearEndOfStackSendMessages() throws Exception {
    int maxDepth = MAX_DEPTH;
    int acceptedCount = 0;
    for (int i = 0; i < EPISODES_WITHOUT_NEXT_SEND; i++) {
      var episode = new Episode(Strategy.FIBER, Mailbox.unbounded(), Verb.TIMER, Math.max(0, maxDepth - 1 - 40 * i));
      var sender = new Thread(null, episode, "sender", 200_000);
      sender.start();
      sender.join();
      maxDepth = episode.depth;
      acceptedCount += episode.acceptedCount();

      assertTrue(episode.hasOverflowed());
      Patience.eventually(episode::handledAllAccepted);
    }
    assertTrue(acceptedCount > 0, "no timer was set before the overflow");
    var timerFired = new CountDownLatch(1);

    ActorSystem.anonymous().newActor((Integer i) -> timerFired.countDown()).sendMessageLater(1, TIMER_DELAY);

    Patience.await(timerFired);
  }
}
