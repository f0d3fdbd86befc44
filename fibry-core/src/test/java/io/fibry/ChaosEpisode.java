package io.fibry;

import io.fibry.engine.cell.Inside;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * A few scopes with all kinds of actors, and at once everything that users do: messages, requests,
 * cancels, failures, overflows, restarts, kills, closes. Afterwards the accounts must add up, and
 * every asker must have been told. An actor waits only for actors made after it, so no wait is a
 * ring. The exception: the end or restart of another actor may start a {@link Strategy#CALLER}
 * actor on a waiting thread, which then has to wait for it.
 */
final class ChaosEpisode {
  private static final int ACTORS = 9;

  /** Something to do. A timer's message or a watch's news counts as sent once it is seen. */
  static final class Errand implements Request<Errand, Integer>, Comparable<Errand> {
    final long dice;
    private final AtomicBoolean seen;

    Errand(long dice, boolean byHand) {
      this.dice = dice;
      this.seen = byHand ? null : new AtomicBoolean();
    }

    boolean firstSeen() {
      return seen != null && seen.compareAndSet(false, true);
    }

    @Override
    public int compareTo(Errand other) {
      return Long.compare(dice & 3, other.dice & 3);
    }
  }

  /** A scope, and the number of messages sent to its actors. */
  private static final class Part {
    final ActorScope scope;
    final LongAdder sent = new LongAdder();

    Part(ActorScope scope) {
      this.scope = scope;
    }

    long accounted() {
      return scope.report().sent();
    }
  }

  private final SplittableRandom random; // of the thread that plays
  private final List<Strategy> strategies;
  private final List<Part> parts = new ArrayList<>(); // each inside the previous one
  private final List<Actor<Errand>> actors = new ArrayList<>();
  private final List<Integer> homes = new ArrayList<>(); // the index of each actor's part
  private final Set<Integer> callers = new HashSet<>(); // the indexes of CALLER actors
  private final Queue<CompletableFuture<?>> requests = new ConcurrentLinkedQueue<>();
  private final Queue<String> faults = new ConcurrentLinkedQueue<>();

  ChaosEpisode(SplittableRandom random, List<Strategy> strategies) {
    this.random = random;
    this.strategies = strategies;
    ActorScope around = ActorSystem.root();
    for (int depth = 0; depth < 3; depth++) {
      var scope = around.openScope("chaos-" + depth,
          o -> o.withKillGrace(Duration.ofMillis(random.nextInt(20)))
              .withDrainLimit(Duration.ofMillis(random.nextInt(40)))
              .withAskLimit(Duration.ofMillis(500)).withFailurePolicy(scopePolicy()).withDeadLetters(this::bury));
      parts.add(new Part(scope));
      around = scope;
    }
    for (int i = 0; i < ACTORS; i++) actors.add(actor(i));
  }

  private FailurePolicy scopePolicy() {
    var policy = switch (random.nextInt(8)) {
      case 0 -> FailurePolicy.restart();
      case 1 -> FailurePolicy.restartAll().withBackoff(Duration.ofNanos(50_000), Duration.ofMillis(3));
      case 2 -> FailurePolicy.restartFromFailed().withBudget(5, Duration.ofMillis(20));
      case 3 -> FailurePolicy.escalate();
      default -> FailurePolicy.resume();
    };
    return policy.withoutLog();
  }

  private FailurePolicy policy() {
    var policy = switch (random.nextInt(6)) {
      case 0 -> FailurePolicy.restart().withBackoff(Duration.ofNanos(100_000), Duration.ofMillis(5));
      case 1 -> FailurePolicy.restart().withBudget(3, Duration.ofMillis(10));
      case 2 -> FailurePolicy
          .choose(failure -> failure instanceof Error ? FailurePolicy.restart() : FailurePolicy.escalate());
      case 3 -> random.nextInt(4) == 0 ? FailurePolicy.stop() : FailurePolicy.escalate();
      default -> FailurePolicy.resume();
    };
    return policy.withRetries(random.nextInt(4) == 0 ? 2 : 0).withoutLog();
  }

  private Mailbox<? super Errand> mailbox() {
    return switch (random.nextInt(7)) {
      case 0 -> Mailbox.bounded(4, Overflow.BLOCK);
      case 1 -> Mailbox.bounded(4, Overflow.REJECT);
      case 2 -> Mailbox.bounded(4, Overflow.DROP_OLDEST).selective();
      case 3 -> Mailbox.bounded(4, Overflow.DROP_NEWEST);
      case 4 -> Mailbox.priority(Comparator.<Errand>naturalOrder());
      case 5 -> Mailbox.unbounded().selective();
      default -> Mailbox.unbounded();
    };
  }

  private Actor<Errand> actor(int index) {
    int home = random.nextInt(parts.size());
    homes.add(home);
    var strategy = strategies.get(random.nextInt(strategies.size()));
    if (strategy == Strategy.CALLER) callers.add(index);
    ActorBuilder<Errand> builder =
        parts.get(home).scope.named("chaos" + index).strategy(strategy).onFailure(policy()).mailbox(mailbox());
    if (random.nextInt(3) == 0) builder = builder.inlineRequests();
    return builder.initialState(LongAdder::new).newActor(
        (LongAdder state, Errand errand, ActorContext<Errand> context) -> handle(index, state, errand, context));
  }

  // ---- inside

  private void handle(int index, LongAdder state, Errand errand, ActorContext<Errand> context) throws Exception {
    if (errand.firstSeen()) parts.get(homes.get(index)).sent.increment();
    state.increment();
    var dice = new SplittableRandom(errand.dice);
    switch (dice.nextInt(24)) {
      case 0 -> throw new IllegalStateException("planned");
      case 1 -> throw new AssertionError("planned");
      case 2 -> overflow(1);
      case 3 -> throw new Exception("planned");
      case 4 -> LockSupport.parkNanos(dice.nextInt(300_000));
      case 5 -> ask(later(index, dice), dice);
      case 6, 7, 8 -> send(later(index, dice), dice);
      case 9 -> cast(context, dice);
      case 10 -> deaf(dice.nextInt(3_000_000));
      case 11 -> later(context, index, dice);
      case 12 -> context.replyWhen(reply(errand), CompletableFuture.supplyAsync(() -> 1));
      default -> {}
    }
  }

  private static Errand reply(Errand errand) {
    return errand;
  }

  private static int overflow(int n) {
    return overflow(n + 1) + 1;
  }

  private static void deaf(long nanos) {
    for (long end = System.nanoTime() + nanos; System.nanoTime() < end;) Thread.onSpinWait();
  }

  private int later(int index, SplittableRandom dice) {
    return Math.min(ACTORS, index + 1 + dice.nextInt(3));
  }

  private void cast(ActorContext<Errand> context, SplittableRandom dice) {
    var other = actors.get(dice.nextInt(actors.size()));
    if (other != context.self()) context.watch(other, reason -> new Errand(20, false));
  }

  private void later(ActorContext<Errand> context, int index, SplittableRandom dice) {
    context.self().sendMessageLater("key", new Errand(dice.nextLong(), false),
        Duration.ofNanos(dice.nextInt(2_000_000)));
  }

  private void bury(DeadLetter letter) {
    if (letter.message() instanceof Errand errand && errand.firstSeen())
      parts.get(homes.get(index(letter.actor()))).sent.increment();
  }

  // ---- outside

  private void send(int index, SplittableRandom dice) {
    if (index >= actors.size()) return;
    actors.get(index).sendMessage(new Errand(dice.nextLong(), true));
    parts.get(homes.get(index)).sent.increment();
  }

  private void ask(int index, SplittableRandom dice) {
    if (index >= actors.size()) return;
    boolean sent = true;
    try {
      actors.get(index).ask(new Errand(dice.nextLong(), true), Duration.ofMillis(1 + dice.nextInt(300)));
    } catch (AskTimeoutException late) {
      // not even sent if the limit of the current errand left no time
      sent = !late.waited().isZero();
    } catch (AskCycleException ring) {
      // not even sent if the actor waits for this very thread
      sent = !Inside.isCurrent(actors.get(index));
      if (isFalse(ring.cycle())) faults.add("no ring, and yet: " + ring.getMessage());
    } catch (StackOverflowError edge) {
      // not even sent if the actor can get no thread
      sent = edge.getMessage() == null;
    } catch (RequestException | AssertionError | IllegalStateException told) {
      // by the actor, or by the library
    } catch (Exception planned) {
      if (!"planned".equals(planned.getMessage())) faults.add("unexpected: " + planned);
    } finally {
      if (sent) parts.get(homes.get(index)).sent.increment();
    }
  }

  private boolean isFalse(List<String> ring) {
    for (int i = 1; i < ring.size(); i++)
      if (index(ring.get(i - 1)) >= index(ring.get(i)) && !callers.contains(index(ring.get(i)))) return true;
    return false;
  }

  private static int index(String actor) {
    return Integer.parseInt(actor.substring("chaos".length()));
  }

  private void step(SplittableRandom dice) {
    int index = dice.nextInt(actors.size());
    var actor = actors.get(index);
    switch (dice.nextInt(400)) {
      case 0 -> actor.kill();
      case 1 -> actor.askExit();
      case 2 -> actor.sendPoisonPill();
      case 3 -> parts.get(1 + dice.nextInt(parts.size() - 1)).scope
          .closeWithin(Duration.ofNanos(dice.nextInt(5_000_000)));
      case 4 -> parts.getFirst().scope.dump();
      case 5 -> parts.getFirst().scope.report();
      default -> talk(index, dice);
    }
  }

  private void talk(int index, SplittableRandom dice) {
    switch (dice.nextInt(6)) {
      case 0 -> ask(index, dice);
      case 1 -> request(index, dice);
      default -> send(index, dice);
    }
  }

  private void request(int index, SplittableRandom dice) {
    var future = actors.get(index).sendMessageReturn(new Errand(dice.nextLong(), true));
    parts.get(homes.get(index)).sent.increment();
    requests.add(future);
    if (dice.nextInt(3) == 0) future.cancel(true);
  }

  /** Plays the episode; returns what must be garbage now. */
  WeakReference<Object> play() throws InterruptedException {
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < 3; i++) {
      var dice = random.split();
      threads.add((i == 0 ? Thread.ofPlatform() : Thread.ofVirtual()).unstarted(() -> {
        for (int step = 0; step < 300; step++) step(dice);
      }));
    }
    threads.forEach(Thread::start);
    threads.forEach(Patience::joined);
    top().closeWithin(Duration.ofMillis(random.nextInt(20)));
    check();
    return new WeakReference<>(top());
  }

  private ActorScope top() {
    return parts.getFirst().scope;
  }

  // ---- the accounts

  private void check() {
    for (var actor : actors) if (!actor.onExit().isDone()) faults.add(actor + " lives on");
    if (!Patience.comesTrue(() -> top().report().unresponsive().isEmpty() && top().report().queued() == 0))
      faults.add("somebody never came back: " + top().report());
    if (!Patience.comesTrue(() -> requests.stream().allMatch(CompletableFuture::isDone)))
      faults.add("a request was never answered");
    for (int i = 0; i < parts.size(); i++) {
      int from = i;
      if (!Patience.comesTrue(() -> parts.get(from).accounted() == sent(from)))
        faults.add(parts.get(i).scope.report() + ", but sent were " + sent(i));
    }
    if (!faults.isEmpty()) throw new AssertionError(faults.stream().limit(5).toList().toString());
  }

  /** Messages sent to actors of this part and of the parts inside it. */
  private long sent(int from) {
    return parts.subList(from, parts.size()).stream().mapToLong(part -> part.sent.sum()).sum();
  }

}
