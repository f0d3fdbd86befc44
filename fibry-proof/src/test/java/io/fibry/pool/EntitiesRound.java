package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.Request;
import io.fibry.Seeds;
import io.fibry.Strategy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Tests entities that are passivated all the time while threads send, ask and set timers, and in
 * some rounds also end entities. Each message must be handled once, in its sender's order, by one
 * incarnation at a time, or its sender must be notified.
 */
final class EntitiesRound {
  private static final Duration IDLE = Duration.ofMillis(1);
  private static final int KEYS = 3;
  private static final int SENDERS = 3;
  private static final int MESSAGES = 30;

  sealed interface Work {}
  record Note(int sender, int number) implements Work {}
  record Ask(int sender, int number) implements Work, Request<Ask, Integer> {}
  record TimerMessage(int sender, int number) implements Work {}
  record End(boolean isKill) implements Work {}

  /** All incarnations of one key. */
  private static final class Ledger {
    private final int[] lastHandled = new int[SENDERS];
    private int activeCount;
    private int handled;
    private int timerMessages; // number of handled messages that came from timers
  }

  private final SplittableRandom random;
  private final boolean endsEntities;
  private final boolean hitsIdleEntities; // senders wait for moments at which idle entities are passivated
  private final Strategy strategy;
  private final boolean needsThread; // creating an entity may fail for lack of a thread
  private final Ledger[] ledgers = new Ledger[KEYS];
  private final List<String> faults = new ArrayList<>();
  private final AtomicInteger deadLetters = new AtomicInteger();
  private int sentCount; // not atomic: all threads are simulated, and one runs at a time
  private int timerCount;
  private int refused;

  EntitiesRound(SplittableRandom random) {
    this.random = random;
    this.endsEntities = random.nextInt(3) == 0;
    this.hitsIdleEntities = random.nextBoolean();
    this.strategy = Seeds.anyStrategy(random);
    this.needsThread = strategy == Strategy.THREAD || strategy == Strategy.RESIDENT_FIBER;
    for (int key = 0; key < KEYS; key++) ledgers[key] = new Ledger();
  }

  void play() throws InterruptedException {
    try (var scope = ActorSystem.openScope("entities", options -> options.withDeadLetterListener(this::onDeadLetter))) {
      Entities<Integer, Work> entities =
          Entities.open(scope.anonymous().strategy(strategy), IDLE, this::create);
      var threads = new ArrayList<Thread>();
      for (int i = 0; i < SENDERS; i++) {
        int sender = i;
        var senderRandom = random.split();
        threads.add(Thread.ofVirtual().start(() -> send(entities, sender, senderRandom)));
      }
      for (var thread : threads) thread.join();
      Thread.sleep(1_000); // time for timers, and for starts of threads that a fault delayed
      awaitPassivation(scope, entities);
      entities.close();
    }
    check();
  }

  private void awaitPassivation(ActorScope scope, Entities<Integer, Work> entities) throws InterruptedException {
    for (int i = 0; entities.size() > 0 && i < 100; i++) Thread.sleep(1_000);
    if (entities.size() > 0) faults.add("entities are not passivated: " + scope.dump());
  }

  private void onDeadLetter(DeadLetter letter) {
    if (!(letter.message() instanceof End)) deadLetters.incrementAndGet();
  }

  // ---- entities

  private Actor<Work> create(ActorBuilder<Object> builder, int key) {
    return builder.initialState(() -> activate(key)).onStop(ledger -> ledger.activeCount--).newActor(
        (Ledger ledger, Work work, ActorContext<Work> context) -> handle(ledger, work, context));
  }

  private Ledger activate(int key) {
    if (++ledgers[key].activeCount != 1) faults.add("two incarnations at once");
    return ledgers[key];
  }

  private void handle(Ledger ledger, Work work, ActorContext<Work> context) throws InterruptedException {
    switch (work) {
      case Note note -> note(ledger, note.sender, note.number);
      case Ask ask -> {
        note(ledger, ask.sender, ask.number);
        context.reply(ask, ask.number);
      }
      case TimerMessage message -> {
        ledger.handled++;
        ledger.timerMessages++;
      }
      case End end when end.isKill -> context.self().kill();
      case End end -> context.self().askExit();
    }
  }

  private void note(Ledger ledger, int sender, int number) {
    if (number <= ledger.lastHandled[sender])
      faults.add(number + " of sender " + sender + " was handled after " + ledger.lastHandled[sender]);
    ledger.lastHandled[sender] = number;
    ledger.handled++;
  }

  // ---- senders

  private void send(Entities<Integer, Work> entities, int sender, SplittableRandom senderRandom) {
    for (int i = 1; i <= MESSAGES; i++) {
      if (senderRandom.nextInt(6) == 0)
        LockSupport.parkNanos(hitsIdleEntities ? IDLE.toNanos() * senderRandom.nextInt(1, 4)
            : senderRandom.nextLong(3 * IDLE.toNanos()));
      try {
        sendOne(entities.actor(senderRandom.nextInt(KEYS)), sender, i, senderRandom);
        // RejectedExecutionException: no thread was available, so the entity could not be created
      } catch (ActorStoppedException | RejectedExecutionException stopped) {
        refused++;
        if (stopped instanceof ActorStoppedException && !endsEntities) faults.add("ended: " + stopped);
      } catch (Exception failure) {
        faults.add("sender " + sender + " got " + failure);
      }
    }
  }

  private void sendOne(Actor<Work> entity, int sender, int number, SplittableRandom senderRandom) throws Exception {
    if (endsEntities && senderRandom.nextInt(15) == 0) {
      endEntity(entity, senderRandom.nextBoolean());
      return;
    }
    switch (senderRandom.nextInt(8)) {
      case 0, 1 -> {
        sentCount++;
        int answer = entity.ask(new Ask(sender, number));
        if (answer != number) faults.add(number + " got the answer " + answer);
      }
      case 2 -> {
        entity.sendMessageLater(new TimerMessage(sender, number),
            Duration.ofNanos(senderRandom.nextLong(2 * IDLE.toNanos())));
        sentCount++;
        timerCount++;
      }
      default -> {
        sentCount++;
        entity.sendMessage(new Note(sender, number));
      }
    }
  }

  private static void endEntity(Actor<Work> entity, boolean isKill) {
    try {
      entity.sendMessage(new End(isKill));
    } catch (RejectedExecutionException notCreated) {
      // there is no entity to end
    }
  }

  // ---- the accounts

  private void check() {
    int handled = 0;
    // Timer messages whose dead letters the scope may not count, because no entity could be created
    int missing = needsThread ? timerCount : 0;
    for (var ledger : ledgers) {
      handled += ledger.handled;
      if (needsThread) missing -= ledger.timerMessages;
      if (ledger.activeCount != 0) faults.add("an incarnation did not end");
    }
    assertEquals(List.of(), faults);
    String counts = handled + " handled, " + deadLetters + " dead letters, " + refused + " refused, of " + sentCount;
    assertTrue(handled + deadLetters.get() + refused <= sentCount, counts);
    if (!endsEntities) assertTrue(handled + deadLetters.get() + refused >= sentCount - missing, counts);
  }
}
