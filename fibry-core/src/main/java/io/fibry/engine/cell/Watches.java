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
 * The actors that one actor watches, and its watchers. The watched actor refers to its watchers,
 * not the other way round. So a watch keeps only the watcher alive, and leaves no trace after
 * {@code unwatch}. Guarded by itself; no thread holds two of these monitors.
 */
final class Watches {
  interface Watcher extends Exitable {
    Watches watches();

    /** Its mailbox never refuses this. User code makes the message: here, or on its own thread. */
    void admit(Callable<Object> message, String what, boolean inPlace);
  }

  /**
   * Listens to something that is no actor, whose future keeps it for ever; it can forget the actor.
   */
  private static final class ForeignWatch extends AtomicReference<Consumer<ExitReason>> {
    private static final long serialVersionUID = 1;

    void onExit(ExitReason reason) {
      var listener = getAndSet(null);
      if (listener != null) listener.accept(reason);
    }
  }

  private static final ForeignWatch NONE = new ForeignWatch();
  private static final int FEW = 2; // most are watched by one, and watch none

  private final Watcher actor;
  // both maps are empty and fixed until they are needed; weak values, because a listener may refer
  // to the object that it listens to
  private Map<Exitable, WeakReference<ForeignWatch>> watched = Map.of();
  private Map<Watcher, Function<ExitReason, ?>> watchers = Map.of();
  private boolean over;
  private ExitReason ended; // null: its watchers were not told yet

  Watches(Watcher actor, boolean over, ExitReason ended) {
    this.actor = actor;
    this.over = over;
    this.ended = ended;
  }

  void watch(Exitable other, Function<ExitReason, ?> message) {
    unwatch(other); // the new message replaces the old
    String name = other.name();
    var foreign = other instanceof Watcher ? NONE : new ForeignWatch();
    synchronized (this) {
      if (over) return;
      if (watched.isEmpty()) watched = new WeakHashMap<>(FEW);
      watched.put(other, new WeakReference<>(foreign));
    }
    if (other instanceof Watcher another) watch(another, message);
    else {
      foreign.set(reason -> tell(actor, name, message, reason, true));
      if (isOver()) foreign.set(null); // ended meanwhile
      other.onExit()
          .whenComplete((reason, failure) -> foreign.onExit(failure == null ? reason : new ExitReason.Failed(failure)));
    }
  }

  private void watch(Watcher other, Function<ExitReason, ?> message) {
    var reason = other.watches().add(actor, message);
    if (reason != null) {
      forget(other);
      tell(actor, other.name(), message, reason, true);
    } else if (isOver()) other.watches().remove(actor); // likewise
  }

  void unwatch(Exitable other) {
    var foreign = forget(other);
    if (foreign != null) remove(other, foreign);
  }

  private void remove(Exitable other, WeakReference<ForeignWatch> foreign) {
    if (other instanceof Watcher another) another.watches().remove(actor);
    else if (foreign.get() instanceof ForeignWatch listener) listener.set(null);
  }

  private synchronized WeakReference<ForeignWatch> forget(Exitable other) {
    return watched.isEmpty() ? null : watched.remove(other);
  }

  private synchronized boolean isOver() {
    return over;
  }

  void end() {
    Map<Exitable, WeakReference<ForeignWatch>> left;
    synchronized (this) {
      if (over) return;
      over = true;
      left = new LinkedHashMap<>(watched);
      watched = Map.of();
    }
    for (var one : left.entrySet()) remove(one.getKey(), one.getValue());
  }

  /** Returns null if the watcher was added in time, otherwise the reason of the actor's end. */
  private synchronized ExitReason add(Watcher watcher, Function<ExitReason, ?> message) {
    if (ended != null) return ended;
    if (watchers.isEmpty()) watchers = new LinkedHashMap<>(FEW);
    watchers.put(watcher, message);
    return null;
  }

  private synchronized void remove(Watcher watcher) {
    if (ended == null && !watchers.isEmpty()) watchers.remove(watcher);
  }

  void announce(ExitReason reason) {
    Map<Watcher, Function<ExitReason, ?>> told;
    synchronized (this) {
      if (ended != null) return;
      ended = reason;
      told = watchers;
      watchers = Map.of();
    }
    for (var one : told.entrySet()) {
      var watcher = one.getKey();
      watcher.watches().forget(actor);
      tell(watcher, actor.name(), one.getValue(), reason, false);
    }
  }

  private static void tell(Watcher watcher, String name, Function<ExitReason, ?> message, ExitReason reason,
      boolean inPlace) {
    watcher.admit(new ExitMessage(message, reason), "the end of '" + name + "'", inPlace);
  }

  /** No lambda: see Dispatch. */
  record ExitMessage(Function<ExitReason, ?> message, ExitReason reason) implements Callable<Object> {
    @Override
    public Object call() {
      return Objects.requireNonNull(message.apply(reason), "the message about an end is null");
    }
  }
}
