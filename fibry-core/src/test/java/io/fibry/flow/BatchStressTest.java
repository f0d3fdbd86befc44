package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
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
 * Tests that each message is in one batch or one dead letter, and that messages of one sender are
 * handled in order.
 */
class BatchStressTest {
  private static final long SEED = StressRuns.seed();
  private static final long MIN_NANOS = TimeUnit.SECONDS.toNanos(Soak.ON ? 120 : 1);
  private static final int MESSAGES_PER_SENDER = 200;

  record Message(int sender, int number) {}

  static final class Episode {
    final Random random;
    final List<String> strategies;
    final RecordedLetters letters = new RecordedLetters();
    final ActorScope scope =
        ActorSystem.openScope("stress", o -> o.withDeadLetterListener(letters).withKillGrace(Patience.LONG));
    final Queue<Message> handled = new ConcurrentLinkedQueue<>();
    final Queue<Integer> wrongSizes = new ConcurrentLinkedQueue<>(); // the actor resumes after failures
    final int senderCount;
    final boolean countsMessages;

    Episode(long seed, List<String> strategies) {
      this.strategies = strategies;
      random = new Random(seed);
      senderCount = 1 + random.nextInt(3);
      countsMessages = random.nextBoolean();
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

      var senders =
          IntStream.range(0, senderCount).mapToObj(sender -> Patience.startFiber(() -> send(log, sender))).toList();
      if (random.nextBoolean()) senders.forEach(Patience::awaitEnd);
      else LockSupport.parkNanos(random.nextInt(3_000_000));
      end(log, end);
      senders.forEach(Patience::awaitEnd);
      Patience.awaitEnd(log::waitForExit);
      scope.closeWithin(Patience.LONG);

      check(strategy + ", " + mailbox + ", size " + size + ", wait " + wait + ", end " + end);
    }

    private Actor<Message> open(Strategy strategy, Mailbox<Object> mailbox, int size, Duration wait) {
      var builder =
          scope.anonymous().strategy(strategy).mailbox(mailbox).onFailure(FailurePolicy.resume().withoutLog());
      return countsMessages ? Batch.ofCounts(builder, size, wait, batch -> handle(batch.keySet(), size))
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
      if (count < 1 || count > size) wrongSizes.add(count);
    }

    private void send(Actor<Message> log, int sender) {
      for (int i = 0; i < MESSAGES_PER_SENDER; i++) {
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

    private void check(String label) {
      Patience.eventually(() -> handledOrDead().size() >= senderCount * MESSAGES_PER_SENDER);
      assertEquals(List.of(), List.copyOf(wrongSizes), label);
      assertEquals(senderCount * MESSAGES_PER_SENDER, handledOrDead().stream().distinct().count(), label);
      assertEquals(senderCount * MESSAGES_PER_SENDER, handledOrDead().size(), label);
      for (int i = 0; i < senderCount; i++) {
        int sender = i;
        var numbers = handled.stream().filter(message -> message.sender() == sender).map(Message::number).toList();
        assertEquals(numbers.stream().sorted().toList(), numbers, label);
      }
    }

    /** Returns the messages that were handled or became dead letters, alone or in a batch. */
    private List<Message> handledOrDead() {
      var messages = new ArrayList<>(handled);
      for (var letter : letters.messages()) {
        if (letter instanceof Message message) messages.add(message);
        else if (letter instanceof List<?> batch) batch.forEach(message -> messages.add((Message) message));
        else if (letter instanceof Map<?, ?> batch) batch.keySet().forEach(message -> messages.add((Message) message));
      }
      return messages;
    }
  }

  @Promise("22.10")
  @Test
  void noMessageIsLostOrHandledTwice() {
    System.out.println("BatchStressTest: -Dfibry.seed=" + SEED);
    var seeds = new Random(SEED);
    int episodeCount = 0;

    for (long start = System.nanoTime(); episodeCount == 0 || System.nanoTime() - start < MIN_NANOS; episodeCount++) {
      long seed = seeds.nextLong();
      try {
        new Episode(seed, List.copyOf(Variants.STRATEGIES.keySet())).play();
      } catch (Throwable failure) {
        throw new AssertionError("episode " + episodeCount + " of seed " + SEED, failure);
      }
    }
  }
}
