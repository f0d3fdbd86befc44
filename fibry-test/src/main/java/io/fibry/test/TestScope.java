package io.fibry.test;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.Strategy;
import io.fibry.time.ManualClock;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/**
 * A scope for one test: its time stands still until the test moves it, it can be asked what went
 * wrong, and its close fails where something had to be forced to end. Hand it to the code under
 * test as an {@link ActorScope}. Thread-safe.
 * {@snippet class="io.fibry.test.SnippetsTest" region="scope"}
 *
 * <p>All limits of its actors are by its clock, that of {@code ask} too: a test that asks for what
 * never comes waits for ever, so give it a time-out of its own. How long the assertions here wait
 * is real time: 5 seconds, or as many as the system property {@code fibry.test.limit} says. What
 * did not happen is known from the scope being quiet, not from waiting.
 */
public final class TestScope implements ActorScope {
  static final Duration LIMIT = Duration.ofSeconds(Long.getLong("fibry.test.limit", 5));

  private final ManualClock clock = new ManualClock();
  private final ActorScope scope;
  // by tests; read by who looks for the others
  private final Set<DeadLetter> asserted =
      Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));

  private TestScope(String name, UnaryOperator<Options> options) {
    this.scope = ActorSystem.openScope(name, inherited -> Objects.requireNonNull(options, "options")
        .apply(inherited.withStrategy(Strategy.FIBER)).withScheduler(clock));
  }

  /**
   * Actors on virtual threads, as in production: what they do is done when {@link #assertQuiet}
   * returned.
   *
   * @return an open scope
   */
  public static TestScope fibers() {
    return open("test", options -> options);
  }

  /**
   * Actors on the thread that sends to them: what they do is done when {@code sendMessage}
   * returned.
   *
   * @return an open scope
   */
  public static TestScope caller() {
    return open("test", options -> options.withStrategy(Strategy.CALLER));
  }

  /**
   * One with these options; the clock is always a manual one.
   *
   * @param name not blank; need not be unique
   * @param options changes those of the root, with {@link Strategy#FIBER}
   * @return an open scope
   */
  public static TestScope open(String name, UnaryOperator<Options> options) {
    return new TestScope(name, options);
  }

  // ---- time

  /**
   * What its timers and limits are measured by.
   *
   * @return always the same one
   */
  public ManualClock clock() {
    return clock;
  }

  /**
   * Moves the time on and waits until all is done that this set off. A timer that a handler is to
   * start must be there: {@link #assertQuiet} first. A message that comes every second comes once
   * in a step of ten, if the one before still waits: on fibers give it ten steps of one.
   *
   * @param by how far
   * @throws AssertionError if the scope does not become quiet
   */
  public void advance(Duration by) {
    clock.advance(by);
    assertQuiet();
  }

  // ---- what happened

  /**
   * Waits until nothing waits, no handler runs and no timer is due.
   *
   * @throws AssertionError if that does not come, with what each actor is at
   */
  public void assertQuiet() {
    if (!scope.awaitQuiet(LIMIT)) throw new AssertionError(
        "scope '" + name() + "' did not become quiet within " + LIMIT + "; it is at\n" + scope.dump());
  }

  /**
   * Waits until it is quiet, and finds no dead letter but those that {@link #assertDeadLetter} was
   * told of; of very many, among the last 100.
   *
   * @throws AssertionError if there is one, with all of them, or if the scope does not become quiet
   */
  public void assertNoDeadLetters() {
    assertQuiet();
    var others = scope.deadLetters().stream().filter(letter -> !asserted.contains(letter)).toList();
    if (!others.isEmpty())
      throw new AssertionError("scope '" + name() + "' has dead letters that the test did not ask for: " + others,
          others.getFirst().cause().orElse(null));
  }

  /**
   * Finds a dead letter, waiting for it until the scope is quiet. Each is found once: two equal
   * ones are two.
   *
   * @param reason why it was not handled
   * @param message what was sent
   * @return the first such
   * @throws AssertionError if there is none, with those that there are
   */
  public DeadLetter assertDeadLetter(DeadLetter.Reason reason, Object message) {
    var found = take(reason, message);
    if (found.isPresent()) return found.get();
    boolean quiet = scope.awaitQuiet(LIMIT);
    return take(reason, message)
        .orElseThrow(() -> new AssertionError("scope '" + name() + "'" + (quiet ? "" : ", which is not quiet yet,")
            + " has no dead letter " + reason + ": " + message + "; those it has: " + scope.deadLetters()));
  }

  private Optional<DeadLetter> take(DeadLetter.Reason reason, Object message) {
    return scope.deadLetters().stream().filter(letter -> letter.reason() == reason && letter.message().equals(message))
        .filter(asserted::add).findFirst();
  }

  // ---- the end

  /**
   * Ends all it owns, each after what waits in its mailbox, as any scope does. What has not come to
   * its end in time is interrupted, which the test then hears of.
   *
   * @throws AssertionError if an actor had to be interrupted, or was cut off before and runs still;
   * with what each was at
   */
  @Override
  public void close() {
    var late = new AtomicReference<>("");
    var report = end(LIMIT, () -> late.set(scope.dump()));
    if (late.get().isEmpty() && report.running().isEmpty()) return;
    var before = late.get().isEmpty() ? "" : "; before it was interrupted it was at\n" + late.get();
    throw new AssertionError("scope '" + name() + "' did not end by itself within " + LIMIT
        + ": end its actors, open what they wait for, or move the clock, before the test is over. Messages left: "
        + report.leftovers() + ", handlers that run still: "
        + report.running() + before);
  }

  /** The same, as any scope does it; but the limit is real time. */
  @Override
  public Report closeWithin(Duration limit) {
    return end(limit, () -> {});
  }

  private Report end(Duration limit, Runnable atLimit) {
    var ended = new CountDownLatch(1);
    Thread.ofVirtual().name("clock of scope '" + name() + "'").start(() -> goOn(ended, limit, atLimit));
    try {
      return scope.closeWithin(limit);
    } finally {
      ended.countDown();
    }
  }

  /**
   * Nobody moves the clock while the test waits here: so it goes by itself, once the limit is over
   * in real time.
   */
  private void goOn(CountDownLatch ended, Duration limit, Runnable atLimit) {
    try {
      if (ended.await(TimeUnit.NANOSECONDS.convert(limit), TimeUnit.NANOSECONDS)) return;
      atLimit.run();
      clock.advance(limit);
      while (!ended.await(1, TimeUnit.SECONDS)) clock.advance(Duration.ofSeconds(1));
    } catch (InterruptedException impossible) {
      throw new AssertionError(impossible);
    }
  }

  // ---- a scope as any other

  @Override
  public String name() {
    return scope.name();
  }

  @Override
  public ActorBuilder<Object> anonymous() {
    return scope.anonymous();
  }

  @Override
  public ActorBuilder<Object> named(String name) {
    return scope.named(name);
  }

  @Override
  public <M> Optional<Actor<M>> find(String name, Class<M> protocol) {
    return scope.find(name, protocol);
  }

  @Override
  public ActorScope openScope(String name) {
    return scope.openScope(name);
  }

  @Override
  public ActorScope openScope(String name, UnaryOperator<Options> options) {
    return scope.openScope(name, options);
  }

  @Override
  public Report report() {
    return scope.report();
  }

  @Override
  public List<DeadLetter> deadLetters() {
    return scope.deadLetters();
  }

  @Override
  public String dump() {
    return scope.dump();
  }

  @Override
  public boolean awaitQuiet(Duration limit) {
    return scope.awaitQuiet(limit);
  }

  @Override
  public String toString() {
    return "test scope '" + name() + "'";
  }
}
