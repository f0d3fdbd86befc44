package io.fibry.engine.scope;

import io.fibry.ActorScope.Options;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.cell.Snapshot;
import io.fibry.engine.jvm.Threads;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Events;
import io.fibry.time.Scheduler;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Looks at the actors of one scope again and again, where its options say so: which have been at
 * one message for too long, which have too many waiting. Says so once for each message, and for a
 * mailbox again after it was half empty. The scopes below have their own.
 */
public final class Watchdog {
  private static final int LOOKS = 4; // in the time that one message may take

  /** What it knows of one actor. Only the look that goes on touches it. */
  private static final class Note {
    private Snapshot.Since told; // of this message
    private boolean full;
  }

  private final Scope scope;
  // by the look that goes on: it may take longer than the time between two
  private final AtomicBoolean looking = new AtomicBoolean();
  private volatile Options.Watch watch; // these three: written under the monitor, read by the look
  private volatile Scheduler clock;
  private volatile Scheduler.Timer timer; // null: it does not watch
  // written by the look, and by who ends the watch
  private volatile Map<ActorCell, Note> notes = Map.of();

  public Watchdog(Scope scope) {
    this.scope = scope;
  }

  /**
   * Starts, changes or ends the watch. Looks at the scope's door last, while a close shuts the
   * door, then stops the watch: one of the two sees the other.
   */
  public synchronized void heed(Options options) {
    if (Objects.equals(watch, options.watch) && clock == options.scheduler && (timer != null || watch == null)) return;
    stop();
    watch = options.watch;
    clock = options.scheduler;
    if (watch == null) return;
    var period = watch.handling().dividedBy(LOOKS).plusNanos(1);
    // messages are printed: their code is the user's
    timer = clock.atFixedRate(period, period,
        clock == Scheduler.system() ? () -> Threads.FIBER.activate(this::look) : this::look);
    if (scope.isClosing()) stop();
  }

  /** A look that goes on may still print. */
  public synchronized void stop() {
    if (timer != null) timer.cancel();
    timer = null;
    notes = Map.of();
  }

  /** Holds no monitor, or who closes the scope would wait for the user's code. */
  private void look() {
    if (!looking.compareAndSet(false, true)) return;
    try {
      var asked = watch;
      if (timer != null && asked != null) look(asked, clock.nanoTime());
    } finally {
      looking.set(false);
    }
  }

  private void look(Options.Watch asked, long now) {
    var seen = new IdentityHashMap<ActorCell, Note>();
    for (var member : scope.members())
      if (member instanceof ActorCell one) for (var cell : one.crew()) if (!cell.isIdle()) look(cell, asked, seen, now);
    notes = seen;
    if (timer == null) notes = Map.of(); // it was stopped meanwhile
  }

  private void look(ActorCell cell, Options.Watch asked, Map<ActorCell, Note> seen, long now) {
    var note = notes.getOrDefault(cell, new Note());
    seen.put(cell, note);
    lookAtHandler(cell, asked, note, now);
    if (note.full) note.full = !cell.waitAtMost(asked.waiting() / 2);
    else if (cell.waiting(asked.waiting() + 1) > asked.waiting()) {
      note.full = true;
      Scope.LOG.warn("more than {} messages wait for actor '{}'", asked.waiting(), cell.name());
    }
  }

  private void lookAtHandler(ActorCell cell, Options.Watch asked, Note note, long now) {
    var worker = cell.run();
    var since = worker == null ? null : Snapshot.note(worker);
    Object message = since == null ? null : worker.message;
    if (message == null || since == note.told || now - since.nanos() < Deadline.nanos(asked.handling())) return;
    note.told = since;
    var seen = Snapshot.at(worker).seen();
    Events.stuck(cell, message, now - since.nanos());
    Scope.LOG.warn("actor '{}' {}", cell.name(), seen.doing(), seen.here());
  }
}
