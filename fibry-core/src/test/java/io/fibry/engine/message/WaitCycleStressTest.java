package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.Job;
import io.fibry.Promise;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.StressHarness;
import io.fibry.Variants;
import io.fibry.Waits;
import io.fibry.engine.cell.Cell;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Actors that wait for each other at random. No cycle may be missed: no cycle may last after all
 * its members have looked for it. All waits have a limit, too, and no wait may end by it. The limit
 * is long, because a wait without a cycle lasts on a machine that is short of processors. No alarm
 * may be false: a handler that is told pauses, and meanwhile all members that wait for it, directly
 * or through others, must stay where they are. There are two exceptions: members behind a member
 * that was told, since that member continues, and members behind a wait for room, since a withdrawn
 * request makes room.
 */
class WaitCycleStressTest {
  private static final long SEED = StressHarness.seed();
  private static final Duration LONG =
      Soak.ON ? Duration.ofSeconds(60) : Duration.ofMillis(600);
  private static final Duration LONGEST = Duration.ofHours(1);
  private static final long PAUSE = 20_000_000; // ns between two looks of the judge
  private static final int LOOKS = 5; // that a ring stands until it counts as missed
  private static final Strategy POOL =
      Strategy.of(Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory()));
  private static final Strategy[] STRATEGIES =
      {Strategy.FIBER, Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, POOL, Strategy.CALLER};

  private Strategy[] strategies = STRATEGIES;
  final Queue<String> faults = new ConcurrentLinkedQueue<>();
  final AtomicInteger alarms = new AtomicInteger();
  private final AtomicInteger checked = new AtomicInteger();
  private volatile boolean over; // all visits are answered, and what still runs may be refused

  /** For a simulation, which has no threads but its own. */
  static WaitCycleStressTest of(Strategy... strategies) {
    var test = new WaitCycleStressTest();
    test.strategies = strategies;
    return test;
  }

  /** Visits an actor, which visits others, up to {@code depth} levels deep. */
  record Visit(long seed, int depth) implements Request<Visit, Integer> {}

  private static final class Step {
    final Member target;
    final boolean room;
    final long begun = System.nanoTime();
    volatile long told; // when it was told of a cycle, or 0

    Step(Member target, boolean room) {
      this.target = target;
      this.room = room;
    }
  }

  private final class Member {
    final int number;
    final Actor<Object> actor;
    final List<Member> all;
    volatile Step now; // the current wait, or null
    volatile Step lastTold;

    Member(ActorScope scope, int number, List<Member> all, Random random) {
      this.number = number;
      this.all = all;
      boolean bounded = random.nextInt(4) == 0;
      var builder = scope.named("" + number).strategy(strategies[random.nextInt(strategies.length)])
          .mailbox(bounded ? Mailbox.bounded(2, Overflow.BLOCK) : Mailbox.unbounded());
      if (random.nextInt(3) == 0) builder = builder.inlineRequests();
      this.actor = builder.newActor(this::handle);
    }

    private void handle(Object message, ActorContext<Object> context) {
      if (!(message instanceof Visit visit)) return;
      var random = new Random(visit.seed());
      int steps = visit.depth() == 0 ? 0 : random.nextInt(3);
      int answerAt = random.nextInt(4) == 0 ? random.nextInt(steps + 1) : steps;
      for (int i = 0; i <= steps; i++) {
        if (i == answerAt) answer(visit, context, random);
        else step(random, visit.depth());
      }
    }

    private void answer(Visit visit, ActorContext<Object> context, Random random) {
      if (random.nextInt(4) > 0) context.reply(visit, number);
      else context.replyWhen(visit,
          CompletableFuture.supplyAsync(() -> later(random.nextInt(500_000)), Thread::startVirtualThread));
    }

    private Integer later(int nanos) {
      pause(nanos);
      return number;
    }

    private void step(Random random, int depth) {
      pause(random.nextInt(20_000));
      var target = all.get(random.nextInt(all.size()));
      if (target == this) return;
      int kind = random.nextInt(7);
      var visit = new Visit(random.nextLong(), depth - 1);
      var step = new Step(target, kind == 6);
      now = step;
      try {
        visit(target.actor, visit, kind);
        now = null;
      } catch (AskCycleException told) {
        alarms.incrementAndGet();
        step.told = System.nanoTime();
        lastTold = step;
        check(told, step);
        now = null;
      } catch (Exception failure) {
        now = null;
        if (!over || !failure.toString().contains("ActorStopped"))
          faults.add(number + " waited for " + target.number + " (" + kind + ") in vain: " + failure);
      }
    }

    private void visit(Actor<Object> target, Visit visit, int kind) throws Exception {
      switch (kind) {
        case 0, 1 -> target.ask(visit);
        case 2 -> target.ask(visit, LONGEST);
        case 3 -> target.sendMessageReturn(visit).get(LONGEST.toNanos(), TimeUnit.NANOSECONDS);
        case 4 -> target.sendMessageReturn(visit).orTimeout(LONGEST.toNanos(), TimeUnit.NANOSECONDS).join();
        case 5 -> {
          var chained = target.sendMessageReturn(visit);
          chained.thenRun(() -> pause(1_000));
          chained.get(LONGEST.toNanos(), TimeUnit.NANOSECONDS);
        }
        default -> target.sendMessage("needs room");
      }
    }

    /** Checks the ring, pauses, and checks that its members still wait. */
    private void check(AskCycleException told, Step mine) {
      var ring = told.cycle().stream().map(name -> all.get(Integer.parseInt(name))).toList();
      if (ring.getFirst() != this || ring.getLast() != this || ring.get(1) != mine.target)
        faults.add(number + " was told of somebody else's ring: " + told);
      var blocked = new ArrayList<Step>();
      int at = ring.size() - 2; // the member that waits for this one
      for (; at > 0; at--) {
        var step = ring.get(at).now;
        if (toldSince(ring.get(at), mine) || step != null && step.room) break;
        if (step == null || step.target != ring.get(at + 1))
          faults.add("false alarm: " + ring.get(at).number + " waits for nobody, or for another: " + told);
        blocked.add(step);
      }
      pause(2_000_000);
      for (int i = 0, one = ring.size() - 2; i < blocked.size(); i++, one--) {
        if (toldSince(ring.get(one), mine)) return;
        if (ring.get(one).now != blocked.get(i))
          faults.add("false alarm: " + ring.get(one).number + " went on: " + told);
        checked.incrementAndGet();
      }
    }

    private static boolean toldSince(Member member, Step mine) {
      var last = member.lastTold;
      return last != null && last.told - mine.begun >= 0;
    }
  }

  /**
   * A cycle that lasts was missed, however long its members wait, because they do not look again.
   */
  private void judge(List<Member> members, CountDownLatch done) {
    var looks = new HashMap<Set<Wait>, Integer>();
    while (done.getCount() > 0) {
      var rings =
          members.stream().map(WaitCycleStressTest::ring).filter(ring -> !ring.isEmpty()).collect(Collectors.toSet());
      looks.keySet().retainAll(rings);
      for (var ring : rings) if (looks.merge(ring, 1, Integer::sum) == LOOKS) faults.add("a ring was missed: " + ring);
      pause(PAUSE);
    }
  }

  /**
   * The waits from this member back to it. Empty if there are no such waits, or if a member has yet
   * to look.
   */
  private static Set<Wait> ring(Member member) {
    var ring = new LinkedHashSet<Wait>();
    var first = looked(member.actor);
    var next = first;
    while (next != null && ring.add(next)) next = looked(next.target);
    return next == first ? ring : Set.of();
  }

  /**
   * Returns the wait of its handler, if the handler has looked for a cycle and is parked. Else
   * null.
   */
  private static Wait looked(Object actor) {
    var handler = ((Cell) actor).blocker();
    var thread = handler == null ? null : handler.thread;
    var wait = thread == null ? null : handler.currentWait();
    if (wait == null || wait.isOver() || !Patience.isParked(thread)) return null;
    // it also parks while it waits for the text of an alarm
    boolean looks =
        Stream.of(thread.getStackTrace()).anyMatch(frame -> frame.getClassName().equals(WaitCycle.class.getName()));
    return looks || handler.currentWait() != wait ? null : wait;
  }

  private static void pause(long nanos) {
    long end = System.nanoTime() + nanos;
    while (System.nanoTime() - end < 0) LockSupport.parkNanos(end - System.nanoTime());
  }

  /** Each member waits at the same moment, as far as possible. */
  @Promise("4.18")
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void actorIsToldWhenAllMembersCloseCycleTogether(int size) {
    System.out.println("rings closed together: -Dfibry.seed=" + SEED);
    var scope = Variants.scope(o -> o);
    var random = new Random(SEED);
    var members = Stream.generate(() -> Job.worker(scope.anonymous().strategy(Strategy.THREAD))).limit(size).toList();
    long end = System.nanoTime() + LONG.toNanos() / 3;

    for (int round = 0; System.nanoTime() - end < 0; round++) {
      var together = new AtomicInteger(size);
      var outcomes = new ArrayList<CompletableFuture<Object>>();
      for (int i = 0; i < size; i++) {
        var next = members.get((i + 1) % size);
        int late = random.nextInt(8);
        outcomes.add(Job.start(members.get(i), new Job("member", () -> {
          together.decrementAndGet();
          while (together.get() > 0) Thread.onSpinWait();
          for (int spin = 0; spin < late; spin++) Thread.onSpinWait();
          return next.ask("x", LONGEST);
        })));
      }
      Patience.eventually("a ring was missed", () -> outcomes.stream().allMatch(CompletableFuture::isDone));
      long told = outcomes.stream().filter(outcome -> outcome.join() instanceof AskCycleException).count();
      assertTrue(told > 0, () -> "a ring was missed: " + outcomes);
    }
    for (var member : members) member.kill();
  }

  @Promise("4.18")
  @Test
  void everyCycleIsFoundAndNoAlarmIsFalse() {
    System.out.println("rings: -Dfibry.seed=" + SEED);
    var random = new Random(SEED);
    long end = System.nanoTime() + LONG.toNanos();

    while ((System.nanoTime() - end < 0 || !sawEnough()) && faults.isEmpty()) round(random);

    assertEquals(List.of(), List.copyOf(faults), () -> "seed " + SEED);
    System.out.println("rings: " + alarms + " alarms, " + checked + " waits checked");
  }

  /** A busy machine needs more time for it. */
  private boolean sawEnough() {
    return alarms.get() > 20 && checked.get() > 20;
  }

  void round(Random random) {
    var scope = ActorSystem.openScope("rings", o -> o.withAskLimit(LONGEST));
    var members = new ArrayList<Member>();
    int size = 2 + random.nextInt(4);
    for (int i = 0; i < size; i++) members.add(new Member(scope, i, members, random));
    int visits = 20;
    var done = new CountDownLatch(visits);
    Thread.ofPlatform().daemon().start(() -> judge(members, done));
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
    Waits.explained(() -> Patience.await(done),
        () -> "it hangs, seed " + SEED + faults);
    over = true;
    for (var member : members) member.actor.close();
    over = false;
    scope.close();
  }
}
