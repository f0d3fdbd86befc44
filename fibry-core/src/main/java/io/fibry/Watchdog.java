package io.fibry;

import io.fibry.ActorScope.Options;
import io.fibry.time.Scheduler;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Looks at the actors of one scope again and again, where its options say so: which have been at one message for too long, which have too many waiting. Says so once for each message, and for a mailbox again after it
 * was half empty. The scopes below have their own.
 */
final class Watchdog {
  private static final int LOOKS = 4; // in the time that one message may take

  /** What it knows of one actor. Only the look that goes on touches it. */
  private static final class Note {
    private Look.Since told; // of this message
    private boolean full;
  }

  private final Scope scope;
  private Options.Watch watch; // guarded by this, as all below
  private Scheduler clock;
  private Scheduler.Timer timer;
  private Map<ActorCell, Note> notes = new IdentityHashMap<>();

  Watchdog(Scope scope) {
    this.scope = scope;
  }

  /** Starts, changes or ends the watch. Looks at the scope's door last, while a close shuts the door, then stops the watch: one of the two sees the other. */
  synchronized void heed(Options options) {
    if (Objects.equals(watch, options.watch) && clock == options.scheduler && (timer != null || watch == null)) return;
    stop();
    watch = options.watch;
    clock = options.scheduler;
    if (watch == null) return;
    var period = watch.handling().dividedBy(LOOKS).plusNanos(1);
    timer = clock.atFixedRate(period, period, clock == Scheduler.system() ? () -> OwnThreads.FIBER.activate(this::look) : this::look); // messages are printed: their code is the user's
    if (scope.isClosing()) stop();
  }

  synchronized void stop() {
    if (timer != null) timer.cancel();
    timer = null;
    notes = new IdentityHashMap<>();
  }

  private synchronized void look() {
    if (timer == null) return;
    long now = clock.nanoTime();
    var seen = new IdentityHashMap<ActorCell, Note>();
    for (var member : scope.members()) if (member instanceof ActorCell cell && !(cell.isIdle())) look(cell, seen, now);
    notes = seen;
  }

  private void look(ActorCell cell, Map<ActorCell, Note> seen, long now) {
    var note = notes.getOrDefault(cell, new Note());
    seen.put(cell, note);
    lookAtHandler(cell, note, now);
    int waiting = cell.waiting(watch.waiting() + 1);
    if (waiting > watch.waiting() && !note.full) {
      note.full = true;
      Scope.LOG.warn("more than {} messages wait for actor '{}'", watch.waiting(), cell.name());
    } else if (waiting <= watch.waiting() / 2) note.full = false;
  }

  private void lookAtHandler(ActorCell cell, Note note, long now) {
    var worker = cell.run();
    var since = worker == null ? null : Look.note(worker);
    Object message = since == null ? null : worker.message;
    if (message == null || since == note.told || now - since.nanos() < Limit.nanos(watch.handling())) return;
    note.told = since;
    var seen = Look.at(worker).seen();
    Events.stuck(cell, message, now - since.nanos());
    Scope.LOG.warn("actor '{}' {}", cell.name(), seen.doing(), seen.here());
  }
}
