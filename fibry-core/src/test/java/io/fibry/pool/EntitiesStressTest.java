package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Request;
import io.fibry.StressHarness;
import io.fibry.Variants;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keys that are idle all the time while threads send and ask. */
class EntitiesStressTest {
  private static final Duration IDLE = Duration.ofMillis(8);
  private static final int KEYS = 12;
  private static final int SENDERS = 4;
  private static final int EACH = Soak.ON ? 200_000 : 3_000;
  private static final int FEW = Soak.ON ? EACH : 300; // where each message costs a thread

  sealed interface Work {}
  record Note(int sender, int number) implements Work {}
  record Ask(int sender, int number) implements Work, Request<Ask, Integer> {}
  record ReplyLater(int sender, int number) implements Work, Request<ReplyLater, Integer> {}
  record Leave() implements Work {}

  /** All lives of one key, in plain fields: each life must see those before it. */
  private static final class Ledger {
    private final int[] newest = new int[SENDERS];
    private final int[] handled = new int[SENDERS];
    private final AtomicInteger alive = new AtomicInteger();
    private int lives;
    private final AtomicReference<String> wrong;

    Ledger(AtomicReference<String> wrong) {
      this.wrong = wrong;
    }

    private Ledger open() {
      if (alive.incrementAndGet() != 1) wrong.compareAndSet(null, "two lives at once");
      lives++;
      return this;
    }

    private void close() {
      alive.decrementAndGet();
    }

    private void handle(Work work, ActorContext<Work> context) {
      switch (work) {
        case Note note -> note(note.sender, note.number);
        case Ask ask -> {
          note(ask.sender, ask.number);
          context.reply(ask, ask.number);
        }
        case ReplyLater promise -> {
          note(promise.sender, promise.number);
          var value = new CompletableFuture<Integer>();
          context.replyWhen(promise, value);
          Thread.ofVirtual().start(() -> value.complete(promise.number));
        }
        case Leave leave -> context.self().askExit();
      }
    }

    private void note(int sender, int number) {
      if (number <= newest[sender])
        wrong.compareAndSet(null, number + " of sender " + sender + " was handled after " + newest[sender]);
      newest[sender] = number;
      handled[sender]++;
    }
  }

  private final ManualScheduler clock = new ManualScheduler();
  private final Letters letters = new Letters();
  private final AtomicReference<String> wrong = new AtomicReference<>();
  private final Ledger[] ledgers = new Ledger[KEYS];
  private int each = EACH;
  private final int[][] sent = new int[KEYS][SENDERS];

  @Promise({"23.5", "23.6"})
  @ParameterizedTest
  @CsvSource({"FIBER, true, false", "FIBER, false, false", "FIBER, true, true", "CALLER, true, false",
    "of(ForkJoinPool), true, false", "THREAD, true, false"})
  void everyMessageIsHandledOnceInItsOrderByOneActorAtATime(String strategy, boolean byHand, boolean leaving)
      throws Exception {
    long seed = StressHarness.seed();
    System.out.println("entities stress: -Dfibry.seed=" + seed);
    String where = strategy + ", -Dfibry.seed=" + seed;
    var random = new SplittableRandom(seed);
    if (strategy.equals("THREAD")) each = FEW;
    for (int key = 0; key < KEYS; key++) ledgers[key] = new Ledger(wrong);

    try (var scope = ActorSystem.openScope("stress",
        o -> o.withDeadLetters(letters).withScheduler(byHand ? clock : Scheduler.system()))) {
      var entities = Entities.open(scope.named("entity").strategy(Variants.STRATEGIES.get(strategy)),
          byHand ? IDLE : Duration.ofMillis(1), this::birth);
      var senders = new ArrayList<Thread>();
      for (int i = 0; i < SENDERS; i++) senders.add(sender(entities, i, random.split(), leaving));
      for (var sender : senders) sender.join();
      if (byHand) sendOnceMore(entities);
      entities.close();
    }

    assertEquals(null, wrong.get(), where);
    int lives = 0;
    int lost = 0; // taken, then undelivered
    for (int key = 0; key < KEYS; key++) {
      lives += ledgers[key].lives;
      for (int sender = 0; sender < SENDERS; sender++) {
        int missing = sent[key][sender] - ledgers[key].handled[sender];
        if (!leaving) assertEquals(0, missing, "key " + key + ", sender " + sender + ", " + where);
        lost += missing;
      }
    }
    assertTrue(lost <= letters.all.size() && (leaving || letters.all.isEmpty()),
        where + ": lost " + lost + ", dead letters " + letters.all.size());
    System.out.println("entities stress: " + lives + " lives");
    // by the system's clock, a fast run may end before a key is idle
    if (byHand) assertTrue(lives > KEYS, where);
  }

  private Actor<Work> birth(ActorBuilder<Object> how, int key) {
    return how.initialState(() -> ledgers[key].open()).onStop(Ledger::close)
        .newActor(Ledger::handle);
  }

  private Thread sender(Entities<Integer, Work> entities, int number, SplittableRandom random, boolean leaving) {
    return Thread.ofPlatform().start(() -> {
      try {
        send(entities, number, random, leaving);
      } catch (Throwable failure) {
        wrong.compareAndSet(null, "sender " + number + " got " + failure);
      }
    });
  }

  private void send(Entities<Integer, Work> entities, int sender, SplittableRandom random, boolean leaving)
      throws Exception {
    var promised = new ArrayList<Future<Integer>>();
    for (int i = 1; i <= each; i++) {
      // unused keys are idle
      if (random.nextInt(10) == 0) clock.advance(IDLE.multipliedBy(2));
      int key = random.nextInt(KEYS);
      var entity = entities.actor(key);
      if (leaving && random.nextInt(50) == 0) {
        entity.sendMessage(new Leave());
        continue;
      }
      if (leaving) { // a message during the end is a dead letter
        if (entity.sendMessage(new Note(sender, i))) sent[key][sender]++;
        continue;
      }
      sent[key][sender]++;
      switch (random.nextInt(10)) {
        case 0, 1 -> check(entity.ask(new Ask(sender, i)) == i);
        case 2 -> promised.add(entity.sendMessageReturn(new ReplyLater(sender, i)));
        default -> check(entity.sendMessage(new Note(sender, i)));
      }
    }
    for (var promise : promised) promise.get();
  }

  /** So that each key has another life, even if the senders were faster than any passivation. */
  private void sendOnceMore(Entities<Integer, Work> entities) {
    Patience.eventually(() -> {
      clock.advance(IDLE.multipliedBy(2));
      return entities.size() == 0;
    });
    for (int key = 0; key < KEYS; key++) {
      sent[key][0]++;
      check(entities.actor(key).sendMessage(new Note(0, each + 1)));
    }
  }

  private void check(boolean fact) {
    if (!fact) wrong.compareAndSet(null, "refused, or another's answer");
  }
}
