package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.engine.cell.Cell;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Job;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
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
 * Stress test of the detection of wait cycles. Actors wait for each other at random.
 *
 * <p>No cycle may be missed. The test fails if a cycle lasts although each member has searched for
 * it, if a request reaches its limit, or if a visit hangs. The limit is long, because a wait
 * without a cycle can take long on a machine that is short of processors.
 *
 * <p>No alarm may be false. A handler that gets the exception of a cycle pauses. After the pause,
 * all members that wait for this handler, directly or through others, must still wait. There are
 * two exceptions. If another member got an exception, the members that wait for that member may
 * continue. If a member waits for capacity, a withdrawn request may have freed it; then this
 * member, and the members that wait for it, may continue.
 */
class WaitCycleStressTest {
  private static final long SEED = StressRuns.seed();
  private static final Duration TEST_TIME = Soak.ON ? Duration.ofSeconds(60) : Duration.ofMillis(600);
  private static final Duration WAIT_LIMIT = Duration.ofHours(1);
  private static final long CHECK_INTERVAL = 20_000_000; // ns between two checks for missed cycles
  private static final int CHECKS_UNTIL_MISSED = 5; // a cycle that lasts longer was missed
  private static final Strategy POOL =
      Strategy.of(Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory()));
  private static final Strategy[] STRATEGIES =
      {Strategy.FIBER, Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, POOL, Strategy.CALLER};

  private Strategy[] strategies = STRATEGIES;
  final Queue<String> violations = new ConcurrentLinkedQueue<>();
  final AtomicInteger alarms = new AtomicInteger();
  private final AtomicInteger waitsChecked = new AtomicInteger();
  private volatile boolean actorsClosing; // if true, steps may be refused

  /** Creates a test for a simulation, which permits no threads except its own. */
  static WaitCycleStressTest withStrategies(Strategy... strategies) {
    var test = new WaitCycleStressTest();
    test.strategies = strategies;
    return test;
  }

  /** Visits an actor, whose handler visits other actors, up to {@code depth} levels deep. */
  record Visit(long seed, int depth) implements Request<Visit, Integer> {}

  /** A way in which a member sends to another member, and then waits. */
  private enum Send {
    ASK, ASK_WITHIN_LIMIT, GET_FUTURE, JOIN_FUTURE_WITH_TIMEOUT, GET_FUTURE_WITH_DEPENDENT, MESSAGE_TO_FULL_MAILBOX
  }

  private static final Send[] SENDS = {Send.ASK, Send.ASK, Send.ASK_WITHIN_LIMIT, Send.GET_FUTURE,
    Send.JOIN_FUTURE_WITH_TIMEOUT, Send.GET_FUTURE_WITH_DEPENDENT, Send.MESSAGE_TO_FULL_MAILBOX};

  private static final class Step {
    final Member target;
    final boolean forCapacity; // whether the step waits for capacity
    final long startNanos = System.nanoTime();
    volatile long alarmNanos; // when the step got the exception, or 0

    Step(Member target, boolean forCapacity) {
      this.target = target;
      this.forCapacity = forCapacity;
    }
  }

  private final class Member {
    final int number;
    final Actor<Object> actor;
    final List<Member> all;
    volatile Step currentStep; // the step that waits at present, or null
    volatile Step lastAlarmed;

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
      var send = SENDS[random.nextInt(SENDS.length)];
      var visit = new Visit(random.nextLong(), depth - 1);
      var step = new Step(target, send == Send.MESSAGE_TO_FULL_MAILBOX);
      currentStep = step;
      try {
        visit(target.actor, visit, send);
        currentStep = null;
      } catch (AskCycleException alarm) {
        alarms.incrementAndGet();
        step.alarmNanos = System.nanoTime();
        lastAlarmed = step;
        check(alarm, step);
        currentStep = null;
      } catch (Exception failure) {
        currentStep = null;
        if (!actorsClosing || !failure.toString().contains("ActorStopped"))
          violations.add(number + " waited for " + target.number + " in vain, by " + send + ": " + failure);
      }
    }

    private void visit(Actor<Object> target, Visit visit, Send send) throws Exception {
      switch (send) {
        case ASK -> target.ask(visit);
        case ASK_WITHIN_LIMIT -> target.ask(visit, WAIT_LIMIT);
        case GET_FUTURE -> target.sendMessageReturn(visit).get(WAIT_LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        case JOIN_FUTURE_WITH_TIMEOUT -> target.sendMessageReturn(visit)
            .orTimeout(WAIT_LIMIT.toNanos(), TimeUnit.NANOSECONDS).join();
        case GET_FUTURE_WITH_DEPENDENT -> {
          var future = target.sendMessageReturn(visit);
          future.thenRun(() -> pause(1_000));
          future.get(WAIT_LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        }
        case MESSAGE_TO_FULL_MAILBOX -> target.sendMessage("needs capacity");
      }
    }

    /** Checks that the members of the cycle wait, pauses, and checks that they still wait. */
    private void check(AskCycleException alarm, Step ownStep) {
      var cycle = alarm.cycle().stream().map(name -> all.get(Integer.parseInt(name))).toList();
      if (cycle.getFirst() != this || cycle.getLast() != this || cycle.get(1) != ownStep.target)
        violations.add(number + " got the exception of another cycle: " + alarm);
      var blockedSteps = new ArrayList<Step>();
      int position = cycle.size() - 2; // index of the member that waits for this member
      for (; position > 0; position--) {
        var step = cycle.get(position).currentStep;
        if (alarmedSince(cycle.get(position), ownStep) || step != null && step.forCapacity) break;
        if (step == null || step.target != cycle.get(position + 1))
          violations
              .add("false alarm: " + cycle.get(position).number + " does not wait, or waits for another: " + alarm);
        blockedSteps.add(step);
      }
      pause(2_000_000);
      for (int i = 0; i < blockedSteps.size(); i++) {
        int waiter = cycle.size() - 2 - i;
        if (alarmedSince(cycle.get(waiter), ownStep)) return;
        if (cycle.get(waiter).currentStep != blockedSteps.get(i))
          violations.add("false alarm: " + cycle.get(waiter).number + " continued: " + alarm);
        waitsChecked.incrementAndGet();
      }
    }

    private static boolean alarmedSince(Member member, Step ownStep) {
      var lastStep = member.lastAlarmed;
      return lastStep != null && lastStep.alarmNanos - ownStep.startNanos >= 0;
    }
  }

  /**
   * Reports each cycle that lasts for several checks. Such a cycle was missed, because its members
   * do not search again.
   */
  private void reportMissedCycles(List<Member> members, CountDownLatch visitsEnded) {
    var checks = new HashMap<Set<Wait>, Integer>();
    while (visitsEnded.getCount() > 0) {
      var cycles =
          members.stream().map(WaitCycleStressTest::cycleOf).filter(x -> !x.isEmpty()).collect(Collectors.toSet());
      checks.keySet().retainAll(cycles);
      for (var cycle : cycles)
        if (checks.merge(cycle, 1, Integer::sum) == CHECKS_UNTIL_MISSED) violations.add("a cycle was missed: " + cycle);
      pause(CHECK_INTERVAL);
    }
  }

  /**
   * Returns the waits that lead from the member back to itself. Returns an empty set if there is no
   * such cycle, or if a member has not finished its search.
   */
  private static Set<Wait> cycleOf(Member member) {
    var cycle = new LinkedHashSet<Wait>();
    var firstWait = searchedWait(member.actor);
    var next = firstWait;
    while (next != null && cycle.add(next)) next = searchedWait(next.target);
    return next == firstWait ? cycle : Set.of();
  }

  /**
   * Returns the wait of the actor's handler. Returns null if the handler is not parked, or has not
   * finished its search for a cycle.
   */
  private static Wait searchedWait(Object actor) {
    var handler = ((Cell) actor).blocker();
    var thread = handler == null ? null : handler.thread;
    var wait = thread == null ? null : handler.currentWait();
    if (wait == null || wait.isOver() || !Patience.isParked(thread)) return null;
    // a thread that parks inside WaitCycle has not finished its search
    boolean searches =
        Stream.of(thread.getStackTrace()).anyMatch(frame -> frame.getClassName().equals(WaitCycle.class.getName()));
    return searches || handler.currentWait() != wait ? null : wait;
  }

  private static void pause(long nanos) {
    long end = System.nanoTime() + nanos;
    while (System.nanoTime() - end < 0) LockSupport.parkNanos(end - System.nanoTime());
  }

  /** Lets all members begin to wait at nearly the same moment. */
  @Promise("4.18")
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void cycleIsFoundWhenAllItsActorsBeginToWaitTogether(int size) {
    System.out.println("cycles closed together: -Dfibry.seed=" + SEED);
    var scope = Variants.scope(o -> o);
    var random = new Random(SEED);
    var members = Stream.generate(() -> Job.worker(scope.anonymous().strategy(Strategy.THREAD))).limit(size).toList();
    long end = System.nanoTime() + TEST_TIME.toNanos() / 3;

    for (int round = 0; System.nanoTime() - end < 0; round++) {
      var membersToStart = new AtomicInteger(size);
      var outcomes = new ArrayList<CompletableFuture<Object>>();
      for (int i = 0; i < size; i++) {
        var next = members.get((i + 1) % size);
        int spins = random.nextInt(8);
        outcomes.add(Job.start(members.get(i), new Job("member", () -> {
          membersToStart.decrementAndGet();
          while (membersToStart.get() > 0) Thread.onSpinWait();
          for (int spin = 0; spin < spins; spin++) Thread.onSpinWait();
          return next.ask("x", WAIT_LIMIT);
        })));
      }
      Patience.eventually("a cycle was missed", () -> outcomes.stream().allMatch(CompletableFuture::isDone));
      long alarmCount = outcomes.stream().filter(outcome -> outcome.join() instanceof AskCycleException).count();
      assertTrue(alarmCount > 0, () -> "a cycle was missed: " + outcomes);
    }
    for (var member : members) member.kill();
  }

  @Promise("4.18")
  @Test
  void detectionFindsEveryCycleAndRaisesNoFalseAlarm() {
    System.out.println("cycles: -Dfibry.seed=" + SEED);
    var random = new Random(SEED);
    long end = System.nanoTime() + TEST_TIME.toNanos();

    while ((System.nanoTime() - end < 0 || !checkedEnough()) && violations.isEmpty()) round(random);

    assertEquals(List.of(), List.copyOf(violations), () -> "seed " + SEED);
    System.out.println("cycles: " + alarms + " alarms, " + waitsChecked + " waits checked");
  }

  /**
   * Returns whether the test has checked enough waits, which takes longer than {@link #TEST_TIME}
   * on a busy machine.
   */
  private boolean checkedEnough() {
    return alarms.get() > 20 && waitsChecked.get() > 20;
  }

  void round(Random random) {
    var scope = ActorSystem.openScope("cycles", o -> o.withAskLimit(WAIT_LIMIT));
    var members = new ArrayList<Member>();
    int size = 2 + random.nextInt(4);
    for (int i = 0; i < size; i++) members.add(new Member(scope, i, members, random));
    int visits = 20;
    var visitsEnded = new CountDownLatch(visits);
    Thread.ofPlatform().daemon().start(() -> reportMissedCycles(members, visitsEnded));
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
    StressRuns.runWithState(() -> Patience.await(visitsEnded),
        () -> "a visit hangs, seed " + SEED + violations);
    actorsClosing = true;
    for (var member : members) member.actor.close();
    actorsClosing = false;
    scope.close();
  }
}
