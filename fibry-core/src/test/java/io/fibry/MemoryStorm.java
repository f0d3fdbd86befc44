package io.fibry;

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
 * For a child JVM with a small heap: again and again it is full, while actors of several kinds
 * work. Every ask must end by its limit, and every scope within limit and grace. Afterwards a plain
 * actor answers or has ended, unless the JDK has lost its fiber.
 */
final class MemoryStorm {
  private static final Duration LIMIT = Duration.ofSeconds(1);
  private static final Duration SHORT = Duration.ofNanos(1);
  private static final Duration PATIENCE = Duration.ofSeconds(5); // on Pace, which collections slow down
  private static final int MOST_TRIES = 3; // with a short limit
  private static final int KEYS = 20;
  private static final int MOST_FAULTS = 3; // shown; others are like them

  private static volatile boolean storms = true;
  private static boolean runsFibers = true; // of the main thread

  private MemoryStorm() {}

  /** @param args the seed, and how many rounds to storm */
  public static void main(String[] args) throws InterruptedException {
    var random = new SplittableRandom(Long.parseLong(args[0]));
    int rounds = Integer.parseInt(args[1]);
    int round = 0;
    Pace.nanoTime(); // starts its thread while there is memory
    List<String> faults = List.of();
    // calm at first: a class that is initialized without memory fails for ever
    for (int calm = 0; calm < 3; calm++) faults = play(random.split(), false);
    for (; round < rounds && faults.isEmpty() && runsFibers; round++) faults = play(random.split(), true);
    System.out.println(faults.isEmpty() ? "all well after " + round + " rounds" : "faults: " + faults);
    System.exit(faults.isEmpty() ? 0 : 1);
  }

  private static List<String> play(SplittableRandom random, boolean full) throws InterruptedException {
    var faults = new CopyOnWriteArrayList<String>();
    var scope = ActorSystem.openScope("storm", options -> options.withKillGrace(LIMIT));
    var how = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog());
    var actors = new LinkedHashMap<String, ActorWithReturn<Integer, Integer>>();
    actors.put("fiber", how.newActorWithReturn((Integer i) -> i));
    actors.put("thread", how.strategy(Strategy.THREAD).newActorWithReturn((Integer i) -> i));
    actors.put("pool", Pools.fixed(how, 2).newActorWithReturn((Integer i) -> i));
    actors.put("pool by key", Pools.byKey(how, 2, (Integer i) -> i & 3).newActorWithReturn((Integer i) -> i));
    var entities = Entities.open(how, Duration.ofMillis(5),
        (ActorBuilder<Object> one, Integer key) -> one.newActor(MemoryStorm::answer));
    storms = true;
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < 4; i++) {
      var mine = random.split();
      threads.add(Thread.ofPlatform().daemon().unstarted(() -> ask(mine, actors, entities, faults)));
    }
    threads.forEach(Thread::start);
    for (int i = 0; i < 10; i++) {
      if (full) fill(random);
      else LockSupport.parkNanos(20_000_000);
    }
    storms = false;
    threads.forEach(Patience::joined);
    for (var name : List.of("fiber", "thread")) answers(name, actors.get(name), faults);
    if (!faults.isEmpty()) faults.add(scope.dump());
    var closer = Thread.ofPlatform().daemon().start(() -> scope.closeWithin(LIMIT));
    Patience.joined(closer);
    return faults;
  }

  record Number(int value) implements Request<Number, Integer> {}

  private static void answer(Number number, ActorContext<Number> context) {
    context.reply(number, number.value());
  }

  private static void ask(SplittableRandom random, Map<String, ActorWithReturn<Integer, Integer>> actors,
      Entities<Integer, Number> entities, List<String> faults) {
    var all = List.copyOf(actors.values());
    while (storms) {
      long began = Pace.nanoTime();
      try {
        int next = random.nextInt(all.size() + 2);
        if (next < all.size()) all.get(next).ask(random.nextInt(100), random.nextInt(20) == 0 ? SHORT : LIMIT);
        else entities.actor(random.nextInt(KEYS)).ask(new Number(1), LIMIT);
      } catch (RequestException | OutOfMemoryError told) {
        LockSupport.parkNanos(100_000);
      } catch (Throwable other) {
        if (!isOfMemory(other) && faults.size() < MOST_FAULTS)
          faults.add("told " + other + " " + List.of(other.getStackTrace()));
      }
      if (Pace.nanoTime() - began > PATIENCE.toNanos()) faults.add("an ask ended late");
    }
  }

  private static boolean isOfMemory(Throwable told) {
    return told.getCause() instanceof OutOfMemoryError
        || String.valueOf(told.getMessage()).contains("no stack or memory left");
  }

  private static void fill(SplittableRandom random) {
    var hog = new AtomicReference<Object>();
    try {
      for (int size = 1 << 20; size > 16;) {
        try {
          hog.set(new Object[] {hog.get(), new byte[size]});
        } catch (OutOfMemoryError full) {
          size /= 8; // each time costs collections of the whole heap
        }
      }
    } catch (OutOfMemoryError full) {}
    LockSupport.parkNanos(1_000_000 + random.nextInt(30_000_000));
    hog.set(null);
    LockSupport.parkNanos(1_000_000 + random.nextInt(5_000_000));
  }

  /**
   * Or has ended, as an OutOfMemoryError in its handler ends it. Where the JDK lost its fiber, the
   * first ask whose limit is over gets it another.
   */
  private static void answers(String name, ActorWithReturn<Integer, Integer> actor, List<String> faults) {
    for (int tries = 1;; tries++) {
      try {
        actor.ask(1, tries <= MOST_TRIES ? LIMIT : Patience.LONG);
        return;
      } catch (ActorStoppedException ended) {
        return;
      } catch (RuntimeException mute) {
        if (tries < MOST_TRIES) continue;
        runsFibers = runsFibers();
        if (!runsFibers || isLost(actor)) {
          System.out.println("the JDK has lost fibers");
          return;
        }
        if (tries > MOST_TRIES) {
          faults.add(name + " is mute: " + mute.getMessage());
          return;
        }
      }
    }
  }

  /** Without memory the JDK may lose all carriers, for ever. */
  private static boolean runsFibers() {
    try {
      var fiber = Thread.startVirtualThread(() -> {});
      for (long begun = Pace.nanoTime(); fiber.isAlive() && Pace.nanoTime() - begun < PATIENCE.toNanos();)
        LockSupport.parkNanos(10_000_000);
      return !fiber.isAlive();
    } catch (OutOfMemoryError never) {
      return false;
    }
  }

  /** Nor does it ever run this one again: it may run, but does not, though others do. */
  private static boolean isLost(Object actor) {
    var drain = ((Cell) actor).drain();
    var fiber = drain == null ? null : drain.thread;
    return fiber != null && fiber.toString().endsWith("/runnable"); // and not "runnable@carrier"
  }
}
