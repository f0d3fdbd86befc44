package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.StressHarness;
import io.fibry.Variants;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Each message is in one batch or one dead letter, and the messages of one sender are in order.
 */
class BatchStressTest {
  private static final long SEED = StressHarness.seed();
  private static final long LONG = TimeUnit.SECONDS.toNanos(Soak.ON ? 120 : 1);
  private static final int EACH = 200;

  record Message(int sender, int number) {}

  static final class Episode {
    final Random random;
    final List<String> strategies;
    final Letters letters = new Letters();
    final ActorScope scope =
        ActorSystem.openScope("stress", o -> o.withDeadLetters(letters).withKillGrace(Patience.LONG));
    final Queue<Message> handled = new ConcurrentLinkedQueue<>();
    final int senders;
    final boolean counting;

    Episode(long seed, List<String> strategies) {
      this.strategies = strategies;
      random = new Random(seed);
      senders = 1 + random.nextInt(3);
      counting = random.nextBoolean();
    }

    void play() {
      var strategy = strategies.get(random.nextInt(strategies.size()));
      var overflows = Overflow.values();
      var mailbox = random.nextInt(4) == 0 ? Mailbox.unbounded()
          : Mailbox.bounded(1 + random.nextInt(50), overflows[random.nextInt(overflows.length)]);
      int size = 1 + random.nextInt(30);
      var wait = Duration.ofNanos(1 + random.nextInt(2_000_000));
      int end = random.nextInt(4);
      var log = open(Variants.STRATEGIES.get(strategy), mailbox, size, wait);

      var sending =
          IntStream.range(0, senders).mapToObj(sender -> Patience.startFiber(() -> send(log, sender))).toList();
      if (random.nextBoolean()) sending.forEach(Patience::joined);
      else LockSupport.parkNanos(random.nextInt(3_000_000));
      end(log, end);
      sending.forEach(Patience::joined);
      Patience.ended(log::waitForExit);
      scope.closeWithin(Patience.LONG);

      check(strategy + ", " + mailbox + ", size " + size + ", wait " + wait + ", end " + end);
    }

    private Actor<Message> open(Strategy strategy, Mailbox<Object> mailbox, int size, Duration wait) {
      var builder =
          scope.anonymous().strategy(strategy).mailbox(mailbox).onFailure(FailurePolicy.resume().withoutLog());
      return counting ? Batch.ofCounts(builder, size, wait, batch -> handle(batch.keySet(), size))
          : Batch.ofLists(builder, size, wait, batch -> handle(batch, size));
    }

    private void handle(Iterable<Message> batch, int size) throws Exception {
      int pause = Math.floorMod(batch.hashCode(), 20);
      if (pause == 0) throw new IOException("no");
      if (pause < 4) LockSupport.parkNanos(pause * 100_000L);
      if (Thread.interrupted()) throw new InterruptedException();
      int count = 0;
      for (var message : batch) {
        handled.add(message);
        count++;
      }
      assertTrue(count >= 1 && count <= size);
    }

    private void send(Actor<Message> log, int sender) {
      for (int i = 0; i < EACH; i++) {
        log.sendMessage(new Message(sender, i));
        if (i % 50 == 49) LockSupport.parkNanos(300_000);
      }
    }

    private void end(Actor<Message> log, int end) {
      if (end == 0) log.close();
      else if (end == 1) log.askExit();
      else if (end == 2) log.kill();
      else scope.closeWithin(Patience.LONG);
    }

    private void check(String what) {
      Patience.eventually(() -> ended().size() >= senders * EACH);
      assertEquals(senders * EACH, ended().stream().distinct().count(), what);
      assertEquals(senders * EACH, ended().size(), what);
      for (int i = 0; i < senders; i++) {
        int sender = i;
        var numbers = handled.stream().filter(message -> message.sender() == sender).map(Message::number).toList();
        assertEquals(numbers.stream().sorted().toList(), numbers, what);
      }
    }

    /** Handled or dead letters, alone or in a batch. */
    private List<Message> ended() {
      var all = new ArrayList<>(handled);
      for (var letter : letters.messages()) {
        if (letter instanceof Message message) all.add(message);
        else if (letter instanceof List<?> batch) batch.forEach(message -> all.add((Message) message));
        else if (letter instanceof Map<?, ?> batch) batch.keySet().forEach(message -> all.add((Message) message));
      }
      return all;
    }
  }

  @Promise("22.10")
  @Test
  void noMessageIsForgottenOrHandledTwice() {
    System.out.println("BatchStressTest: -Dfibry.seed=" + SEED);
    var seeds = new Random(SEED);
    int episodes = 0;

    for (long begun = System.nanoTime(); episodes == 0 || System.nanoTime() - begun < LONG; episodes++) {
      long seed = seeds.nextLong();
      try {
        new Episode(seed, List.copyOf(Variants.STRATEGIES.keySet())).play();
      } catch (Throwable failure) {
        throw new AssertionError("episode " + episodes + " of seed " + SEED, failure);
      }
    }
  }
}
