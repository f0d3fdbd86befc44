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
 * Entities that fall asleep all the time while threads send, ask and set timers, in some rounds
 * also end them. Afterwards each message was handled once, in its sender's order, by one life at a
 * time, or its sender was told.
 */
final class EntitiesRound {
  private static final Duration IDLE = Duration.ofMillis(1);
  private static final int KEYS = 3;
  private static final int SENDERS = 3;
  private static final int EACH = 30;

  sealed interface Work {}
  record Note(int sender, int number) implements Work {}
  record Ask(int sender, int number) implements Work, Request<Ask, Integer> {}
  record Later(int sender, int number) implements Work {}
  record Leave(boolean byForce) implements Work {}

  /** All lives of one key. */
  private static final class Ledger {
    private final int[] newest = new int[SENDERS];
    private int alive;
    private int handled;
    private int later; // messages of timers among them
  }

  private final SplittableRandom random;
  private final boolean leaving;
  private final boolean onTime; // senders wait for moments at which idle entities are found
  private final Strategy strategy;
  private final boolean madeWithThread; // so it may not be made
  private final Ledger[] ledgers = new Ledger[KEYS];
  private final List<String> faults = new ArrayList<>();
  private final AtomicInteger letters = new AtomicInteger();
  private int sent; // all threads are simulated, so one runs at a time
  private int later;
  private int refused;

  EntitiesRound(SplittableRandom random) {
    this.random = random;
    this.leaving = random.nextInt(3) == 0;
    this.onTime = random.nextBoolean();
    this.strategy = Seeds.anyStrategy(random);
    this.madeWithThread = strategy == Strategy.THREAD || strategy == Strategy.RESIDENT_FIBER;
    for (int key = 0; key < KEYS; key++) ledgers[key] = new Ledger();
  }

  void play() throws InterruptedException {
    try (var scope = ActorSystem.openScope("entities", options -> options.withDeadLetters(this::bury))) {
      Entities<Integer, Work> entities =
          Entities.open(scope.anonymous().strategy(strategy), IDLE, this::birth);
      var threads = new ArrayList<Thread>();
      for (int i = 0; i < SENDERS; i++) {
        int sender = i;
        var own = random.split();
        threads.add(Thread.ofVirtual().start(() -> send(entities, sender, own)));
      }
      for (var thread : threads) thread.join();
      Thread.sleep(1_000); // timers, and starts that a fault made late
      awaitSleep(scope, entities);
      entities.close();
    }
    check();
  }

  private void awaitSleep(ActorScope scope, Entities<Integer, Work> entities) throws InterruptedException {
    for (int i = 0; entities.size() > 0 && i < 100; i++) Thread.sleep(1_000);
    if (entities.size() > 0) faults.add("does not fall asleep: " + scope.dump());
  }

  private void bury(DeadLetter letter) {
    if (!(letter.message() instanceof Leave)) letters.incrementAndGet();
  }

  // ---- lives

  private Actor<Work> birth(ActorBuilder<Object> how, int key) {
    return how.initialState(() -> begin(key)).onStop(ledger -> ledger.alive--).newActor(
        (Ledger ledger, Work work, ActorContext<Work> context) -> handle(ledger, work, context));
  }

  private Ledger begin(int key) {
    if (++ledgers[key].alive != 1) faults.add("two lives at once");
    return ledgers[key];
  }

  private void handle(Ledger ledger, Work work, ActorContext<Work> context) throws InterruptedException {
    switch (work) {
      case Note note -> note(ledger, note.sender, note.number);
      case Ask ask -> {
        note(ledger, ask.sender, ask.number);
        context.reply(ask, ask.number);
      }
      case Later one -> {
        ledger.handled++;
        ledger.later++;
      }
      case Leave leave when leave.byForce -> context.self().kill();
      case Leave leave -> context.self().askExit();
    }
  }

  private void note(Ledger ledger, int sender, int number) {
    if (number <= ledger.newest[sender])
      faults.add(number + " of sender " + sender + " was handled after " + ledger.newest[sender]);
    ledger.newest[sender] = number;
    ledger.handled++;
  }

  // ---- senders

  private void send(Entities<Integer, Work> entities, int sender, SplittableRandom own) {
    for (int i = 1; i <= EACH; i++) {
      if (own.nextInt(6) == 0)
        LockSupport.parkNanos(onTime ? IDLE.toNanos() * own.nextInt(1, 4) : own.nextLong(3 * IDLE.toNanos()));
      try {
        sendOne(entities.actor(own.nextInt(KEYS)), sender, i, own);
      } catch (ActorStoppedException | RejectedExecutionException gone) { // or not born, without a thread
        refused++;
        if (gone instanceof ActorStoppedException && !leaving) faults.add("ended: " + gone);
      } catch (Exception failure) {
        faults.add("sender " + sender + " got " + failure);
      }
    }
  }

  private void sendOne(Actor<Work> entity, int sender, int number, SplittableRandom own) throws Exception {
    if (leaving && own.nextInt(15) == 0) {
      leave(entity, own.nextBoolean());
      return;
    }
    switch (own.nextInt(8)) {
      case 0, 1 -> {
        sent++;
        int answer = entity.ask(new Ask(sender, number));
        if (answer != number) faults.add(number + " got the answer " + answer);
      }
      case 2 -> {
        entity.sendMessageLater(new Later(sender, number), Duration.ofNanos(own.nextLong(2 * IDLE.toNanos())));
        sent++;
        later++;
      }
      default -> {
        sent++;
        entity.sendMessage(new Note(sender, number));
      }
    }
  }

  private static void leave(Actor<Work> entity, boolean byForce) {
    try {
      entity.sendMessage(new Leave(byForce));
    } catch (RejectedExecutionException notBorn) {
      // so it has not to leave
    }
  }

  // ---- the accounts

  private void check() {
    int handled = 0;
    // of timers: if no entity can be made, the dead letter does not belong to the scope
    int missing = madeWithThread ? later : 0;
    for (var ledger : ledgers) {
      handled += ledger.handled;
      if (madeWithThread) missing -= ledger.later;
      if (ledger.alive != 0) faults.add("a life did not end");
    }
    assertEquals(List.of(), faults);
    String seen = handled + " handled, " + letters + " dead letters, " + refused + " refused, of " + sent;
    assertTrue(handled + letters.get() + refused <= sent, seen);
    if (!leaving) assertTrue(handled + letters.get() + refused >= sent - missing, seen);
  }
}
