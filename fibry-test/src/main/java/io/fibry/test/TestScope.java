package io.fibry.test;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorStats;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter;
import io.fibry.Strategy;
import io.fibry.text.Lines;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A scope for one test. The test moves its clock, and {@link #close} fails if an actor had to be
 * interrupted. Thread-safe.
 * {@snippet class="io.fibry.test.SnippetsTest" region="scope"}
 *
 * <p>All limits follow the test's clock, including the limit of {@code ask}. Without an answer, an
 * ask waits forever unless the test moves the clock, so give the test a time-out. Assertions wait
 * at most 5 s of real time, or {@code -Dfibry.test.limit} seconds.
 */
public final class TestScope implements ActorScope {
  static final Duration LIMIT = limitOf(System.getProperty("fibry.test.limit", "5"));

  private static final int MAX_STEPS = 1_000_000;

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope;
  // dead letters that assertions have found; used by the threads of the test
  private final Set<DeadLetter> assertedLetters =
      Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
  // of WebSockets whose clients do not read: tells for which bytes a write waits, or an empty text;
  // used by the threads of the test and of servers
  final Set<Supplier<String>> pausedClients = ConcurrentHashMap.newKeySet();
  volatile Duration limit = LIMIT; // the limit of waits, in real time; shortened by tests of failures

  /** Returns the limit for the text of the system property. */
  static Duration limitOf(String seconds) {
    try {
      long number = Long.parseLong(seconds);
      if (number > 0) return Duration.ofSeconds(number);
    } catch (NumberFormatException notNumber) {}
    throw new IllegalArgumentException(
        "-Dfibry.test.limit=" + Lines.line(seconds) + " is not a number of seconds; give 1 or more");
  }

  private TestScope(String name, UnaryOperator<Options> options) {
    this.scope = ActorSystem.openScope(name, inherited -> Objects.requireNonNull(options, "options")
        .apply(inherited.withStrategy(Strategy.FIBER)).withScheduler(clock));
  }

  /**
   * Opens a scope whose actors run on virtual threads. {@link #assertQuiet} waits for their work.
   *
   * @return an open scope
   */
  public static TestScope fibers() {
    return open("test", options -> options);
  }

  /**
   * Opens a scope whose actors run on the sender's thread. When {@code sendMessage} returns, the
   * message is handled.
   *
   * @return an open scope
   */
  public static TestScope caller() {
    return open("test", options -> options.withStrategy(Strategy.CALLER));
  }

  /**
   * Opens a scope with these options; the clock stays manual.
   *
   * @param name not blank; need not be unique
   * @param options changes the defaults: the options of the root scope with {@link Strategy#FIBER}
   * @return an open scope
   */
  public static TestScope open(String name, UnaryOperator<Options> options) {
    return new TestScope(name, options);
  }

  // ---- time

  /**
   * Returns the clock of all timers and limits.
   *
   * @return the same clock at each call
   */
  public ManualScheduler clock() {
    return clock;
  }

  /**
   * Waits until the scope is quiet, moves the clock to the next due timer or limit, waits again,
   * and so on. Thus all events happen in the order of their times. This includes timers that a
   * message, a restart or the end of a wait sets in between.
   * {@snippet class="io.fibry.test.SnippetsTest" region="backoff"}
   *
   * <p>Each wait takes at most 5 s of real time by default. If the scope is not quiet then, this
   * method fails, and does not move the clock further: while a handler runs or is blocked, no time
   * passes. {@code clock().advance(..)} moves the clock nevertheless, for example to a time limit
   * of the blocked handler.
   *
   * @param duration the time to move, zero or more
   * @throws AssertionError if the scope does not become quiet before or after a move of the clock,
   * with the text of {@link #assertQuiet}, or if it always sets new timers
   */
  public void advance(Duration duration) {
    if (Objects.requireNonNull(duration, "duration").isNegative())
      throw new IllegalArgumentException("time cannot go back by " + format(duration) + "; give zero or more");
    long end = clock.nanoTime() + TimeUnit.NANOSECONDS.convert(duration);
    assertQuiet();
    for (int steps = 0; isDueUntil(end); steps++) {
      if (steps == MAX_STEPS) throw new AssertionError("scope '" + name() + "' still sets timers after " + MAX_STEPS
          + " steps within " + format(duration) + ", so this advance would never end:\n" + scope.dump());
      clock.advance(clock.untilNext().orElse(Duration.ZERO));
      assertQuiet();
    }
    clock.advance(Duration.ofNanos(Math.max(0, end - clock.nanoTime())));
    assertQuiet();
  }

  private boolean isDueUntil(long end) {
    var next = clock.untilNext();
    return next.isPresent() && next.get().toNanos() <= end - clock.nanoTime();
  }

  static String format(Duration time) {
    return time.abs().toSeconds() < 10 ? time.toMillis() + " ms" : time.toSeconds() + " s";
  }

  // ---- assertions

  /**
   * Waits until no message waits, no handler runs and no timer is due. A connection that waits for
   * its client's next message, such as an open WebSocket, counts as quiet. A connection that waits
   * for its client to read does not, because its messages are not handled.
   *
   * @throws AssertionError if this takes too long; the text says what each actor is doing, and how
   * to continue
   */
  public void assertQuiet() {
    if (!scope.awaitQuiescence(limit)) throw new AssertionError(
        "scope '" + name() + "' did not become quiet within " + format(limit) + " (" + remedy() + "):\n"
            + scope.dump());
  }

  /** Returns the remedy for a scope that is not quiet. Names the clients for which writes wait. */
  private String remedy() {
    var clients = pausedClients.stream().map(Supplier::get).filter(text -> !text.isEmpty()).sorted().toList();
    return (clients.isEmpty() ? "release what its handlers wait for"
        : String.join(", ", clients) + "; call resumeReading()") + ", or move the time by clock().advance(..)";
  }

  /**
   * Waits until the scope is quiet, and checks that {@link #assertDeadLetter} has found all of the
   * last 100 dead letters.
   *
   * @throws AssertionError if there are other dead letters, or the scope does not become quiet
   */
  public void assertNoDeadLetters() {
    assertQuiet();
    var unexpected = scope.deadLetters().stream().filter(letter -> !assertedLetters.contains(letter)).toList();
    if (!unexpected.isEmpty())
      throw new AssertionError("scope '" + name() + "' has dead letters that the test did not expect: " + unexpected,
          unexpected.getFirst().cause().orElse(null));
  }

  /**
   * Finds a dead letter, and waits for it until the scope is quiet. Each dead letter is found only
   * once: a second call with equal arguments finds the next dead letter.
   *
   * @param reason why the message was not handled
   * @param message the message that was sent
   * @return the first match
   * @throws AssertionError if there is no match; the text has all dead letters
   */
  public DeadLetter assertDeadLetter(DeadLetter.Reason reason, Object message) {
    var match = findUnasserted(reason, message);
    if (match.isPresent()) return match.get();
    boolean quiet = scope.awaitQuiescence(limit);
    return findUnasserted(reason, message)
        .orElseThrow(() -> new AssertionError("scope '" + name() + "'" + (quiet ? "" : ", which is not quiet yet,")
            + " has no dead letter " + reason + ": "
            + (message instanceof CharSequence ? "\"" + message + "\"" : message) + "; its dead letters: "
            + scope.deadLetters()));
  }

  private Optional<DeadLetter> findUnasserted(DeadLetter.Reason reason, Object message) {
    return scope.deadLetters().stream().filter(letter -> letter.reason() == reason && letter.message().equals(message))
        .filter(assertedLetters::add).findFirst();
  }

  // ---- closing

  /**
   * Closes the scope like any other: waiting messages are handled, slow handlers are interrupted.
   *
   * @throws AssertionError if a handler had to be interrupted, or still runs; the text says what
   * each actor was doing
   */
  @Override
  public void close() {
    var dumpAtLimit = new AtomicReference<>("");
    var report = end(limit, () -> dumpAtLimit.set(scope.dump()));
    if (dumpAtLimit.get().isEmpty() && report.unresponsive().isEmpty()) return;
    var dump = dumpAtLimit.get().isEmpty() ? "" : "; before the interrupt:\n" + dumpAtLimit.get();
    throw new AssertionError("scope '" + name() + "' did not end by itself within " + format(limit)
        + ": before the test ends, end its actors, release what they wait for, or move the clock. Messages left: "
        + report.deadLetters() + ", handlers that still run: " + report.unresponsive() + dump);
  }

  /** Closes the scope like any other, but {@code limit} is real time. */
  @Override
  public Report closeWithin(Duration limit) {
    return end(limit, () -> {});
  }

  private Report end(Duration limit, Runnable atLimit) {
    var ended = new CountDownLatch(1);
    Thread.ofVirtual().name("clock of scope '" + name() + "'").start(() -> driveClock(ended, limit, atLimit));
    try {
      return scope.closeWithin(limit);
    } finally {
      ended.countDown();
    }
  }

  /**
   * If the scope has not ended after the limit in real time, moves the clock, so that the limit of
   * {@code closeWithin} expires on this clock, too. The test's thread waits in {@code closeWithin},
   * and cannot move the clock.
   */
  private void driveClock(CountDownLatch ended, Duration limit, Runnable atLimit) {
    try {
      if (ended.await(TimeUnit.NANOSECONDS.convert(limit), TimeUnit.NANOSECONDS)) return;
      atLimit.run();
      clock.advance(limit);
      while (!ended.await(1, TimeUnit.SECONDS)) clock.advance(Duration.ofSeconds(1));
    } catch (InterruptedException impossible) {
      throw new AssertionError(impossible);
    }
  }

  // ---- delegation

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
  public boolean isClosed() {
    return scope.isClosed();
  }

  @Override
  public CloseHook onClosing(Runnable hook) {
    return scope.onClosing(hook);
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
  public List<ActorStats> actors() {
    return scope.actors();
  }

  @Override
  public String dump() {
    return scope.dump();
  }

  @Override
  public boolean awaitQuiescence(Duration limit) {
    return scope.awaitQuiescence(limit);
  }

  @Override
  public String toString() {
    return "test scope '" + name() + "'";
  }
}
