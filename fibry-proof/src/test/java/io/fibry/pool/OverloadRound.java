package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.MailboxFullException;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.simulation.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Repeats the ramp of {@code OverloadTest} in simulated time. Three services get the same load: at
 * first half their capacity, then their capacity, then three times their capacity, and at last 0.8
 * of it. A request takes three steps of 5 to 15 ms, each with one of four resources; its client
 * stops waiting after half a second. Two services refuse requests when too many wait. The third
 * starts a thread for each request.
 */
final class OverloadRound {
  private static final int RESOURCES = 4;
  private static final int STEPS = 3;
  private static final long MIN_STEP = TimeUnit.MILLISECONDS.toNanos(5); // ns that a step takes
  private static final long MAX_STEP = TimeUnit.MILLISECONDS.toNanos(15);
  private static final double CAPACITY = RESOURCES * 2e9 / STEPS / (MIN_STEP + MAX_STEP); // requests per second
  private static final Duration LIMIT = Duration.ofMillis(500);
  private static final int MAX_QUEUED = 16;
  private static final double MIN_SHARE = 0.9;

  private enum End {
    ANSWERED, REFUSED, TIMED_OUT
  }

  /** The outcome of a request for its client; times are in nanoseconds. */
  private record Outcome(long sent, long ended, End end, long work) {
    long duration() {
      return ended - sent;
    }
  }

  private record Span(long start, long end) {
    Span from(Duration offset) {
      return new Span(start + offset.toNanos(), end);
    }

    boolean contains(long time) {
      return start <= time && time < end;
    }

    double seconds() {
      return (end - start) / 1e9;
    }
  }

  private interface Service {
    void serve(Call call) throws Exception;
  }

  private final class Call {
    private final Trial trial;
    private final long sent = System.nanoTime();
    private final SplittableRandom callRandom = random.split();
    private long work;

    Call(Trial trial) {
      this.trial = trial;
    }

    void step() throws InterruptedException {
      if (System.nanoTime() - sent > LIMIT.toNanos()) trial.wastedSteps++;
      long time = callRandom.nextLong(MIN_STEP, MAX_STEP);
      work += time;
      TimeUnit.NANOSECONDS.sleep(time);
    }
  }

  private final class Trial {
    private final Service service;
    private final List<Outcome> outcomes = new ArrayList<>();
    private int wastedSteps; // steps after the client has stopped waiting

    Trial(Service service) {
      this.service = service;
    }

    Object ask() throws Exception {
      var call = new Call(this);
      var end = End.TIMED_OUT;
      try {
        service.serve(call);
        end = End.ANSWERED;
      } catch (MailboxFullException refused) {
        end = End.REFUSED;
      } catch (AskTimeoutException | TimeoutException timeout) {
        // the end stays TIMED_OUT
      } finally {
        waitingClients--;
      }
      return outcomes.add(new Outcome(call.sent, System.nanoTime(), end, call.work));
    }

    private List<Outcome> endedIn(Span span, End end) {
      return outcomes.stream().filter(outcome -> outcome.end == end && span.contains(outcome.ended)).toList();
    }

    /** Returns the answers per second. */
    double goodput(Span span) {
      return endedIn(span, End.ANSWERED).size() / span.seconds();
    }

    /**
     * Returns the answers per second that the resources allow, computed from the work of the
     * answered requests.
     */
    double capacity(Span span) {
      return RESOURCES * 1e9 / endedIn(span, End.ANSWERED).stream().mapToLong(Outcome::work).average().orElseThrow();
    }

    /** Returns the share of the sent requests that was answered. */
    double answeredShare(Span span) {
      var sent = outcomes.stream().filter(outcome -> span.contains(outcome.sent)).toList();
      return sent.stream().filter(outcome -> outcome.end == End.ANSWERED).count() / (double) sent.size();
    }

    /**
     * Returns the longest time until an answer, without the slowest answers of the given
     * percentage.
     */
    long maxTime(Span span, int excludedPercent) {
      var times = endedIn(span, End.ANSWERED).stream().mapToLong(Outcome::duration).sorted().toArray();
      return times[(times.length - 1) * (100 - excludedPercent) / 100];
    }
  }

  private final Simulation simulation;
  private final SplittableRandom random;
  private final Semaphore resources = new Semaphore(RESOURCES, true);
  private final Trial boundedPool;
  private final Trial timelyPool;
  private final Trial threadPerRequest = new Trial(this::serveOnNewThread);
  private int waitingClients; // clients that wait for an answer

  OverloadRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
    this.boundedPool = poolTrial(Mailbox.bounded(MAX_QUEUED, Overflow.REJECT));
    this.timelyPool = poolTrial(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(100)));
  }

  /** Returns the trial of a pool with a worker for each resource. */
  private Trial poolTrial(Mailbox<Object> mailbox) {
    ActorWithReturn<Call, Boolean> pool = Pools
        .fixed(simulation.scope().anonymous().mailbox(mailbox), RESOURCES).newActorWithReturn((Call call) -> {
          for (int i = 0; i < STEPS; i++) call.step();
          return true;
        });
    return new Trial(call -> pool.ask(call, LIMIT));
  }

  /**
   * Serves each request on a new thread. It waits for a resource at each step, even after its
   * client has stopped waiting.
   */
  private void serveOnNewThread(Call call) throws Exception {
    var answer = new CompletableFuture<Boolean>();
    Thread.ofVirtual().start(() -> {
      try {
        for (int i = 0; i < STEPS; i++) {
          resources.acquire();
          try {
            call.step();
          } finally {
            resources.release();
          }
        }
        answer.complete(true);
      } catch (InterruptedException never) {
        answer.completeExceptionally(never);
      }
    });
    answer.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
  }

  void play() throws InterruptedException {
    var low = load(0.5, Duration.ofMillis(700));
    load(1, Duration.ofMillis(700));
    var high = load(3, Duration.ofSeconds(2)).from(Duration.ofMillis(500));
    var recovery = load(0.8, Duration.ofSeconds(2)).from(Duration.ofSeconds(1));
    simulation.assertEventually("all clients have ended", Duration.ofMinutes(1), () -> waitingClients == 0);
    for (var trial : List.of(boundedPool, timelyPool)) checkGuarded(trial, low, high, recovery);
    // Each of the four workers ends its current request, and then handles 4 of the 16 queued
    // requests
    long maxTime = (MAX_QUEUED / RESOURCES + 1) * STEPS * MAX_STEP;
    assertTrue(boundedPool.maxTime(high, 0) <= maxTime, () -> "an answer took " + boundedPool.maxTime(high, 0) + " ns");
    assertTrue(timelyPool.maxTime(high, 5) <= LIMIT.toNanos() / 2,
        () -> "answers took " + timelyPool.maxTime(high, 5) + " ns");
    checkCollapsed(low, high, recovery);
  }

  /** Sends requests at random times to each service. */
  private Span load(double capacityShare, Duration duration) throws InterruptedException {
    long start = System.nanoTime();
    long end = start + duration.toNanos();
    for (double time = start; (time += -Math.log(1 - random.nextDouble()) / (capacityShare * CAPACITY) * 1e9) < end;) {
      TimeUnit.NANOSECONDS.sleep(Math.max(0, (long) time - System.nanoTime()));
      for (var trial : List.of(boundedPool, timelyPool, threadPerRequest)) {
        waitingClients++;
        simulation.client("client", trial::ask); // an unexpected exception fails the run
      }
    }
    TimeUnit.NANOSECONDS.sleep(Math.max(0, end - System.nanoTime()));
    return new Span(start, end);
  }

  private void checkGuarded(Trial trial, Span low, Span high, Span recovery) {
    String name = trial == boundedPool ? "bounded: " : "limited wait: ";
    assertTrue(trial.answeredShare(low) >= MIN_SHARE, () -> name + trial.answeredShare(low) + " at half the capacity");
    assertTrue(trial.goodput(high) >= MIN_SHARE * trial.capacity(high),
        () -> name + trial.goodput(high) + " answers per second, although the resources permit "
            + trial.capacity(high));
    for (var outcome : trial.endedIn(high, End.REFUSED))
      assertEquals(0, outcome.duration(), name + "a refused client waits");
    assertEquals(0, trial.wastedSteps, name + "steps for clients that had stopped waiting");
    assertTrue(trial.answeredShare(recovery) >= MIN_SHARE,
        () -> name + trial.answeredShare(recovery) + " after the load has fallen");
  }

  private void checkCollapsed(Span low, Span high, Span recovery) {
    assertTrue(threadPerRequest.answeredShare(low) >= MIN_SHARE,
        () -> threadPerRequest.answeredShare(low) + " at half the capacity");
    assertTrue(threadPerRequest.goodput(high) < 0.3 * boundedPool.goodput(high),
        () -> threadPerRequest.goodput(high) + " at three times the capacity");
    assertTrue(threadPerRequest.goodput(recovery) < 0.3 * boundedPool.goodput(recovery),
        () -> threadPerRequest.goodput(recovery) + " after the overload");
    assertTrue(threadPerRequest.wastedSteps > 0);
  }
}
