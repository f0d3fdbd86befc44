package io.fibry.engine.message;

import io.fibry.AskCycleException;
import io.fibry.RequestException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A cycle of waits, which would never end. A handler that is about to wait publishes a {@link Wait},
 * then follows the chain: the actor it waits for, what that actor's handler waits for, and so on. A
 * chain that returns to this thread is a ring. Publishing comes first: when several waits close a
 * ring together, the last one to be published sees all others. A ring is believed when a second
 * search finds the same waits.
 */
public final class Ring {
  final List<Wait> waits;

  private Ring(List<Wait> waits) {
    this.waits = waits;
  }

  /** The ring that a published wait closes, beginning with it. Null: none. Throws nothing. */
  public static Ring closedBy(Wait wait) {
    if (!leadsOn(wait)) return null; // as most
    var before = Search.from(wait);
    var again = before == null ? null : Search.from(wait);
    while (again != null && !again.isWithin(before)) { // other waits have come in between
      before = again;
      again = Search.from(wait);
    }
    return again == null ? null : again.ring(wait);
  }

  private static boolean leadsOn(Wait wait) {
    if (wait.on.isPool()) return true;
    var worker = wait.on.blocker();
    return worker != null && (worker.waits != null || worker.thread == Thread.currentThread());
  }

  /** Throws if this wait closes a ring. For waits that leave nothing behind. Null: no wait. */
  public static void refuse(Wait wait) {
    var ring = wait == null ? null : closedBy(wait);
    if (ring != null) throw ring.exception();
  }

  /** A wait for an actor that runs on this very thread. */
  static AskCycleException onOneThread(Wait.Party on, Object message) {
    var wait = new Wait(on, message, null, Wait.Waiter.current(), false);
    var ring = new ArrayList<>(List.of(wait));
    addNested(on.blocker(), wait.by, ring);
    return cycle(ring);
  }

  /** Breaks the ring: tells one of its waits on such an actor that the actor ends. */
  public boolean stopOne(Predicate<Wait.Party> ending) {
    return waits.stream().anyMatch(wait -> ending.test(wait.on) && wait.stop());
  }

  /** Where the actor waited for ends because it closes its own scope, the exception says just that. */
  public RequestException exception() {
    var first = waits.getFirst();
    boolean closing = first.on.isEnding() && waits.stream().anyMatch(wait -> wait.message == Wait.CLOSE);
    return closing ? first.on.stopped(first.request()) : cycle(waits);
  }

  private static AskCycleException cycle(List<Wait> ring) {
    var names = new ArrayList<String>();
    var texts = new ArrayList<String>();
    for (var wait : ring) {
      if (names.isEmpty()) names.add(wait.from().name());
      names.add(wait.on.name());
      texts.add(wait.toString());
    }
    var first = ring.getFirst();
    return Refusals.cycle(first.on.name(), first.request(), names, String.join(", ", texts));
  }

  /** Adds the handlers above {@code worker} on its thread: each keeps the one below from going on. */
  private static void addNested(Wait.Waiter worker, Wait.Waiter top, List<Wait> ring) {
    int at = ring.size();
    for (var above = top; above != worker && above != null && above.outer != null; above = above.outer)
      ring.add(at, new Wait(above.party(), above.message, null, above.outer, true));
  }

  /**
   * One search from a wait to the handlers that must go on for it to end, to what they wait for, and
   * so on.
   *
   * <p>A wait for an actor leads to one handler. A wait for a pool may lead to many, and never ends
   * if too many of them never go on: for an answer or for room, as many as leave too few workers or
   * permits; for the pool's end, any one. So the search may fork, and a worker counts as stuck if it
   * leads to this thread, or to a wait that does. Workers that wait for each other without this
   * thread are a ring of their own, which its last member found; or, if a worker closed it by taking
   * a message and with it the hope for room, the sender that waits for this room: it is woken here.
   */
  private static final class Search {
    private static final int NOWHERE = Integer.MAX_VALUE;

    /**
     * A wait that never ends: the handlers that keep it, and the one of them that leads back
     * furthest, with its own wait. Null: it runs on this thread.
     */
    private record Step(int number, Set<Wait.Waiter> stuck, Wait.Waiter by, Wait next) {}

    private final LinkedHashMap<Wait, Step> steps = new LinkedHashMap<>();

    /** Null: it does not lead to this thread. */
    static Search from(Wait wait) {
      var search = new Search();
      return search.follow(wait) == 0 ? search : null;
    }

    /** Whether all of it was found before. */
    boolean isWithin(Search before) {
      for (var each : steps.entrySet()) {
        var step = before.steps.get(each.getKey());
        if (step == null || !step.stuck.containsAll(each.getValue().stuck)) return false;
      }
      return true;
    }

    /** Of all ways that were found, one. */
    Ring ring(Wait first) {
      var waits = new ArrayList<Wait>();
      for (var wait = first; wait != null;) {
        var step = steps.get(wait);
        waits.add(wait.explained(step.by));
        addNested(step.by, (step.next == null ? first : step.next).by, waits);
        wait = step.next;
      }
      return new Ring(waits);
    }

    /**
     * The number of the earliest step that this wait leads to: one before it, or 0, this thread.
     * Else NOWHERE, and no step is added.
     */
    private int follow(Wait wait) {
      int from = steps.size();
      int back = NOWHERE;
      while (wait != null && back == NOWHERE && !wait.isOver()) {
        var known = steps.get(wait);
        var worker = known != null ? null : wait.on.blocker();
        if (known != null) back = known.number;
        else if (worker == null) {
          back = fork(wait);
          wait = null;
        } else {
          boolean home = isHome(worker);
          var next = home ? null : worker.waits;
          steps.put(wait, new Step(steps.size(), Set.of(worker), worker, next));
          if (home) back = 0;
          wait = next;
        }
      }
      if (back < Math.max(1, from)) return back;
      while (steps.size() > from) {
        var step = steps.pollLastEntry();
        if (back != NOWHERE) step.getKey().lookAgain();
      }
      return NOWHERE;
    }

    private static boolean isHome(Wait.Waiter worker) {
      return worker.thread == Thread.currentThread();
    }

    private int fork(Wait wait) {
      var blockers = wait.on.blockers(wait);
      if (blockers == null) return NOWHERE;
      int number = steps.size();
      // a worker that leads back to it is kept by it, if it turns out to be a step
      steps.put(wait, new Step(number, Set.of(), null, null));
      int back = NOWHERE;
      int permits = 0;
      var stuck = new LinkedHashSet<Wait.Waiter>();
      Wait.Waiter by = null;
      Wait next = null;
      for (var slot : blockers.slots()) {
        var worker = slot.worker() == null ? null : ((Wait.Party) slot.worker()).blocker();
        if (worker == null) continue;
        boolean home = isHome(worker);
        var waits = home ? null : worker.waits;
        int leads = home ? 0 : waits == null ? NOWHERE : follow(waits);
        if (leads == NOWHERE) continue;
        stuck.add(worker);
        permits += slot.weight();
        if (leads < back) {
          back = leads;
          by = worker;
          next = waits;
        }
      }
      if (permits <= blockers.permits() && stuck.size() <= blockers.workers()) return NOWHERE;
      steps.put(wait, new Step(number, stuck, by, next));
      return back;
    }
  }
}
