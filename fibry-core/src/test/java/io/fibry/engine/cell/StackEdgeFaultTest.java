package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertNull;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Hush;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.StressHarness;
import io.fibry.Waits;
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
 * A sender recurses and sends at every depth until its stack is full. Wherever the overflow hits
 * the library, the receiver must not suffer.
 */
@ExtendWith(Hush.class)
class StackEdgeFaultTest {
  private static final int DEEPEST = 60_000;
  private static final Integer[] NUMBERS = Stream.iterate(0, i -> i + 1).limit(DEEPEST).toArray(Integer[]::new);
  private static final Integer LAST = -1;
  private static final int SENDING = Soak.ON ? 2_000 : 8; // episodes
  private static final int SILENT = Soak.ON ? 2_000 : 15; // with half the probe, 8 may find nothing

  enum Verb { MESSAGE, FUTURE, ASK }

  /** An executor without locks: the JDK's executors break at the edge of a stack. */
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
    private final AtomicIntegerArray handled = new AtomicIntegerArray(DEEPEST);
    private final boolean[] taken = new boolean[DEEPEST];
    private final List<CompletableFuture<Integer>> futures = new ArrayList<>(DEEPEST);
    private final ActorWithReturn<Integer, Integer> receiver;
    private final Verb verb;
    private final int from; // the depth at which sending begins
    // the receiver runs on the sender's stack, so its handler may overflow it too
    private final boolean nested;
    private int depth;

    Episode(Strategy strategy, Mailbox<? super Integer> mailbox, Verb verb, int from) {
      this.verb = verb;
      this.from = from;
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
      } catch (StackOverflowError edge) {
        // intended
      }
    }

    private void descend(int level) {
      depth = level;
      if (level >= from) send(level);
      if (level < DEEPEST - 1) descend(level + 1);
    }

    private void send(int level) {
      switch (verb) {
        case MESSAGE -> taken[level] = receiver.sendMessage(NUMBERS[level]);
        case FUTURE -> {
          var future = receiver.sendMessageReturn(NUMBERS[level]);
          taken[level] = true;
          futures.add(future);
        }
        case ASK -> taken[level] = receiver.ask(NUMBERS[level]) != null;
      }
    }

    boolean handledAllTaken() {
      for (int i = 0; i <= depth; i++) if (taken[i] && handled.get(i) != 1 && !nested) return false;
      return true;
    }

    /** Null if all is well. */
    String fault() throws Exception {
      var cell = (Cell) (Exitable) receiver;
      Waits.explained(() -> Patience.value(receiver.sendMessageReturn(LAST)),
          () -> "the receiver is dead: phase " + Inside.phase(cell) + ", drained by " + cell.drain() + ", stranded "
              + Inside.stranded(cell) + ", the deepest was " + depth);
      for (int i = 0; i <= depth; i++) {
        if (handled.get(i) > 1) return i + " was handled " + handled.get(i) + " times, the deepest was " + depth;
        if (taken[i] && handled.get(i) != 1 && !nested)
          return i + " was taken and not handled, the deepest was " + depth;
      }
      for (var future : futures) if (!future.isDone()) return "a request is incomplete, the deepest was " + depth;
      return null;
    }
  }

  static Stream<Object[]> cases() {
    List<Mailbox<? super Integer>> mailboxes = List.of(Mailbox.unbounded(), Mailbox.bounded(DEEPEST, Overflow.BLOCK),
        Mailbox.priority((Integer a, Integer b) -> 0));
    return Stream.of("FIBER", "THREAD", "CALLER", "on").flatMap(strategy -> mailboxes.stream()
        .flatMap(mailbox -> Stream.of(Verb.values()).map(verb -> new Object[] {strategy, mailbox, verb})));
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
  void anOverflowInsideASendHarmsNoReceiver(String strategy, Mailbox<? super Integer> mailbox, Verb verb)
      throws Exception {
    try (var worker = new Worker()) {
      int[] edge = new int[2];
      for (int i = 0; i < SENDING; i++) {
        int virtual = i % 4 == 3 ? 1 : 0;
        var episode = new Episode(strategy(strategy, worker), mailbox, verb,
            edge[virtual] == 0 ? DEEPEST : Math.max(0, edge[virtual] - 100 - 40 * (i % 20)));
        var sender =
            virtual == 1 ? Thread.ofVirtual().unstarted(episode) : new Thread(null, episode, "sender", 200_000);
        sender.start();
        sender.join();
        edge[virtual] = episode.depth;

        assertNull(episode.fault(), "episode " + i);
        episode.receiver.askExit();
        Patience.ended(episode.receiver::waitForExit);
      }
    }
  }

  /** No message is sent after the overflow: no right to run may wait for another sender. */
  @Promise("3.1")
  @ParameterizedTest
  @MethodSource("cases")
  void takenMessagesAreHandledAfterOverflow(String strategy, Mailbox<? super Integer> mailbox, Verb verb)
      throws Exception {
    try (var worker = new Worker()) {
      long seed = StressHarness.seed();
      System.out.println("overflows of sends: -Dfibry.seed=" + seed);
      var random = new SplittableRandom(seed);
      int deepest = DEEPEST;
      for (int i = 0; i < SILENT; i++) {
        var episode =
            new Episode(strategy(strategy, worker), mailbox, verb, Math.max(0, deepest - 1 - random.nextInt(1_000)));
        var sender = new Thread(null, episode, "sender", 200_000);
        sender.start();
        sender.join();
        deepest = episode.depth;

        Patience.eventually(episode::handledAllTaken);
      }
    }
  }

  @Test
  void timersGoOnAfterOverflows() throws Exception {
    var rung = new CountDownLatch(1);

    ActorSystem.anonymous().newActor((Integer i) -> rung.countDown()).sendMessageLater(1, Duration.ofMillis(1));

    Patience.await(rung);
  }
}
