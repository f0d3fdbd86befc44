package io.fibry.engine.jvm;

import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.Strategy;
import io.fibry.engine.cell.Cell;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.support.Pace;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * A program for a child JVM with a small heap. It fills the heap again and again while actors of
 * several kinds work. Every ask must end soon after its limit, and every close of a scope must
 * return. After each round, each plain actor must answer or have ended, unless the JDK has lost its
 * fiber.
 */
final class MemoryStorm {
  private static final Duration LIMIT = Duration.ofSeconds(1);
  private static final Duration SHORT_LIMIT = Duration.ofNanos(1);
  private static final Duration PATIENCE = Duration.ofSeconds(5); // by the clock of Pace, which collections slow down
  private static final int MAX_TRIES = 3; // asks with LIMIT, before one ask with a long limit
  private static final int KEYS = 20;
  private static final int MAX_VIOLATIONS = 3; // further unexpected exceptions are similar and not recorded

  private static volatile boolean isStorming = true;
  private static boolean runsFibers = true; // used by the main thread only

  private MemoryStorm() {}

  /** @param args the seed, and the number of rounds with a full heap */
  public static void main(String[] args) throws InterruptedException {
    var random = new SplittableRandom(Long.parseLong(args[0]));
    int rounds = Integer.parseInt(args[1]);
    int round = 0;
    Pace.nanoTime(); // starts its thread while there is memory
    List<String> violations = List.of();
    // the first rounds do not fill the heap, because a class whose initialization fails for lack of
    // memory cannot be used later
    for (int calmRound = 0; calmRound < 3; calmRound++) violations = play(random.split(), false);
    for (; round < rounds && violations.isEmpty() && runsFibers; round++) violations = play(random.split(), true);
    System.out.println(violations.isEmpty() ? "all well after " + round + " rounds" : "violations: " + violations);
    System.exit(violations.isEmpty() ? 0 : 1);
  }

  private static List<String> play(SplittableRandom random, boolean fillsHeap) throws InterruptedException {
    var violations = new CopyOnWriteArrayList<String>();
    var scope = ActorSystem.openScope("storm", options -> options.withKillGrace(LIMIT));
    var builder = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog());
    var actors = new LinkedHashMap<String, ActorWithReturn<Integer, Integer>>();
    actors.put("fiber", builder.newActorWithReturn((Integer i) -> i));
    actors.put("thread", builder.strategy(Strategy.THREAD).newActorWithReturn((Integer i) -> i));
    actors.put("pool", Pools.fixed(builder, 2).newActorWithReturn((Integer i) -> i));
    actors.put("pool by key", Pools.byKey(builder, 2, (Integer i) -> i & 3).newActorWithReturn((Integer i) -> i));
    var entities = Entities.open(builder, Duration.ofMillis(5),
        (ActorBuilder<Object> entityBuilder, Integer key) -> entityBuilder.newActor(MemoryStorm::answer));
    isStorming = true;
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < 4; i++) {
      var threadRandom = random.split();
      threads.add(Thread.ofPlatform().daemon().unstarted(() -> askActors(threadRandom, actors, entities, violations)));
    }
    threads.forEach(Thread::start);
    for (int i = 0; i < 10; i++) {
      if (fillsHeap) fillHeap(random);
      else LockSupport.parkNanos(20_000_000);
    }
    isStorming = false;
    threads.forEach(Patience::awaitEnd);
    for (var name : List.of("fiber", "thread")) checkAnswers(name, actors.get(name), violations);
    if (!violations.isEmpty()) violations.add(scope.dump());
    var closer = Thread.ofPlatform().daemon().start(() -> scope.closeWithin(LIMIT));
    Patience.awaitEnd(closer);
    return violations;
  }

  record Number(int value) implements Request<Number, Integer> {}

  private static void answer(Number number, ActorContext<Number> context) {
    context.reply(number, number.value());
  }

  private static void askActors(SplittableRandom random, Map<String, ActorWithReturn<Integer, Integer>> actors,
      Entities<Integer, Number> entities, List<String> violations) {
    var actorList = List.copyOf(actors.values());
    while (isStorming) {
      long start = Pace.nanoTime();
      try {
        int choice = random.nextInt(actorList.size() + 2);
        if (choice < actorList.size())
          actorList.get(choice).ask(random.nextInt(100), random.nextInt(20) == 0 ? SHORT_LIMIT : LIMIT);
        else entities.actor(random.nextInt(KEYS)).ask(new Number(1), LIMIT);
      } catch (RequestException | OutOfMemoryError expected) {
        LockSupport.parkNanos(100_000);
      } catch (Throwable failure) {
        if (!isCausedByMemory(failure) && violations.size() < MAX_VIOLATIONS)
          violations.add("an asker got " + failure + " " + List.of(failure.getStackTrace()));
      }
      if (Pace.nanoTime() - start > PATIENCE.toNanos()) violations.add("an ask ended long after its limit");
    }
  }

  private static boolean isCausedByMemory(Throwable failure) {
    return failure.getCause() instanceof OutOfMemoryError
        || String.valueOf(failure.getMessage()).contains("no stack or memory left");
  }

  private static void fillHeap(SplittableRandom random) {
    var chain = new AtomicReference<Object>();
    try {
      for (int size = 1 << 20; size > 16;) {
        try {
          chain.set(new Object[] {chain.get(), new byte[size]});
        } catch (OutOfMemoryError e) {
          size /= 8; // each failure costs collections of the whole heap
        }
      }
    } catch (OutOfMemoryError e) {}
    LockSupport.parkNanos(1_000_000 + random.nextInt(30_000_000));
    chain.set(null);
    LockSupport.parkNanos(1_000_000 + random.nextInt(5_000_000));
  }

  /**
   * Checks that the actor answers, or has ended because of an OutOfMemoryError in its handler. If
   * the JDK has lost the fiber of the actor, the first ask whose limit expires starts a new fiber.
   */
  private static void checkAnswers(String name, ActorWithReturn<Integer, Integer> actor, List<String> violations) {
    for (int tries = 1;; tries++) {
      try {
        actor.ask(1, tries <= MAX_TRIES ? LIMIT : Patience.LONG);
        return;
      } catch (ActorStoppedException e) {
        return;
      } catch (RuntimeException failure) {
        if (tries < MAX_TRIES) continue;
        runsFibers = runsFibers();
        if (!runsFibers || isLost(actor)) {
          System.out.println("the JDK has lost fibers");
          return;
        }
        if (tries > MAX_TRIES) {
          violations.add(name + " does not answer: " + failure.getMessage());
          return;
        }
      }
    }
  }

  /**
   * Returns whether the JDK still runs fibers. While memory is full, the JDK may lose all carriers
   * forever.
   */
  private static boolean runsFibers() {
    try {
      var fiber = Thread.startVirtualThread(() -> {});
      for (long start = Pace.nanoTime(); fiber.isAlive() && Pace.nanoTime() - start < PATIENCE.toNanos();)
        LockSupport.parkNanos(10_000_000);
      return !fiber.isAlive();
    } catch (OutOfMemoryError e) {
      return false;
    }
  }

  /**
   * Returns whether the JDK has lost the fiber of this actor. Such a fiber is runnable, but gets no
   * carrier, although other fibers get one.
   */
  private static boolean isLost(Object actor) {
    var drain = ((Cell) actor).drain();
    var fiber = drain == null ? null : drain.thread;
    // the text of a fiber with a carrier ends with "/runnable@" and the carrier
    return fiber != null && fiber.toString().endsWith("/runnable");
  }
}
