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
 * <p>The newest message may be a request that expires in the mailbox, while older messages continue
 * to wait. So a sighting also has the message that expires after the others: the newest without a
 * limit, or else the request with the latest deadline. The sighting is valid while one of the two
 * messages waits. A message that expires after the last sighting is always remembered. Such a
 * message is searched among the first 100,000 nodes of a plain queue, or the first and the last 256
 * entries of other queues.
 *
 * <p>The next sighting is remembered after a part of the age of the oldest sighting: one
 * thirty-second, or a quarter if more than a thousand actors have sightings. Sightings that are
 * closer to each other are forgotten as the age grows. So if messages are handled in the order of
 * their arrival, the estimate is below the true time by at most this part of the longest age since
 * the oldest message came, and the time between two observations. While the wait does not shrink,
 * this is a part of the true time. After a long wait, the estimate of a shorter one may be zero. An
 * actor has at most 66 sightings, or ten. Senders and handlers do nothing for them.
 *
 * <p>An observer reads without synchronization whether a message waits. Therefore it may find a
 * message waiting that a handler has just begun. The next observer of the actor finds it gone.
 */
public final class QueueAges {
  /** The actors that may have many sightings, about 4 kB each. */
  public static final int MAX_PRECISE = 1_000;
  private static final int PRECISE_PER_AGE = 32;
  private static final int SIGHTINGS_PER_AGE = 4; // if more actors have sightings
  // The sightings of each actor that had waiting messages, oldest first. Guarded by the monitor of
  // the class; null: there are none. No initializer, because it could fail for lack of stack
  static volatile Map<Cell, List<Sighting>> allSightings;

  /**
   * Two nodes whose messages waited at this time, by the clock of the actor's scope.
   *
   * @param newest the newest message
   * @param lasting the message that expires after the others; the same reference if it is the
   * newest
   */
  private record Sighting(WeakReference<Object> newest, WeakReference<Object> lasting, long nanos) {
    static Sighting of(Object newest, Object lasting, long nanos) {
      var newestReference = new WeakReference<>(newest);
      return new Sighting(newestReference, lasting == newest ? newestReference : new WeakReference<>(lasting), nanos);
    }
  }

  private QueueAges() {}

  /**
   * Observes a mailbox. Returns how many nanoseconds at least its oldest message has been waiting.
   * Returns 0 if no message waits, or this is the first observation of all that wait.
   */
  public static long observe(Cell cell) {
    var newest = cell.newestQueued(cell.currentNode());
    if (newest == null && allSightings == null) return 0;
    var lasting = newest == null ? null : cell.longestLasting(cell.currentNode(), newest);
    // the clock is read last, because a message must not count before it was seen
    return update(cell, newest, lasting, cell.owner().options().scheduler().nanoTime());
  }

  private static synchronized long update(Cell cell, Object newest, Object lasting, long now) {
    Map<Cell, List<Sighting>> byCell = allSightings == null ? new WeakHashMap<>() : allSightings;
    var sightings = byCell.getOrDefault(cell, new ArrayList<>(0));
    for (var all = sightings.iterator(); all.hasNext();) if (!isValid(cell, all.next())) all.remove();
    int perAge = byCell.size() <= MAX_PRECISE ? PRECISE_PER_AGE : SIGHTINGS_PER_AGE;
    long age = sightings.isEmpty() ? 0 : Math.max(0, now - sightings.getFirst().nanos);
    if (newest != null && (outlastsSightings(cell, sightings, lasting) || isDue(sightings, newest, now, age, perAge))) {
      sightings.add(Sighting.of(newest, lasting, now));
      thin(sightings, age / perAge);
    }
    if (sightings.isEmpty()) byCell.remove(cell);
    else byCell.put(cell, sightings);
    allSightings = byCell.isEmpty() ? null : byCell;
    return age;
  }

  /** Removes each sighting whose neighbors are at most {@code maxGap} nanoseconds apart. */
  private static void thin(List<Sighting> sightings, long maxGap) {
    for (int i = sightings.size() - 2; i > 0; i--)
      if (sightings.get(i + 1).nanos - sightings.get(i - 1).nanos <= maxGap) sightings.remove(i);
  }

  private static boolean isValid(Cell cell, Sighting sighting) {
    return isQueued(cell, sighting.newest.get()) || isQueued(cell, sighting.lasting.get());
  }

  private static boolean isQueued(Cell cell, Object node) {
    return node != null && cell.isQueued(node);
  }

  /** Returns whether all messages of the last sighting may expire before this one. */
  private static boolean outlastsSightings(Cell cell, List<Sighting> sightings, Object lasting) {
    if (lasting == null || sightings.isEmpty()) return false;
    var last = sightings.getLast().lasting.get();
    return !isQueued(cell, last) || Cell.expiresLater(lasting, last);
  }

  private static boolean isDue(List<Sighting> sightings, Object newest, long now, long age, int perAge) {
    if (sightings.isEmpty()) return true;
    var last = sightings.getLast();
    return now - last.nanos > 0 && (now - last.nanos) * perAge >= age && !last.newest.refersTo(newest);
  }
}
