package io.fibry.stress;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.AskTimeoutException;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
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
 * Runs actors of all kinds in nested scopes, and concurrently does everything that users do:
 * messages, requests, cancellations, failures, stack overflows, restarts, kills and closes. At the
 * end the counts of the scopes must match the sent messages, and every request must be complete. A
 * handler asks only actors that were created after its own actor, so these waits form no cycle.
 * There is one exception: when an actor ends or restarts, a {@link Strategy#CALLER} actor may run
 * on a thread whose handler already waits. That handler then also waits for the CALLER actor, which
 * may be older.
 */
final class ChaosEpisode {
  private static final int ACTORS = 9;

  /**
   * A message whose seed decides the action of its handler. The episode counts the message of a
   * timer or a watch as sent when the message is first handled or becomes a dead letter.
   */
  static final class Errand implements Request<Errand, Integer>, Comparable<Errand> {
    final long seed;
    private final AtomicBoolean counted;

    Errand(long seed, boolean sentByEpisode) {
      this.seed = seed;
      this.counted = sentByEpisode ? null : new AtomicBoolean();
    }

    boolean markCounted() {
      return counted != null && counted.compareAndSet(false, true);
    }

    @Override
    public int compareTo(Errand other) {
      return Long.compare(seed & 3, other.seed & 3);
    }
  }

  /** A scope, and the number of messages that were sent to its actors. */
  private static final class CountedScope {
    final ActorScope scope;
    final LongAdder sent = new LongAdder();

    CountedScope(ActorScope scope) {
      this.scope = scope;
    }

    long reportedSent() {
      return scope.report().sent();
    }
  }

  private final SplittableRandom episodeRandom; // used by the thread that runs the episode
  private final List<Strategy> strategies;
  private final List<CountedScope> scopes = new ArrayList<>(); // each inside the previous one
  private final List<Actor<Errand>> actors = new ArrayList<>();
  private final List<Integer> scopeIndexes = new ArrayList<>(); // for each actor the index of its scope in scopes
  private final Set<Integer> callerIndexes = new HashSet<>(); // the indexes of CALLER actors
  private final Queue<CompletableFuture<?>> requests = new ConcurrentLinkedQueue<>();
  private final Queue<String> violations = new ConcurrentLinkedQueue<>();

  ChaosEpisode(SplittableRandom episodeRandom, List<Strategy> strategies) {
    this.episodeRandom = episodeRandom;
    this.strategies = strategies;
    ActorScope parent = ActorSystem.root();
    for (int depth = 0; depth < 3; depth++) {
      var scope = parent.openScope("chaos-" + depth,
          o -> o.withKillGrace(Duration.ofMillis(episodeRandom.nextInt(20)))
              .withDrainLimit(Duration.ofMillis(episodeRandom.nextInt(40)))
              .withAskLimit(Duration.ofMillis(500))
              .withFailurePolicy(scopePolicy()).withDeadLetterListener(this::countDeadLetter));
      scopes.add(new CountedScope(scope));
      parent = scope;
    }
    for (int i = 0; i < ACTORS; i++) actors.add(actor(i));
  }

  private FailurePolicy scopePolicy() {
    var policy = switch (episodeRandom.nextInt(8)) {
      case 0 -> FailurePolicy.restart();
      case 1 -> FailurePolicy.restartAll().withBackoff(Duration.ofNanos(50_000), Duration.ofMillis(3));
      case 2 -> FailurePolicy.restartFromFailed().withBudget(5, Duration.ofMillis(20));
      case 3 -> FailurePolicy.escalate();
      default -> FailurePolicy.resume();
    };
    return policy.withoutLog();
  }

  private FailurePolicy policy() {
    var policy = switch (episodeRandom.nextInt(6)) {
      case 0 -> FailurePolicy.restart().withBackoff(Duration.ofNanos(100_000), Duration.ofMillis(5));
      case 1 -> FailurePolicy.restart().withBudget(3, Duration.ofMillis(10));
      case 2 -> FailurePolicy
          .choose(failure -> failure instanceof Error ? FailurePolicy.restart() : FailurePolicy.escalate());
      case 3 -> episodeRandom.nextInt(4) == 0 ? FailurePolicy.stop() : FailurePolicy.escalate();
      default -> FailurePolicy.resume();
    };
    return policy.withRetries(episodeRandom.nextInt(4) == 0 ? 2 : 0).withoutLog();
  }

  private Mailbox<? super Errand> mailbox() {
    return switch (episodeRandom.nextInt(7)) {
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
    int scopeIndex = episodeRandom.nextInt(scopes.size());
    scopeIndexes.add(scopeIndex);
    var strategy = strategies.get(episodeRandom.nextInt(strategies.size()));
    if (strategy == Strategy.CALLER) callerIndexes.add(index);
    ActorBuilder<Errand> builder =
        scopes.get(scopeIndex).scope.named("chaos" + index).strategy(strategy).onFailure(policy()).mailbox(mailbox());
    if (episodeRandom.nextInt(3) == 0) builder = builder.inlineRequests();
    return builder.initialState(LongAdder::new).newActor(
        (LongAdder state, Errand errand, ActorContext<Errand> context) -> handle(index, state, errand, context));
  }

  // ---- in handlers

  private void handle(int index, LongAdder state, Errand errand, ActorContext<Errand> context) throws Exception {
    if (errand.markCounted()) scopes.get(scopeIndexes.get(index)).sent.increment();
    state.increment();
    var random = new SplittableRandom(errand.seed);
    switch (random.nextInt(24)) {
      case 0 -> throw new IllegalStateException("planned");
      case 1 -> throw new AssertionError("planned");
      case 2 -> overflow(1);
      case 3 -> throw new Exception("planned");
      case 4 -> LockSupport.parkNanos(random.nextInt(300_000));
      case 5 -> ask(laterIndex(index, random), random);
      case 6, 7, 8 -> send(laterIndex(index, random), random);
      case 9 -> watchOther(context, random);
      case 10 -> spin(random.nextInt(3_000_000));
      case 11 -> setTimer(context, index, random);
      case 12 -> context.replyWhen(errand, CompletableFuture.supplyAsync(() -> 1));
      default -> {}
    }
  }

  private static int overflow(int depth) {
    return overflow(depth + 1) + 1;
  }

  private static void spin(long nanos) {
    for (long deadline = System.nanoTime() + nanos; System.nanoTime() < deadline;) Thread.onSpinWait();
  }

  private int laterIndex(int index, SplittableRandom random) {
    return Math.min(ACTORS, index + 1 + random.nextInt(3));
  }

  private void watchOther(ActorContext<Errand> context, SplittableRandom random) {
    var other = actors.get(random.nextInt(actors.size()));
    if (other != context.self()) context.watch(other, reason -> new Errand(20, false));
  }

  private void setTimer(ActorContext<Errand> context, int index, SplittableRandom random) {
    context.self().sendMessageLater("key", new Errand(random.nextLong(), false),
        Duration.ofNanos(random.nextInt(2_000_000)));
  }

  private void countDeadLetter(DeadLetter letter) {
    if (letter.message() instanceof Errand errand && errand.markCounted())
      scopes.get(scopeIndexes.get(index(letter.actor()))).sent.increment();
  }

  // ---- in handlers and in threads of the episode

  private void send(int index, SplittableRandom random) {
    if (index >= actors.size()) return;
    actors.get(index).sendMessage(new Errand(random.nextLong(), true));
    scopes.get(scopeIndexes.get(index)).sent.increment();
  }

  private void ask(int index, SplittableRandom random) {
    if (index >= actors.size()) return;
    boolean sent = true;
    try {
      actors.get(index).ask(new Errand(random.nextLong(), true), Duration.ofMillis(1 + random.nextInt(300)));
    } catch (AskTimeoutException timeout) {
      // a zero limit means that the errand was not sent: this thread handles a request, and no time
      // remains in its limit
      sent = !timeout.limit().isZero();
    } catch (AskCycleException cycle) {
      // the errand was not sent if this thread runs a handler or hook of that actor
      sent = !ActorInternals.isCurrent(actors.get(index));
      if (isImpossible(cycle.cycle())) violations.add("reported a cycle that is impossible: " + cycle.getMessage());
    } catch (StackOverflowError overflow) {
      // an overflow with a text says that the actor can get no thread, and the errand was not sent
      sent = overflow.getMessage() == null;
    } catch (RequestException | AssertionError | IllegalStateException expected) {
      // thrown by the actor or by the library
    } catch (Exception failure) {
      if (!"planned".equals(failure.getMessage())) violations.add("unexpected: " + failure);
    } finally {
      if (sent) scopes.get(scopeIndexes.get(index)).sent.increment();
    }
  }

  private boolean isImpossible(List<String> cycle) {
    for (int i = 1; i < cycle.size(); i++)
      if (index(cycle.get(i - 1)) >= index(cycle.get(i)) && !callerIndexes.contains(index(cycle.get(i)))) return true;
    return false;
  }

  private static int index(String actor) {
    return Integer.parseInt(actor.substring("chaos".length()));
  }

  private void step(SplittableRandom random) {
    int index = random.nextInt(actors.size());
    var actor = actors.get(index);
    switch (random.nextInt(400)) {
      case 0 -> actor.kill();
      case 1 -> actor.askExit();
      case 2 -> actor.sendPoisonPill();
      case 3 -> scopes.get(1 + random.nextInt(scopes.size() - 1)).scope
          .closeWithin(Duration.ofNanos(random.nextInt(5_000_000)));
      case 4 -> scopes.getFirst().scope.dump();
      case 5 -> scopes.getFirst().scope.report();
      default -> sendOrAsk(index, random);
    }
  }

  private void sendOrAsk(int index, SplittableRandom random) {
    switch (random.nextInt(6)) {
      case 0 -> ask(index, random);
      case 1 -> request(index, random);
      default -> send(index, random);
    }
  }

  private void request(int index, SplittableRandom random) {
    var future = actors.get(index).sendMessageReturn(new Errand(random.nextLong(), true));
    scopes.get(scopeIndexes.get(index)).sent.increment();
    requests.add(future);
    if (random.nextInt(3) == 0) future.cancel(true);
  }

  /** Runs the episode. Returns a reference to its outermost scope, which must then be garbage. */
  WeakReference<Object> run() throws InterruptedException {
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < 3; i++) {
      var random = episodeRandom.split();
      threads.add((i == 0 ? Thread.ofPlatform() : Thread.ofVirtual()).unstarted(() -> {
        for (int step = 0; step < 300; step++) step(random);
      }));
    }
    threads.forEach(Thread::start);
    threads.forEach(Patience::awaitEnd);
    outermost().closeWithin(Duration.ofMillis(episodeRandom.nextInt(20)));
    check();
    return new WeakReference<>(outermost());
  }

  private ActorScope outermost() {
    return scopes.getFirst().scope;
  }

  // ---- checks at the end

  private void check() {
    for (var actor : actors) if (!actor.onExit().isDone()) violations.add(actor + " has not ended");
    if (!Patience.comesTrue(() -> outermost().report().unresponsive().isEmpty() && outermost().report().queued() == 0))
      violations.add("an actor is unresponsive, or a message is queued: " + outermost().report());
    if (!Patience.comesTrue(() -> requests.stream().allMatch(CompletableFuture::isDone)))
      violations.add("a request was never completed");
    for (int i = 0; i < scopes.size(); i++) {
      int index = i;
      if (!Patience.comesTrue(() -> scopes.get(index).reportedSent() == sent(index)))
        violations.add(scopes.get(i).scope.report() + ", but the number of sent messages is " + sent(i));
    }
    if (!violations.isEmpty()) throw new AssertionError(violations.stream().limit(5).toList().toString());
  }

  /** Returns the number of messages sent to actors of this scope and of the scopes inside it. */
  private long sent(int index) {
    return scopes.subList(index, scopes.size()).stream().mapToLong(inner -> inner.sent.sum()).sum();
  }

}
