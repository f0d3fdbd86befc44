package io.fibry.engine.cell;

import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.scope.Scope;
import java.lang.ref.WeakReference;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Whose ends an actor wants to hear of, and who wants to hear of its own. The watched one holds its
 * watchers, who are to be told, not they it: a watch keeps nobody alive but a watcher, and taken
 * back it leaves no trace. Guarded by itself; no two of these monitors are held at once.
 */
public final class Watches {
  /**
   * One that ends elsewhere than in an actor: its future cannot forget us, but this forgets the
   * actor.
   */
  private static final class Foreign extends AtomicReference<Consumer<ExitReason>> {
    private static final long serialVersionUID = 1;

    public void tell(ExitReason reason) {
      var listener = getAndSet(null);
      if (listener != null) listener.accept(reason);
    }
  }

  private static final Foreign NONE = new Foreign();

  private final ActorCell cell;
  // weak values: a listener may know the one it listens to, whose future keeps it
  private final Map<Exitable, WeakReference<Foreign>> watched = new WeakHashMap<>();
  private Map<ActorCell, Function<ExitReason, ?>> watchers = new LinkedHashMap<>();
  private boolean over; // its own watches are at an end
  private ExitReason ended; // its watchers were told

  public Watches(ActorCell cell, boolean over, ExitReason ended) {
    this.cell = cell;
    this.over = over;
    this.ended = ended;
  }

  // ---- of others

  public void watch(Exitable other, Function<ExitReason, ?> message) {
    unwatch(other); // the new function takes the place of the old
    String name = other.name();
    var foreign = other instanceof ActorCell ? NONE : new Foreign();
    synchronized (this) {
      if (over) return;
      watched.put(other, new WeakReference<>(foreign));
    }
    if (other instanceof ActorCell actor) watch(actor, message);
    else {
      foreign.set(reason -> tell(cell, name, message, reason));
      if (isOver()) foreign.set(null); // ended since we looked
      other.onExit()
          .whenComplete((reason, failure) -> foreign.tell(failure == null ? reason : new ExitReason.Failed(failure)));
    }
  }

  private void watch(ActorCell other, Function<ExitReason, ?> message) {
    var reason = other.rich().watches().add(cell, message);
    if (reason != null) {
      forget(other);
      tell(cell, other.name(), message, reason);
    } else if (isOver()) other.rich().watches().remove(cell); // ended since we looked
  }

  public void unwatch(Exitable other) {
    var foreign = forget(other);
    if (foreign != null) remove(other, foreign);
  }

  private void remove(Exitable other, WeakReference<Foreign> foreign) {
    if (other instanceof ActorCell actor) actor.rich().watches().remove(cell);
    else if (foreign.get() instanceof Foreign listener) listener.set(null);
  }

  private synchronized WeakReference<Foreign> forget(Exitable other) {
    return watched.remove(other);
  }

  private synchronized boolean isOver() {
    return over;
  }

  /** The actor ends: it will hear of nobody. */
  public void end() {
    Map<Exitable, WeakReference<Foreign>> left;
    synchronized (this) {
      if (over) return;
      over = true;
      left = new LinkedHashMap<>(watched);
      watched.clear();
    }
    left.forEach(this::remove);
  }

  // ---- by others

  /** Null: it will be told; else it is late, and this was the reason. */
  private synchronized ExitReason add(ActorCell watcher, Function<ExitReason, ?> message) {
    if (ended == null) watchers.put(watcher, message);
    return ended;
  }

  private synchronized void remove(ActorCell watcher) {
    if (ended == null) watchers.remove(watcher);
  }

  /** The actor has ended. */
  public void announce(ExitReason reason) {
    Map<ActorCell, Function<ExitReason, ?>> told;
    synchronized (this) {
      if (ended != null) return;
      ended = reason;
      told = watchers;
      watchers = Map.of();
    }
    told.forEach((watcher, message) -> {
      watcher.rich().watches().forget(cell);
      tell(watcher, cell.name(), message, reason);
    });
  }

  private static void tell(ActorCell watcher, String name, Function<ExitReason, ?> message, ExitReason reason) {
    try {
      watcher.admit(Objects.requireNonNull(message.apply(reason), "the message about an end is null"));
    } catch (Throwable failure) {
      Scope.LOG.error("actor '{}' could not be told of the end of '{}'", watcher.name(), name, failure);
    }
  }
}
