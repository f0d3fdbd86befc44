package io.fibry.engine.cell;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Estimates how long the oldest message of a mailbox has been waiting. Messages do not have the
 * time at which they were sent, because reading a clock would slow down each send. Instead, each
 * observer of an actor remembers a <em>sighting</em>: a message that waits, and the time. While
 * this message waits, the oldest message has been waiting at least since the sighting. This is true
 * for each order in which messages are taken. The message is the newest, unless withdrawn messages
 * or a pill are behind it. A message that the drain has taken and not begun still waits.
 *
 * <p>The next sighting is remembered after a quarter of the age of the oldest sighting. So if
 * messages are handled in the order of their arrival, the estimate is at least three quarters of
 * the true time, less the time between two observations. An actor has about five sightings, and a
 * few dozen if it has handled no message for hours. Senders and handlers do nothing for them.
 *
 * <p>An observer reads without synchronization whether a message waits. Therefore it may find a
 * message waiting that a handler has just begun. The next observer of the actor finds it gone.
 */
public final class QueueAges {
  private static final int SIGHTINGS_PER_AGE = 4;
  // The sightings of each actor that had waiting messages, oldest first. Guarded by the monitor of
  // the class; null: there are none. No initializer, because it could fail for lack of stack
  private static volatile Map<Cell, List<Sighting>> allSightings;

  /** A node whose message waited at this time, by the clock of its actor's scope. */
  private record Sighting(WeakReference<Object> node, long nanos) {}

  private QueueAges() {}

  /**
   * Observes a mailbox. Returns how many nanoseconds at least its oldest message has been waiting.
   * Returns 0 if no message waits, or this is the first observation of all that wait.
   */
  public static long observe(Cell cell) {
    var newest = cell.newestQueued(cell.currentNode());
    if (newest == null && allSightings == null) return 0;
    return update(cell, newest, cell.owner().options().scheduler().nanoTime());
  }

  private static synchronized long update(Cell cell, Object newest, long now) {
    Map<Cell, List<Sighting>> byCell = allSightings == null ? new WeakHashMap<>() : allSightings;
    var sightings = byCell.getOrDefault(cell, new ArrayList<>(0));
    for (var all = sightings.iterator(); all.hasNext();) if (!isQueued(cell, all.next().node.get())) all.remove();
    long age = sightings.isEmpty() ? 0 : Math.max(0, now - sightings.getFirst().nanos);
    if (newest != null && isDue(sightings, newest, now, age))
      sightings.add(new Sighting(new WeakReference<>(newest), now));
    if (sightings.isEmpty()) byCell.remove(cell);
    else byCell.put(cell, sightings);
    allSightings = byCell.isEmpty() ? null : byCell;
    return age;
  }

  private static boolean isQueued(Cell cell, Object node) {
    return node != null && cell.isQueued(node);
  }

  private static boolean isDue(List<Sighting> sightings, Object newest, long now, long age) {
    if (sightings.isEmpty()) return true;
    var last = sightings.getLast();
    return now - last.nanos > 0 && (now - last.nanos) * SIGHTINGS_PER_AGE >= age && !last.node.refersTo(newest);
  }
}
