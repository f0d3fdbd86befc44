package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.AskCycleException;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
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
 * Stress test of the detection of wait cycles with pools. Pools and actors wait for each other at
 * random.
 *
 * <p>No cycle may be missed. Each wait for an answer has a limit, and the test fails if a wait
 * reaches its limit. Waits for capacity have no limit. The limit is long, because a wait without a
 * cycle can take long on a machine that is short of processors.
 *
 * <p>No alarm may be false. A handler that gets the exception of a cycle pauses before it
 * continues. The answer for which it waited must not come during the pause, unless another handler
 * that got such an exception has continued.
 */
class PoolWaitCycleStressTest {
  private static final Duration WAIT_LIMIT = Duration.ofHours(1);
  private static final int MIN_ALARMS = 20;
  private static final Strategy EXECUTOR =
      Strategy.of(Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory()));
  private static final Strategy[] STRATEGIES =
      {Strategy.FIBER, Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, EXECUTOR, Strategy.CALLER};

  private final Queue<String> violations = new ConcurrentLinkedQueue<>();
  private final AtomicInteger alarms = new AtomicInteger();
  // number of handlers that got the exception of a cycle and have continued
  private final AtomicInteger releasedHandlers = new AtomicInteger();
  // if true, steps may be refused
  private volatile boolean actorsClosing;

  /** Visits an actor, whose handler visits other actors, up to {@code depth} levels deep. */
  record Visit(long seed, int depth) implements Request<Visit, Integer> {
    int modulo(int divisor) {
      return (int) Math.floorMod(seed, (long) divisor);
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
      // only actors use CALLER, because several workers of a pool could then share a thread
      if (choice > 0 && strategy == Strategy.CALLER) strategy = Strategy.FIBER;
      var builder = scope.named("" + number).strategy(strategy).mailbox(
          random.nextInt(3) == 0 ? Mailbox.bounded(1 + random.nextInt(3), Overflow.BLOCK) : Mailbox.unbounded());
      this.kind = List.of("actor", "fixed", "fixed", "scaling", "byKey", "weighted").get(choice) + " " + size + ", "
          + BlockBuilder.of(builder).strategy() + ", " + BlockBuilder.of(builder).mailbox();
      var poolBuilder = switch (choice) {
        case 0 -> builder;
        case 1, 2 -> Pools.fixed(builder, size);
        case 3 -> Pools.scaling(builder, size / 2, size);
        case 4 -> Pools.byKey(builder, size, (Object message) -> message instanceof Visit visit ? visit.modulo(2) : 0);
        default -> Pools.weighted(builder, size,
            (Object message) -> message instanceof Visit visit ? 1 + visit.modulo(size) : 1);
      };
      this.actor = poolBuilder.newActor(this::handle);
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
        else if (verb == 1) target.actor.sendMessage("needs capacity");
        else wait(target, visit);
      } catch (AskCycleException cycle) {
        alarms.incrementAndGet();
        releasedHandlers.incrementAndGet();
      } catch (Exception failure) {
        if (!actorsClosing || !failure.toString().contains("ActorStopped"))
          violations.add(kind + " waited for " + target.kind + " (" + verb + ") in vain: " + failure + "\n"
              + (target.scope).dump());
      }
    }

    private void wait(Member target, Visit visit) throws Exception {
      var answer = target.actor.sendMessageReturn(visit);
      int releasedBefore = releasedHandlers.get();
      try {
        answer.get(WAIT_LIMIT.toNanos(), TimeUnit.NANOSECONDS);
      } catch (AskCycleException cycle) {
        alarms.incrementAndGet();
        check(answer, releasedBefore, cycle);
        releasedHandlers.incrementAndGet();
      } catch (TimeoutException timeout) {
        throw new IllegalStateException("no handler got the exception of a cycle", timeout);
      }
    }

    /**
     * Reports a false alarm if the answer came during the pause although no other handler has
     * continued. A handler counts itself shortly after it has continued, so the check waits a while
     * for the count to change.
     */
    private void check(CompletableFuture<Integer> answer, int releasedBefore, AskCycleException cycle) {
      pause(2_000_000);
      if (!answer.isDone() || actorsClosing) return;
      if (!Patience.comesTrue(() -> releasedHandlers.get() != releasedBefore)) violations.add("false alarm: " + cycle);
    }
  }

  private static void pause(long nanos) {
    long end = System.nanoTime() + nanos;
    while (System.nanoTime() - end < 0) LockSupport.parkNanos(end - System.nanoTime());
  }

  @Test
  void detectionFindsEveryCycleAndRaisesNoFalseAlarm() {
    long seed = StressRuns.seed();
    System.out.println("cycles of pools:  -Dfibry.seed=" + seed);
    var random = new Random(seed);
    long end = System.nanoTime()
        + Duration.ofMillis(Soak.ON ? 60_000 : 600).toNanos();
    int rounds = 0;

    // a busy machine needs more time than others to produce enough alarms
    for (; (System.nanoTime() - end < 0 || alarms.get() <= MIN_ALARMS) && violations.isEmpty(); rounds++)
      round(random, seed);

    assertEquals(List.of(), List.copyOf(violations), () -> "seed " + seed);
    System.out.println("cycles of pools:  " + rounds + " rounds, " + alarms + " alarms");
  }

  private void round(Random random, long seed) {
    var scope = Variants.scope(o -> o.withAskLimit(WAIT_LIMIT));
    var members = new ArrayList<Member>();
    int size = 2 + random.nextInt(3);
    for (int i = 0; i < size; i++) members.add(new Member(scope, i, members, random));
    int visits = 12;
    var visitsEnded = new CountDownLatch(visits);
    for (int i = 0; i < visits; i++) {
      var firstMember = members.get(random.nextInt(size));
      var visit = new Visit(random.nextLong(), 4);
      Thread.startVirtualThread(() -> {
        firstMember.actor.sendMessageReturn(visit).handle((answer, failure) -> {
          if (failure != null) violations.add("a visit failed: " + failure);
          visitsEnded.countDown();
          return null;
        });
      });
    }
    StressRuns.runWithState(() -> Patience.await(visitsEnded), () -> "a visit hangs, "
        + "seed " + seed + ": " + members.stream().map(member -> member.kind).toList() + violations + scope.dump());
    actorsClosing = true;
    for (var member : members) member.actor.close();
    actorsClosing = false;
  }
}
