package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.Exitable;
import java.lang.ref.WeakReference;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The actors that one actor watches, and its watchers. A watched actor keeps its watchers in memory
 * until {@code unwatch}, or until the watcher or the watched actor ends. A watcher has only weak
 * references to the actors that it watches. Guarded by itself; no thread holds two such monitors.
 */
final class Watches {
  interface Watcher extends Exitable {
    Watches watches();

    /**
     * Calls the factory, which is user code, and adds its message even if the mailbox is full. The
     * factory runs on this thread if {@code onThisThread} is true, otherwise on another thread.
     *
     * @param eventText names the event in the log if the message cannot be made
     */
    void admit(Callable<Object> factory, String eventText, boolean onThisThread);
  }

  /**
   * Listens to an Exitable that is no actor. The future of the Exitable keeps this object in
   * memory. Once this object is cleared, it no longer keeps the watching actor in memory.
   */
  private static final class ForeignWatch extends AtomicReference<Consumer<ExitReason>> {
    private static final long serialVersionUID = 1;

    void onExit(ExitReason reason) {
      var listener = getAndSet(null);
      if (listener != null) listener.accept(reason);
    }
  }

  private static final ForeignWatch NO_FOREIGN_WATCH = new ForeignWatch();
  private static final int INITIAL_CAPACITY = 2; // most actors have one watcher, and watch none

  private final Watcher actor;
  // Both maps are empty and immutable until needed. The first has weak values, because a listener
  // may refer to the Exitable that it listens to
  private Map<Exitable, WeakReference<ForeignWatch>> watched = Map.of();
  private Map<Watcher, Function<ExitReason, ?>> watchers = Map.of();
  private boolean endBegun;
  private ExitReason endReason; // null until the watchers are notified

  Watches(Watcher actor, boolean endBegun, ExitReason endReason) {
    this.actor = actor;
    this.endBegun = endBegun;
    this.endReason = endReason;
  }

  void watch(Exitable target, Function<ExitReason, ?> toMessage) {
    unwatch(target); // the new function replaces the old one
    String name = target.name();
    var foreignWatch = target instanceof Watcher ? NO_FOREIGN_WATCH : new ForeignWatch();
    synchronized (this) {
      if (endBegun) return;
      if (watched.isEmpty()) watched = new WeakHashMap<>(INITIAL_CAPACITY);
      watched.put(target, new WeakReference<>(foreignWatch));
    }
    if (target instanceof Watcher actorTarget) watch(actorTarget, toMessage);
    else {
      foreignWatch.set(reason -> sendExitMessage(actor, name, toMessage, reason, true));
      if (hasEndBegun()) foreignWatch.set(null); // the end began after the check of `endBegun`
      target.onExit()
          .whenComplete((reason, failure) -> foreignWatch
              .onExit(failure == null ? reason : new ExitReason.Failed(failure)));
    }
  }

  private void watch(Watcher target, Function<ExitReason, ?> toMessage) {
    var reason = target.watches().add(actor, toMessage);
    if (reason != null) {
      forget(target);
      sendExitMessage(actor, target.name(), toMessage, reason, true);
    } else if (hasEndBegun()) target.watches().remove(actor); // the end began after the check of `endBegun`
  }

  void unwatch(Exitable target) {
    var foreignWatch = forget(target);
    if (foreignWatch != null) remove(target, foreignWatch);
  }

  private void remove(Exitable target, WeakReference<ForeignWatch> foreignWatch) {
    if (target instanceof Watcher actorTarget) actorTarget.watches().remove(actor);
    else if (foreignWatch.get() instanceof ForeignWatch listener) listener.set(null);
  }

  private synchronized WeakReference<ForeignWatch> forget(Exitable target) {
    return watched.isEmpty() ? null : watched.remove(target);
  }

  private synchronized boolean hasEndBegun() {
    return endBegun;
  }

  void end() {
    Map<Exitable, WeakReference<ForeignWatch>> remaining;
    synchronized (this) {
      if (endBegun) return;
      endBegun = true;
      remaining = new LinkedHashMap<>(watched);
      watched = Map.of();
    }
    for (var entry : remaining.entrySet()) remove(entry.getKey(), entry.getValue());
  }

  /**
   * Adds a watcher and returns null. If the watchers have already been notified, returns the reason
   * of the end.
   */
  private synchronized ExitReason add(Watcher watcher, Function<ExitReason, ?> toMessage) {
    if (endReason != null) return endReason;
    if (watchers.isEmpty()) watchers = new LinkedHashMap<>(INITIAL_CAPACITY);
    watchers.put(watcher, toMessage);
    return null;
  }

  private synchronized void remove(Watcher watcher) {
    if (endReason == null && !watchers.isEmpty()) watchers.remove(watcher);
  }

  void announce(ExitReason reason) {
    Map<Watcher, Function<ExitReason, ?>> toNotify;
    synchronized (this) {
      if (endReason != null) return;
      endReason = reason;
      toNotify = watchers;
      watchers = Map.of();
    }
    for (var entry : toNotify.entrySet()) {
      var watcher = entry.getKey();
      watcher.watches().forget(actor);
      sendExitMessage(watcher, actor.name(), entry.getValue(), reason, false);
    }
  }

  private static void sendExitMessage(Watcher watcher, String name, Function<ExitReason, ?> toMessage,
      ExitReason reason, boolean onThisThread) {
    watcher.admit(new ExitMessage(toMessage, reason), "the end of '" + name + "'", onThisThread);
  }

  /**
   * A record, not a lambda: a lambda that is first linked without stack or memory may fail forever.
   */
  record ExitMessage(Function<ExitReason, ?> toMessage, ExitReason reason) implements Callable<Object> {
    @Override
    public Object call() {
      return Objects.requireNonNull(toMessage.apply(reason), "the function of a watch returned null; return a message");
    }
  }
}
