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
 * The ramp of {@code OverloadTest} in simulated time: three services get the same requests at half
 * their capacity, at their capacity, at three times as much, and at less again. A request takes
 * three steps of 5 to 15 ms, each with one of four resources; its client gives up after half a
 * second. Two services refuse what is too much. The third one has a thread for each request.
 */
final class OverloadRound {
  private static final int RESOURCES = 4;
  private static final int STEPS = 3;
  private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(5); // step
  private static final long LONGEST = TimeUnit.MILLISECONDS.toNanos(15);
  private static final double CAPACITY = RESOURCES * 2e9 / STEPS / (SHORTEST + LONGEST); // requests per second
  private static final Duration LIMIT = Duration.ofMillis(500);
  private static final int ROOM = 16;
  private static final double MOST = 0.9;

  private enum End {
    GOOD, REFUSED, GAVE_UP
  }

  /** A request as its client saw it, in nanoseconds. */
  private record Outcome(long sent, long ended, End end, long work) {
    long took() {
      return ended - sent;
    }
  }

  private record Span(long from, long to) {
    Span after(Duration start) {
      return new Span(from + start.toNanos(), to);
    }

    boolean has(long time) {
      return from <= time && time < to;
    }

    double seconds() {
      return (to - from) / 1e9;
    }
  }

  private interface Service {
    void serve(Call call) throws Exception;
  }

  private final class Call {
    private final Side side;
    private final long sent = System.nanoTime();
    private final SplittableRandom own = random.split();
    private long work;

    Call(Side side) {
      this.side = side;
    }

    void step() throws InterruptedException {
      if (System.nanoTime() - sent > LIMIT.toNanos()) side.wasted++;
      long time = own.nextLong(SHORTEST, LONGEST);
      work += time;
      TimeUnit.NANOSECONDS.sleep(time);
    }
  }

  private final class Side {
    private final Service service;
    private final List<Outcome> outcomes = new ArrayList<>();
    private int wasted; // steps after the client gave up

    Side(Service service) {
      this.service = service;
    }

    void ask() {
      var call = new Call(this);
      var end = End.GAVE_UP;
      try {
        service.serve(call);
        end = End.GOOD;
      } catch (MailboxFullException refused) {
        end = End.REFUSED;
      } catch (AskTimeoutException | TimeoutException late) {
        // it gave up
      } catch (Exception other) {
        throw new AssertionError(other);
      } finally {
        asking--;
      }
      outcomes.add(new Outcome(call.sent, System.nanoTime(), end, call.work));
    }

    private List<Outcome> ended(Span span, End end) {
      return outcomes.stream().filter(one -> one.end == end && span.has(one.ended)).toList();
    }

    /** Answers per second. */
    double goodput(Span span) {
      return ended(span, End.GOOD).size() / span.seconds();
    }

    /**
     * Returns the answers per second that were possible, by the work of the answers that were
     * given.
     */
    double capacity(Span span) {
      return RESOURCES * 1e9 / ended(span, End.GOOD).stream().mapToLong(Outcome::work).average().orElseThrow();
    }

    /** Returns the share of the sent requests that was answered. */
    double good(Span span) {
      var sent = outcomes.stream().filter(one -> span.has(one.sent)).toList();
      return sent.stream().filter(one -> one.end == End.GOOD).count() / (double) sent.size();
    }

    /** The longest time until the answer, but for some of a hundred. */
    long longest(Span span, int but) {
      var times = ended(span, End.GOOD).stream().mapToLong(Outcome::took).sorted().toArray();
      return times[(times.length - 1) * (100 - but) / 100];
    }
  }

  private final Simulation simulation;
  private final SplittableRandom random;
  private final Semaphore resources = new Semaphore(RESOURCES, true);
  private final Side bounded;
  private final Side timely;
  private final Side unbounded = new Side(this::onThreadOfItsOwn);
  private int asking; // clients

  OverloadRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
    this.bounded = asked(Mailbox.bounded(ROOM, Overflow.REJECT));
    this.timely = asked(Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(100)));
  }

  /** A pool with a worker for each resource. */
  private Side asked(Mailbox<Object> mailbox) {
    ActorWithReturn<Call, Boolean> pool = Pools
        .fixed(simulation.scope().anonymous().mailbox(mailbox), RESOURCES).newActorWithReturn((Call call) -> {
          for (int i = 0; i < STEPS; i++) call.step();
          return true;
        });
    return new Side(call -> pool.ask(call, LIMIT));
  }

  /** A thread for each request. At each step it waits for a resource, though its client gave up. */
  private void onThreadOfItsOwn(Call call) throws Exception {
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
    var high = load(3, Duration.ofSeconds(2)).after(Duration.ofMillis(500));
    var after = load(0.8, Duration.ofSeconds(2)).after(Duration.ofSeconds(1));
    simulation.assertEventually("all clients have ended", Duration.ofMinutes(1), () -> asking == 0);
    for (var side : List.of(bounded, timely)) checkGuarded(side, low, high, after);
    // in front of a request there are 15 others, and each of four workers takes four of these 16
    long most = (ROOM / RESOURCES + 1) * STEPS * LONGEST;
    assertTrue(bounded.longest(high, 0) <= most, () -> "an answer took " + bounded.longest(high, 0) + " ns");
    assertTrue(timely.longest(high, 5) <= LIMIT.toNanos() / 2, () -> "answers took " + timely.longest(high, 5) + " ns");
    checkCollapsed(low, high, after);
  }

  /** Requests at random times, for each side. */
  private Span load(double ofCapacity, Duration time) throws InterruptedException {
    long from = System.nanoTime();
    long to = from + time.toNanos();
    for (double at = from; (at += -Math.log(1 - random.nextDouble()) / (ofCapacity * CAPACITY) * 1e9) < to;) {
      TimeUnit.NANOSECONDS.sleep(Math.max(0, (long) at - System.nanoTime()));
      for (var side : List.of(bounded, timely, unbounded)) {
        asking++;
        Thread.ofVirtual().start(side::ask);
      }
    }
    TimeUnit.NANOSECONDS.sleep(Math.max(0, to - System.nanoTime()));
    return new Span(from, to);
  }

  private void checkGuarded(Side side, Span low, Span high, Span after) {
    String name = side == bounded ? "bounded: " : "within: ";
    assertTrue(side.good(low) >= MOST, () -> name + side.good(low) + " at half the capacity");
    assertTrue(side.goodput(high) >= MOST * side.capacity(high),
        () -> name + side.goodput(high) + " of " + side.capacity(high));
    for (var one : side.ended(high, End.REFUSED)) assertEquals(0, one.took(), name + "who is refused waits");
    assertEquals(0, side.wasted, name + "steps for clients that gave up");
    assertTrue(side.good(after) >= MOST, () -> name + side.good(after) + " after the load fell");
  }

  private void checkCollapsed(Span low, Span high, Span after) {
    assertTrue(unbounded.good(low) >= MOST, () -> unbounded.good(low) + " at half the capacity");
    assertTrue(unbounded.goodput(high) < 0.3 * bounded.goodput(high), () -> unbounded.goodput(high) + " at 3 times");
    assertTrue(unbounded.goodput(after) < 0.3 * bounded.goodput(after), () -> unbounded.goodput(after) + " after it");
    assertTrue(unbounded.wasted > 0);
  }
}
