package io.fibry.engine.scope;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorStats;
import io.fibry.DeadLetter;
import io.fibry.Exitable;
import io.fibry.engine.actor.DefaultActorBuilder;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.world.Environment;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;

/** The public side of a scope; the inside is {@link ScopeState}. */
public final class Scope extends ScopeState implements ActorScope {
  static final Scope ROOT = newRoot(); // of the process

  private final boolean isBlockScope; // of the scope around, for a block
  private final boolean tracks; // also actors without a name
  private final Supervisor supervisor = new Supervisor(this);
  private final ScopeWatchdog watchdog = new ScopeWatchdog(this);
  private final DefaultActorBuilder<Object> blueprint = DefaultActorBuilder.of(this);
  private volatile Options options; // written by configure, read by all threads

  Scope(String name, Options options, Scope around) {
    super(name, around);
    this.options = options;
    this.tracks = around != null;
    this.isBlockScope = false;
  }

  private Scope(String name, Scope around, boolean tracks) {
    super(name, around);
    this.options = around.options();
    this.tracks = tracks;
    this.isBlockScope = true;
  }

  private static Scope newRoot() {
    return new Scope("root", Options.defaults(), null);
  }

  /** For this thread. */
  public static Scope root() {
    var other = Environment.simulated;
    return other == null ? ROOT : other.instanceFor(ROOT, Scope::newRoot);
  }

  /** In the scope of an actor; in the root, if the engine has not made it. */
  public static ActorBuilder<Object> siblingBuilder(Exitable actor) {
    return (actor instanceof Cell cell ? cell.owner().scope() : root()).anonymous();
  }

  @Override
  public ActorScope scope() {
    return this;
  }

  @Override
  public Options options() {
    return isBlockScope ? ((Scope) parent).options() : options;
  }

  @Override
  public boolean isTracked(String label) {
    return tracks || label != null;
  }

  public synchronized void configure(UnaryOperator<Options> change) {
    options = changed(change, options);
    watchdog.applyOptions(options);
  }

  private static Options changed(UnaryOperator<Options> change, Options options) {
    return Objects.requireNonNull(Objects.requireNonNull(change, "options").apply(options), "the changed options");
  }

  @Override
  public ActorBuilder<Object> anonymous() {
    return blueprint;
  }

  @Override
  public ActorBuilder<Object> named(String name) {
    return blueprint.named(checkedName(name));
  }

  @Override
  @SuppressWarnings("unchecked") // it was made with this protocol
  public <M> Optional<Actor<M>> find(String name, Class<M> protocol) {
    Objects.requireNonNull(protocol, "protocol");
    var cell = findActor(Objects.requireNonNull(name, "name"));
    if (cell == null) return Optional.empty();
    var type = cell.extras().type;
    if (type == null) throw new IllegalStateException("actor '" + name
        + "' was made without a protocol, so it cannot be found; make it with .protocol(" + protocol.getSimpleName()
        + ".class)");
    if (type != protocol) throw new IllegalArgumentException("actor '" + name + "' has the protocol "
        + type.getSimpleName() + ", not " + protocol.getSimpleName() + "; ask for the one that it was made with");
    return Optional.of((Actor<M>) cell);
  }

  @Override
  public ActorScope openScope(String name) {
    return openScope(name, same -> same);
  }

  @Override
  public ActorScope openScope(String name, UnaryOperator<Options> change) {
    var below = new Scope(name, changed(change, options()), this);
    join(below);
    below.watchdog.applyOptions(below.options);
    return below;
  }

  @Override
  public Scope openBlockScope(String kind, String label) {
    var part = new Scope(label == null ? kind : label, this, isTracked(label));
    if (!part.tracks) return part;
    join(part);
    part.watchdog.applyOptions(part.options);
    return part;
  }

  @Override
  public Report report() {
    return report(List.of());
  }

  @Override
  public List<DeadLetter> deadLetters() {
    return accounts().letters();
  }

  @Override
  public List<ActorStats> actors() {
    return StatsCollector.of(this);
  }

  @Override
  public String dump() {
    return ScopeDump.of(this);
  }

  /** Idle twice, with nothing handled in between: idle all the time. */
  @Override
  public boolean awaitQuiescence(Duration limit) {
    long most = Deadline.nanos(Deadline.notNegative(limit));
    long began = System.nanoTime();
    for (long pause = 20_000;; pause = Math.min(1_000_000, pause * 2)) {
      long before = accounts().total();
      if (isQuiet() && isQuiet() && accounts().total() == before) return true;
      if (System.nanoTime() - began >= most) return false;
      if (Thread.currentThread().isInterrupted())
        throw new CancellationException("interrupted while waiting for scope '" + name() + "' to be quiet");
      LockSupport.parkNanos(this, pause);
    }
  }

  private boolean isQuiet() {
    if (accounts().isNotifying()) return false;
    var pauses = closeWaits();
    var cells = cells(this);
    Set<Cell> all = Collections.newSetFromMap(new IdentityHashMap<>());
    all.addAll(cells);
    // of a close around this scope, which may wait for an actor elsewhere
    if (pauses.isPresent()) for (var pause : pauses.get()) all.add(pause.cell());
    return pauses.isPresent() && all.stream().allMatch(cell -> cell.isQuiet(all))
        && pauses.equals(closeWaits()); // a close that went on may have sent a pill to an actor that was idle
  }

  @Override
  public Decision decide(Object member, Exitable failed, Throwable failure) {
    return isBlockScope ? parent.decide(this, failed, failure) : supervisor.decide(member, failed, failure);
  }

  @Override
  public void close() {
    close(options().drainLimit(), true);
  }

  @Override
  public Report closeWithin(Duration limit) {
    return close(Deadline.notNegative(limit), false);
  }

  private Report close(Duration limit, boolean logs) {
    refuseNewMembers();
    var mine = new ScopeCloser(this);
    var first = claim(mine);
    if (first != mine) return ((ScopeCloser) first).join();
    try {
      var report = mine.run(Deadline.ofOrNoWait(options().scheduler(), limit));
      if (logs) warnAboutLeftovers(report);
    } finally {
      if (parent == null) {
        reopen();
        watchdog.applyOptions(options);
      }
    }
    return mine.result();
  }

  private void warnAboutLeftovers(Report report) {
    var left = report.undelivered();
    String messages = switch (left.size()) {
      case 0 -> "";
      case 1 -> "; it left a " + left.getFirst();
      default -> "; it left " + left.size() + " dead letters, the first are " + left.stream().limit(10).toList();
    };
    String handlers = report.unresponsive().isEmpty() ? "" : "; handlers still run of " + report.unresponsive();
    if (!(messages + handlers).isEmpty()) EngineLog.LOG.warn("scope '{}' is closed{}{}", name(), messages, handlers);
  }

  @Override
  boolean isBlockScope() {
    return isBlockScope;
  }

  @Override
  void stopWatching() {
    watchdog.stop();
  }
}
