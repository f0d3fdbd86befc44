package io.fibry.engine.cell;

import static io.fibry.testing.OverflowingSender.MAX_DEPTH;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.OverflowingSender;
import io.fibry.testing.OverflowingSender.Verb;
import io.fibry.testing.Promise;
import io.fibry.testing.SilencedStdErr;
import io.fibry.testing.StressRuns;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
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
  private static final Integer PROBE_NUMBER = -1;
  private static final int EPISODES_WITH_NEXT_SEND = Soak.ON ? 2_000 : 8;
  // with only 8 episodes, the test may miss the error that a stack probe of half the size causes
  private static final int EPISODES_WITHOUT_NEXT_SEND = Soak.ON ? 2_000 : 15;

  private static final Duration TIMER_DELAY = Duration.ofMillis(1);

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
  private static final class Episode extends OverflowingSender {
    private final ActorScope scope;
    // if true, the receiver runs on the sender's stack, and may fail at an accepted message
    private final boolean mayFail;

    Episode(Strategy strategy, Mailbox<? super Integer> mailbox, Verb verb, int firstDepth) {
      this(Scopes.root("edge", ActorScope.Options.defaults()), strategy, mailbox, verb, firstDepth);
    }

    private Episode(ActorScope scope, Strategy strategy, Mailbox<? super Integer> mailbox, Verb verb, int firstDepth) {
      super(scope.anonymous().strategy(strategy).onFailure(FailurePolicy.resume().withoutLog()).mailbox(mailbox), verb,
          firstDepth);
      this.scope = scope;
      this.mayFail = strategy == Strategy.CALLER && verb != Verb.ASK; // a failed ask returns no answer
    }

    /** Returns whether all accepted messages were handled, or failed if they may fail. */
    boolean handledAllAccepted() {
      return unhandledCount() <= (mayFail
          ? scope.report().unhandled().getOrDefault(DeadLetter.Reason.FAILED, 0L) : 0);
    }

    /** Returns the first violation, or null. */
    String findViolation() throws Exception {
      var cell = (Cell) (Exitable) receiver;
      StressRuns.runWithState(() -> Patience.value(receiver.sendMessageReturn(PROBE_NUMBER)),
          () -> "the receiver is dead: phase " + ActorInternals.phase(cell) + ", drained by " + cell.drain()
              + ", stranded "
              + ActorInternals.strandedNode(cell) + ", the max depth was " + depth());
      for (var future : futures) if (!future.isDone()) return "a request is incomplete, the max depth was " + depth();
      return findWrongCount(handledAllAccepted());
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
  void receiverHandlesNextMessageAfterStackOverflowInSend(String strategy, Mailbox<? super Integer> mailbox, Verb verb)
      throws Exception {
    try (var worker = new Worker()) {
      int[] overflowDepths = new int[2];
      for (int i = 0; i < EPISODES_WITH_NEXT_SEND; i++) {
        int isVirtual = i % 4 == 3 ? 1 : 0;
        var episode = new Episode(strategy(strategy, worker), mailbox, verb,
            overflowDepths[isVirtual] == 0 ? MAX_DEPTH : Math.max(0, overflowDepths[isVirtual] - 100 - 40 * (i % 20)));
        overflowDepths[isVirtual] = episode.play(isVirtual == 1);

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
  void acceptedMessagesAreHandledAfterStackOverflowInSend(String strategy, Mailbox<? super Integer> mailbox, Verb verb)
      throws Exception {
    try (var worker = new Worker()) {
      long seed = StressRuns.seed();
      System.out.println("overflows of sends: -Dfibry.seed=" + seed);
      var random = new SplittableRandom(seed);
      int maxDepth = MAX_DEPTH;
      for (int i = 0; i < EPISODES_WITHOUT_NEXT_SEND; i++) {
        var episode =
            new Episode(strategy(strategy, worker), mailbox, verb, Math.max(0, maxDepth - 1 - random.nextInt(1_000)));
        maxDepth = episode.play(false);

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
      maxDepth = episode.play(false);
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
