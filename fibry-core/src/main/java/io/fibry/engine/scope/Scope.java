package io.fibry.engine.scope;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorStats;
import io.fibry.DeadLetter;
import io.fibry.Exitable;
import io.fibry.engine.actor.DefaultActorBuilder;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.jvm.EngineClasses;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.world.Environment;
import io.fibry.spi.ActorTotals;
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

/** The public methods of a scope; its state is in {@link ScopeState}. */
public final class Scope extends ScopeState implements ActorScope, ActorTotals.Source {
  /** The root scope of the process. Each simulation has a root scope of its own. */
  static final class ProcessRoot {
    static final Scope SCOPE = newRoot();

    private ProcessRoot() {}
  }

  private final boolean isBlockScope; // whether this inner scope was made for the actors of a block
  private final boolean hasUnnamedMembers; // whether actors without a name are members, too
  private final Supervisor supervisor = new Supervisor(this);
  private final ScopeWatchdog watchdog = new ScopeWatchdog(this);
  private final DefaultActorBuilder<Object> blueprint = DefaultActorBuilder.of(this);
  private volatile Options options; // written by configure, read by all threads

  Scope(String name, Options options, Scope parent) {
    super(name, parent);
    this.options = options;
    this.hasUnnamedMembers = parent != null;
    this.isBlockScope = false;
  }

  private Scope(String name, Scope parent, boolean hasUnnamedMembers) {
    super(name, parent);
    this.options = parent.options();
    this.hasUnnamedMembers = hasUnnamedMembers;
    this.isBlockScope = true;
  }

  private static Scope newRoot() {
    return new Scope("root", Options.defaults(), null);
  }

  /**
   * Returns the root scope for this thread: the root scope of its simulation, or else of the
   * process.
   */
  public static Scope root() {
    // here, because Scope would stay unusable if a stack overflow ended its static initializer
    EngineClasses.initialize();
    var simulation = Environment.simulated;
    return simulation == null ? ProcessRoot.SCOPE : simulation.instanceFor(ProcessRoot.SCOPE, Scope::newRoot);
  }

  /**
   * Returns a builder of actors in the scope of this actor, or in the root scope if the engine has
   * not made the actor.
   */
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
  public boolean isMember(String label) {
    return hasUnnamedMembers || label != null;
  }

  public synchronized void configure(UnaryOperator<Options> change) {
    options = applyChange(change, options);
    watchdog.applyOptions(options);
  }

  private static Options applyChange(UnaryOperator<Options> change, Options options) {
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
  @SuppressWarnings("unchecked") // the actor was made with this protocol
  public <M> Optional<Actor<M>> find(String name, Class<M> protocol) {
    Objects.requireNonNull(protocol, "protocol");
    var cell = findActor(Objects.requireNonNull(name, "name"));
    if (cell == null) return Optional.empty();
    var type = cell.protocol();
    if (type == null) throw new IllegalStateException("actor '" + name
        + "' was made without a protocol, so it cannot be found; make it with .protocol(" + protocol.getSimpleName()
        + ".class)");
    if (type != protocol) throw new IllegalArgumentException("actor '" + name + "' has the protocol "
        + type.getSimpleName() + ", not " + protocol.getSimpleName() + "; ask for the protocol that it was made with");
    return Optional.of((Actor<M>) cell);
  }

  @Override
  public ActorScope openScope(String name) {
    return openScope(name, options -> options);
  }

  @Override
  public ActorScope openScope(String name, UnaryOperator<Options> change) {
    var innerScope = new Scope(name, applyChange(change, options()), this);
    join(innerScope);
    innerScope.watchdog.applyOptions(innerScope.options);
    return innerScope;
  }

  @Override
  public Scope openBlockScope(String kind, String label) {
    var blockScope = new Scope(label == null ? kind : label, this, isMember(label));
    if (!blockScope.hasUnnamedMembers) return blockScope;
    join(blockScope);
    blockScope.watchdog.applyOptions(blockScope.options);
    return blockScope;
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
  public boolean addSamples(List<ActorStats> samples, int max) {
    return StatsCollector.addSamples(samples, this, max);
  }

  @Override
  public String dump() {
    return ScopeDump.of(this);
  }

  /**
   * Waits until the scope is quiet. If two checks find the scope quiet, and no message was handled
   * in between, the scope was quiet all the time between the checks.
   */
  @Override
  public boolean awaitQuiescence(Duration limit) {
    long maxNanos = Deadline.nanos(Deadline.notNegative(limit));
    long startNanos = System.nanoTime();
    for (long pause = 20_000;; pause = Math.min(1_000_000, pause * 2)) {
      long activitiesBefore = accounts().activityCount();
      if (isQuiet() && isQuiet() && accounts().activityCount() == activitiesBefore) return true;
      if (System.nanoTime() - startNanos >= maxNanos) return false;
      if (Thread.currentThread().isInterrupted())
        throw new CancellationException("interrupted while waiting for scope '" + name() + "' to be quiet");
      LockSupport.parkNanos(this, pause);
    }
  }

  private boolean isQuiet() {
    if (accounts().isNotifying()) return false;
    var closeWaits = closeWaits();
    var cells = cells(this);
    Set<Cell> examinedCells = Collections.newSetFromMap(new IdentityHashMap<>());
    examinedCells.addAll(cells);
    // a close of an outer scope may wait for an actor outside of this scope
    if (closeWaits.isPresent()) for (var wait : closeWaits.get()) examinedCells.add(wait.cell());
    return closeWaits.isPresent() && examinedCells.stream().allMatch(cell -> cell.isQuiet(examinedCells))
        && closeWaits.equals(closeWaits()); // a close that continued may have sent a pill to an idle actor
  }

  @Override
  public Decision decide(Object member, Exitable failedActor, Throwable failure) {
    return isBlockScope ? parent.decide(this, failedActor, failure) : supervisor.decide(member, failedActor, failure);
  }

  @Override
  public void close() {
    close(options().drainLimit(), true);
  }

  @Override
  public Report closeWithin(Duration limit) {
    return close(Deadline.notNegative(limit), false);
  }

  private Report close(Duration limit, boolean logsLeftovers) {
    refuseNewMembers();
    var closer = new ScopeCloser(this);
    var activeClose = claim(closer);
    if (activeClose != closer) return ((ScopeCloser) activeClose).join();
    try {
      var report = closer.run(Deadline.ofOrNoWait(options().scheduler(), limit));
      if (logsLeftovers) warnAboutLeftovers(report);
    } finally {
      if (parent == null) {
        reopen();
        watchdog.applyOptions(options);
      }
    }
    return closer.reportOrThrow();
  }

  private void warnAboutLeftovers(Report report) {
    var letters = report.deadLetters();
    String messages = switch (letters.size()) {
      case 0 -> "";
      case 1 -> "; it left a " + letters.getFirst();
      default -> "; it left " + letters.size() + " dead letters, the first are " + letters.stream().limit(10).toList();
    };
    String handlers =
        report.unresponsive().isEmpty() ? "" : "; handlers of these actors still run: " + report.unresponsive();
    if (!(messages + handlers).isEmpty()) EngineLog.log().warn("scope '{}' is closed{}{}", name(), messages, handlers);
  }

  @Override
  boolean isBlockScope() {
    return isBlockScope;
  }

  @Override
  void stopWatchdog() {
    watchdog.stop();
  }
}
