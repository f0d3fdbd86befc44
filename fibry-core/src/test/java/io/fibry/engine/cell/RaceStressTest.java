package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ExitReason;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RaceStressTest {
  private static final int ROUNDS = Soak.ON ? 30 : 15;
  private static final int TRIES = Soak.ON ? 2_000 : 1_000;

  static Stream<Variants.Variant> variants() {
    return Variants.all().filter(v -> v.mailbox() == Variants.MAILBOXES.get("unbounded")
        || v.mailbox() == Variants.MAILBOXES.get("bounded(64, BLOCK)"));
  }

  @ParameterizedTest
  @MethodSource("variants")
  void eachRequestSentAsActorBecomesIdleIsAnswered(Variants.Variant variant) {
    long seed = StressRuns.seed();
    System.out.println("pings on " + variant + ": -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    try (var actor = variant.builder(Variants.scope(o -> o)).newActorWithReturn((Object i) -> i)) {
      int pings = Soak.ON ? 1_000_000 : 1_500;

      for (int i = 0; i < pings; i++) {
        for (int spins = random.nextInt(100); spins > 0; spins--) Thread.onSpinWait();
        if (i % 64 == 0) StressRuns.jitter(random);
        assertEquals(i, Patience.value(actor.sendMessageReturn(i)));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void concurrentStopsGiveOneExitReasonAndAtMostOneStopHookRun(Variants.Variant variant) {
    long seed = StressRuns.seed();
    System.out.println("concurrent ends on " + variant + ": -Dfibry.seed=" + seed);
    var random = new SplittableRandom(seed);
    for (int round = 0; round < ROUNDS; round++) {
      var stopHookRuns = new AtomicInteger();
      var actor = variant.builder(Variants.scope(o -> o)).initialState(AtomicInteger::new)
          .onStop(state -> stopHookRuns.incrementAndGet())
          .newActor((AtomicInteger state, Object message) -> state.incrementAndGet());
      actor.sendMessage(1);
      Set<ExitReason> reasons = ConcurrentHashMap.newKeySet();
      var enders = new ArrayList<Runnable>();
      for (int i = 0; i < 4; i++) enders.add(newEnder(actor, random.nextInt(4), reasons));
      List<Thread> threads = enders.stream().map(Patience::startFiber).toList();

      threads.forEach(Patience::awaitEnd);

      assertEquals(1, reasons.size());
      assertTrue(stopHookRuns.get() <= 1, "the stop hook ran " + stopHookRuns + " times");
    }
  }

  private static Runnable newEnder(Actor<Object> actor, int operation, Set<ExitReason> reasons) {
    return () -> {
      List.<Runnable>of(actor::askExit, actor::sendPoisonPill, actor::kill, actor::close).get(operation).run();
      if (operation == 1) actor.askExit();
      actor.waitForExit();
      reasons.add(actor.onExit().join());
    };
  }

  @Test
  void nameBelongsToOneLivingActorAtATime() {
    var scope = Variants.scope(o -> o);
    var owners = new AtomicInteger();
    var hasTwoOwners = new AtomicBoolean();
    var created = new AtomicInteger();
    var tries = new LongAdder();
    var threads = Stream.generate(() -> Patience.startFiber(() -> {
      for (int i = 0; i < TRIES; i++, tries.increment()) createAndEnd(scope, owners, hasTwoOwners, created);
    })).limit(4).toList();

    Patience.progress(tries::sum, () -> threads.stream().noneMatch(Thread::isAlive));
    threads.forEach(Patience::awaitEnd);

    assertTrue(created.get() > 0);
    assertTrue(!hasTwoOwners.get(), "two living actors had one name");
    assertTrue(scope.find("one", Integer.class).isEmpty());
  }

  /** Creates an actor if the name is free, counts the owners of the name, and ends the actor. */
  private static void createAndEnd(ActorScope scope, AtomicInteger owners, AtomicBoolean hasTwoOwners,
      AtomicInteger created) {
    try {
      var actor = scope.named("one").protocol(Integer.class).newActor((Integer i) -> {});
      if (owners.incrementAndGet() > 1) hasTwoOwners.set(true);
      created.incrementAndGet();
      owners.decrementAndGet();
      actor.close();
    } catch (IllegalArgumentException nameInUse) {
      Thread.onSpinWait();
    }
  }
}
