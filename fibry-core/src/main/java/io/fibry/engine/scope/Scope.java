package io.fibry.engine.scope;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.DeadLetter;
import io.fibry.Exitable;
import io.fibry.engine.actor.Blueprint;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.jvm.Log;
import io.fibry.engine.message.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;

/** The public side of a scope; the inside is {@link Members}. */
public final class Scope extends Members implements ActorScope {
  public static final Scope ROOT = new Scope("root", Options.defaults(), null);

  private final Supervisor supervisor = new Supervisor(this);
  private final Watchdog watchdog = new Watchdog(this);
  private volatile Options options; // written by configure, read by all threads

  Scope(String name, Options options, Scope around) {
    super(name, around);
    this.options = options;
  }

  @Override
  public Options options() {
    return options;
  }

  public synchronized void configure(UnaryOperator<Options> change) {
    options = changed(change, options);
    watchdog.heed(options);
  }

  private static Options changed(UnaryOperator<Options> change, Options options) {
    return Objects.requireNonNull(Objects.requireNonNull(change, "options").apply(options), "the changed options");
  }

  @Override
  public ActorBuilder<Object> anonymous() {
    return Blueprint.of(this, null);
  }

  @Override
  public ActorBuilder<Object> named(String name) {
    return Blueprint.of(this, checkedName(name));
  }

  @Override
  @SuppressWarnings("unchecked") // it was made with this protocol
  public <M> Optional<Actor<M>> find(String name, Class<M> protocol) {
    Objects.requireNonNull(protocol, "protocol");
    var cell = living(Objects.requireNonNull(name, "name"));
    return cell != null && cell.extras().type == protocol ? Optional.of((Actor<M>) cell) : Optional.empty();
  }

  @Override
  public ActorScope openScope(String name) {
    return openScope(name, same -> same);
  }

  @Override
  public ActorScope openScope(String name, UnaryOperator<Options> change) {
    var below = new Scope(name, changed(change, options), this);
    join(below);
    below.watchdog.heed(below.options);
    return below;
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
  public String dump() {
    return Dump.of(this);
  }

  /** Idle twice, with nothing handled in between: idle all the time. */
  @Override
  public boolean awaitQuiet(Duration limit) {
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
    return !accounts().isTelling() && cells(this).stream().allMatch(Cell::isQuiet);
  }

  @Override
  public Decision decide(Object member, Exitable failed, Throwable failure) {
    return supervisor.decide(member, failed, failure);
  }

  @Override
  public void close() {
    close(options.drainLimit(), true);
  }

  @Override
  public Report closeWithin(Duration limit) {
    return close(Deadline.notNegative(limit), false);
  }

  private Report close(Duration limit, boolean logs) {
    shutDoors();
    var mine = new ScopeClosing(this);
    var first = claim(mine);
    if (first != mine) return ((ScopeClosing) first).join();
    try {
      var report = mine.run(Deadline.within(options.scheduler(), limit));
      if (logs && !(report.leftovers().isEmpty() && report.running().isEmpty())) Log.LOG.warn(
          "scope '{}' closed and left {} messages; handlers that still run: {}; the first messages: {}", name(),
          report.leftovers().size(), report.running(), report.leftovers().stream().limit(10).toList());
    } finally {
      if (around == null) {
        reopen();
        watchdog.heed(options);
      }
    }
    return mine.result();
  }

  @Override
  void stopWatching() {
    watchdog.stop();
  }
}
