package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
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

/** Tests entities that become idle again and again while threads send messages and requests. */
class EntitiesStressTest {
  private static final Duration IDLE = Duration.ofMillis(8);
  private static final int KEYS = 12;
  private static final int SENDERS = 4;
  private static final int MESSAGES_PER_SENDER = Soak.ON ? 200_000 : 3_000;
  // for strategies that start a thread per message
  private static final int FEWER_MESSAGES = Soak.ON ? MESSAGES_PER_SENDER : 300;

  sealed interface Work {}
  record Note(int sender, int number) implements Work {}
  record Ask(int sender, int number) implements Work, Request<Ask, Integer> {}
  record ReplyLater(int sender, int number) implements Work, Request<ReplyLater, Integer> {}
  record AskExit() implements Work {}

  /** Records all lives of a key in plain fields. Each life must see the writes of earlier lives. */
  private static final class Ledger {
    private final int[] lastNumbers = new int[SENDERS];
    private final int[] handled = new int[SENDERS];
    private final AtomicInteger currentLives = new AtomicInteger();
    private int totalLives;
    private final AtomicReference<String> fault;

    Ledger(AtomicReference<String> fault) {
      this.fault = fault;
    }

    private Ledger open() {
      if (currentLives.incrementAndGet() != 1) fault.compareAndSet(null, "two lives at the same time");
      totalLives++;
      return this;
    }

    private void close() {
      currentLives.decrementAndGet();
    }

    private void handle(Work work, ActorContext<Work> context) {
      switch (work) {
        case Note note -> note(note.sender, note.number);
        case Ask ask -> {
          note(ask.sender, ask.number);
          context.reply(ask, ask.number);
        }
        case ReplyLater request -> {
          note(request.sender, request.number);
          var value = new CompletableFuture<Integer>();
          context.replyWhen(request, value);
          Thread.ofVirtual().start(() -> value.complete(request.number));
        }
        case AskExit exit -> context.self().askExit();
      }
    }

    private void note(int sender, int number) {
      if (number <= lastNumbers[sender])
        fault.compareAndSet(null, number + " of sender " + sender + " was handled after " + lastNumbers[sender]);
      lastNumbers[sender] = number;
      handled[sender]++;
    }
  }

  private final ManualScheduler clock = new ManualScheduler();
  private final RecordedLetters letters = new RecordedLetters();
  private final AtomicReference<String> fault = new AtomicReference<>();
  private final Ledger[] ledgers = new Ledger[KEYS];
  private int messagesPerSender = MESSAGES_PER_SENDER;
  private final int[][] sent = new int[KEYS][SENDERS];

  @Promise({"23.5", "23.6"})
  @ParameterizedTest
  @CsvSource({"FIBER, true, false", "FIBER, false, false", "FIBER, true, true", "CALLER, true, false",
    "of(ForkJoinPool), true, false", "THREAD, true, false"})
  void everyMessageIsHandledOnceInOrderByOneActorAtATime(String strategy, boolean onManualClock,
      boolean sendsAskExit) throws Exception {
    long seed = StressRuns.seed();
    System.out.println("entities stress: -Dfibry.seed=" + seed);
    String label = strategy + ", -Dfibry.seed=" + seed;
    var random = new SplittableRandom(seed);
    if (strategy.equals("THREAD")) messagesPerSender = FEWER_MESSAGES;
    for (int key = 0; key < KEYS; key++) ledgers[key] = new Ledger(fault);

    try (var scope = ActorSystem.openScope("stress",
        o -> o.withDeadLetterListener(letters).withScheduler(onManualClock ? clock : Scheduler.system()))) {
      var entities = Entities.open(scope.named("entity").strategy(Variants.STRATEGIES.get(strategy)),
          onManualClock ? IDLE : Duration.ofMillis(1), this::birth);
      var senders = new ArrayList<Thread>();
      for (int i = 0; i < SENDERS; i++) senders.add(sender(entities, i, random.split(), sendsAskExit));
      for (var sender : senders) sender.join();
      if (onManualClock) sendOnceMore(entities);
      entities.close();
    }

    assertEquals(null, fault.get(), label);
    int lifeCount = 0;
    int lostCount = 0; // accepted, but undelivered
    for (int key = 0; key < KEYS; key++) {
      lifeCount += ledgers[key].totalLives;
      for (int sender = 0; sender < SENDERS; sender++) {
        int missingCount = sent[key][sender] - ledgers[key].handled[sender];
        if (!sendsAskExit) assertEquals(0, missingCount, "key " + key + ", sender " + sender + ", " + label);
        lostCount += missingCount;
      }
    }
    assertTrue(lostCount <= letters.all.size() && (sendsAskExit || letters.all.isEmpty()),
        label + ": lost " + lostCount + ", dead letters " + letters.all.size());
    System.out.println("entities stress: " + lifeCount + " lives");
    // on the system's clock, a fast run may end before any key is idle
    if (onManualClock) assertTrue(lifeCount > KEYS, label);
  }

  private Actor<Work> birth(ActorBuilder<Object> builder, int key) {
    return builder.initialState(() -> ledgers[key].open()).onStop(Ledger::close)
        .newActor(Ledger::handle);
  }

  private Thread sender(Entities<Integer, Work> entities, int number, SplittableRandom random, boolean sendsAskExit) {
    return Thread.ofPlatform().start(() -> {
      try {
        send(entities, number, random, sendsAskExit);
      } catch (Throwable failure) {
        fault.compareAndSet(null, "sender " + number + " got " + failure);
      }
    });
  }

  private void send(Entities<Integer, Work> entities, int sender, SplittableRandom random, boolean sendsAskExit)
      throws Exception {
    var answers = new ArrayList<Future<Integer>>();
    for (int i = 1; i <= messagesPerSender; i++) {
      // makes unused keys idle
      if (random.nextInt(10) == 0) clock.advance(IDLE.multipliedBy(2));
      int key = random.nextInt(KEYS);
      var entity = entities.actor(key);
      if (sendsAskExit && random.nextInt(50) == 0) {
        entity.sendMessage(new AskExit());
        continue;
      }
      if (sendsAskExit) { // only accepted notes count, because an ending actor may refuse messages and fails requests
        if (entity.sendMessage(new Note(sender, i))) sent[key][sender]++;
        continue;
      }
      sent[key][sender]++;
      switch (random.nextInt(10)) {
        case 0, 1 -> check(entity.ask(new Ask(sender, i)) == i);
        case 2 -> answers.add(entity.sendMessageReturn(new ReplyLater(sender, i)));
        default -> check(entity.sendMessage(new Note(sender, i)));
      }
    }
    for (var answer : answers) answer.get();
  }

  /** Gives each key another life, in case the senders were faster than any passivation. */
  private void sendOnceMore(Entities<Integer, Work> entities) {
    Patience.eventually(() -> {
      clock.advance(IDLE.multipliedBy(2));
      return entities.size() == 0;
    });
    for (int key = 0; key < KEYS; key++) {
      sent[key][0]++;
      check(entities.actor(key).sendMessage(new Note(0, messagesPerSender + 1)));
    }
  }

  private void check(boolean fact) {
    if (!fact) fault.compareAndSet(null, "a message was refused, or an answer was wrong");
  }
}
