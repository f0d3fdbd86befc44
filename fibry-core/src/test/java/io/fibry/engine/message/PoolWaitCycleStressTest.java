package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.AskCycleException;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.StressHarness;
import io.fibry.Variants;
import io.fibry.Waits;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * Pools and actors that wait for each other at random. No cycle may be missed: waits for an answer
 * have a limit, and no wait may end by it; waits for room have none. The limit is long, since a
 * wait lasts on a machine that is short of processors, without a ring. No alarm may be false: a
 * handler that is told of a cycle pauses for a while, and its answer must not come meanwhile,
 * unless another handler that was told has continued.
 */
class PoolWaitCycleStressTest {
  private static final Duration LONGEST = Duration.ofHours(1);
  private static final int ENOUGH = 20; // alarms
  private static final Strategy EXECUTOR =
      Strategy.of(Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory()));
  private static final Strategy[] STRATEGIES =
      {Strategy.FIBER, Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, EXECUTOR, Strategy.CALLER};

  private final Queue<String> faults = new ConcurrentLinkedQueue<>();
  private final AtomicInteger alarms = new AtomicInteger();
  // handlers that were told and have continued
  private final AtomicInteger released = new AtomicInteger();
  private volatile boolean over; // all visits are answered, and what still runs may be refused

  /** Visits an actor, which visits others, up to {@code depth} levels deep. */
  record Visit(long seed, int depth) implements Request<Visit, Integer> {
    int part(int of) {
      return (int) Math.floorMod(seed, (long) of);
    }
  }

  private final class Member {
    final String kind;
    final ActorScope scope;
    final Actor<Object> actor;
    final List<Member> all;

    Member(ActorScope scope, int number, List<Member> all, Random random) {
      this.scope = scope;
      this.all = all;
      int size = 1 + random.nextInt(3);
      int choice = random.nextInt(6);
      var strategy = STRATEGIES[random.nextInt(STRATEGIES.length)];
      // on CALLER several workers may share a thread
      if (choice > 0 && strategy == Strategy.CALLER) strategy = Strategy.FIBER;
      var builder = scope.named("" + number).strategy(strategy).mailbox(
          random.nextInt(3) == 0 ? Mailbox.bounded(1 + random.nextInt(3), Overflow.BLOCK) : Mailbox.unbounded());
      this.kind = List.of("actor", "fixed", "fixed", "scaling", "byKey", "weighted").get(choice) + " " + size + ", "
          + BlockBuilder.of(builder).strategy() + ", " + BlockBuilder.of(builder).mailbox();
      var made = switch (choice) {
        case 0 -> builder;
        case 1, 2 -> Pools.fixed(builder, size);
        case 3 -> Pools.scaling(builder, size / 2, size);
        case 4 -> Pools.byKey(builder, size, (Object message) -> message instanceof Visit visit ? visit.part(2) : 0);
        default -> Pools.weighted(builder, size,
            (Object message) -> message instanceof Visit visit ? 1 + visit.part(size) : 1);
      };
      this.actor = made.newActor(this::handle);
    }

    private void handle(Object message, ActorContext<Object> context) {
      if (!(message instanceof Visit visit)) return;
      var random = new Random(visit.seed());
      int steps = visit.depth() == 0 ? 0 : random.nextInt(3);
      for (int i = 0; i < steps; i++) step(random, visit.depth());
      context.reply(visit, 1);
    }

    private void step(Random random, int depth) {
      pause(random.nextInt(20_000));
      var target = all.get(random.nextInt(all.size()));
      var visit = new Visit(random.nextLong(), depth - 1);
      int verb = random.nextInt(5);
      try {
        if (verb == 0) target.actor.ask(visit);
        else if (verb == 1) target.actor.sendMessage("needs room");
        else wait(target, visit);
      } catch (AskCycleException told) {
        alarms.incrementAndGet();
        released.incrementAndGet();
      } catch (Exception failure) {
        if (!over || !failure.toString().contains("ActorStopped")) faults.add(kind + " waited for " + target.kind + " ("
            + verb + ") in vain: " + failure + "\n" + (target.scope).dump());
      }
    }

    private void wait(Member target, Visit visit) throws Exception {
      var answer = target.actor.sendMessageReturn(visit);
      int before = released.get();
      try {
        answer.get(LONGEST.toNanos(), TimeUnit.NANOSECONDS);
      } catch (AskCycleException told) {
        alarms.incrementAndGet();
        check(answer, before, told);
        released.incrementAndGet();
      } catch (TimeoutException late) {
        throw new IllegalStateException("nobody was told of a ring", late);
      }
    }

    /**
     * If the answer came because another handler was told, that handler may not have counted itself
     * yet: waits for it, until its thread had time on any machine.
     */
    private void check(CompletableFuture<Integer> answer, int before, AskCycleException told) {
      pause(2_000_000);
      if (!answer.isDone() || over) return;
      if (!Patience.comesTrue(() -> released.get() != before)) faults.add("false alarm: " + told);
    }
  }

  private static void pause(long nanos) {
    long end = System.nanoTime() + nanos;
    while (System.nanoTime() - end < 0) LockSupport.parkNanos(end - System.nanoTime());
  }

  @Test
  void everyCycleIsFoundAndNoAlarmIsFalse() {
    long seed = StressHarness.seed();
    System.out.println("rings of pools: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    long end = System.nanoTime()
        + Duration.ofMillis(Soak.ON ? 60_000 : 600).toNanos();
    int rounds = 0;

    // a busy machine needs more time to see enough
    for (; (System.nanoTime() - end < 0 || alarms.get() <= ENOUGH) && faults.isEmpty(); rounds++) round(random, seed);

    assertEquals(List.of(), List.copyOf(faults), () -> "seed " + seed);
    System.out.println("rings of pools: " + rounds + " rounds, " + alarms + " alarms");
  }

  private void round(Random random, long seed) {
    var scope = Variants.scope(o -> o.withAskLimit(LONGEST));
    var members = new ArrayList<Member>();
    int size = 2 + random.nextInt(3);
    for (int i = 0; i < size; i++) members.add(new Member(scope, i, members, random));
    int visits = 12;
    var done = new CountDownLatch(visits);
    for (int i = 0; i < visits; i++) {
      var first = members.get(random.nextInt(size));
      var visit = new Visit(random.nextLong(), 4);
      Thread.startVirtualThread(() -> {
        first.actor.sendMessageReturn(visit).handle((answer, failure) -> {
          if (failure != null) faults.add("a visit failed: " + failure);
          done.countDown();
          return null;
        });
      });
    }
    Waits.explained(() -> Patience.await(done), () -> "it hangs, "
        + "seed " + seed + ": " + members.stream().map(member -> member.kind).toList() + faults + scope.dump());
    over = true;
    for (var member : members) member.actor.close();
    over = false;
  }
}
