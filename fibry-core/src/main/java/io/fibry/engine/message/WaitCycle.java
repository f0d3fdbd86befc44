package io.fibry.engine.message;

import io.fibry.AskCycleException;
import io.fibry.Outcome;
import io.fibry.RequestException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A cycle of handlers that wait for each other, and the search for it.
 *
 * <p><b>Search.</b> A handler that is about to wait first publishes a {@link Wait}, in its own
 * activation and in those below it on its thread. Then it follows the chain: to the actor for which
 * it waits, to the wait of that actor's handler, and so on, perhaps back to this thread.
 *
 * <p><b>No cycle is missed.</b> If several waits close a cycle together, the wait that is published
 * last sees all others, because each handler publishes before it searches.
 *
 * <p><b>No alarm is false.</b> Waits end while a search runs, so a chain may be put together from
 * waits of different moments. Therefore a cycle is believed only if a second search finds the same
 * {@code Wait} objects, and none of them is over: then all of them lasted from the end of the first
 * search to the beginning of the second. A wait that will end by itself is no edge: a request that
 * was answered or promised, or an actor in its grace.
 *
 * <p><b>Cost.</b> A thread that runs no handler publishes nothing, and reads one thread-local.
 *
 * <p><b>Refused.</b> Edges from actor to actor: a quarter of the alarms would be false. A scan in
 * the background: it is seconds late, and must stop all threads to be sure.
 */
public final class WaitCycle {
  final List<Wait> waits;

  private WaitCycle(List<Wait> waits) {
    this.waits = waits;
  }

  /** The ring that a published wait closes. Null: none. */
  public static WaitCycle closedBy(Wait wait) {
    if (!leadsOn(wait)) return null;
    var before = CycleSearch.from(wait);
    var again = before == null ? null : CycleSearch.from(wait);
    while (again != null && !again.isWithin(before)) {
      before = again;
      again = CycleSearch.from(wait);
    }
    return again == null ? null : again.ring(wait);
  }

  private static boolean leadsOn(Wait wait) {
    if (wait.on.isPool()) return true;
    var worker = wait.on.blocker();
    return worker != null && (worker.waits != null || worker.thread == Thread.currentThread());
  }

  public static void refuse(Wait wait) {
    var ring = wait == null ? null : closedBy(wait);
    if (ring == null) return;
    var told = ring.exception();
    wait.refused(told);
    throw told;
  }

  /** A wait for an actor on this very thread. */
  static AskCycleException onOneThread(Wait.WaitTarget on, Object message) {
    var wait = new Wait(on, message, null, Wait.WaitingHandler.current(), false);
    var ring = new ArrayList<>(List.of(wait));
    addNested(on.blocker(), wait.by, ring);
    return cycle(ring);
  }

  /** Ends one wait for an {@code ending} actor. Returns false if there is no such party. */
  public boolean stopOne(Predicate<Wait.WaitTarget> ending) {
    return waits.stream().anyMatch(wait -> ending.test(wait.on) && wait.stop());
  }

  /** An actor that closes its own scope counts as ended. */
  public RequestException exception() {
    var first = waits.getFirst();
    boolean closing = first.on.isEnding() && waits.stream().anyMatch(wait -> wait.message == Wait.CLOSE);
    return closing ? first.on.stopped(first.request(), Outcome.UNKNOWN) : cycle(waits);
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
    return RequestFailures.cycle(first.on, first.request(), names, String.join(", ", texts));
  }

  /** Adds the handlers above {@code worker}: each holds up the one below. */
  private static void addNested(Wait.WaitingHandler worker, Wait.WaitingHandler top, List<Wait> ring) {
    int at = ring.size();
    for (var above = top; above != worker && above != null && above.outer != null; above = above.outer)
      ring.add(at, new Wait(above.party(), above.message, null, above.outer, true));
  }

  /**
   * One search from a wait to the handlers that must continue before it can end, and to their
   * waits.
   *
   * <p>A wait for a pool may fork. A worker is stuck if it leads to this thread, or to a wait that
   * does. The pool's end never comes if one worker is stuck; an answer or room, if too few workers
   * or permits are left. A cycle without this thread is found by its last member. If a worker
   * closed the cycle by taking a message, the sender that waits for room is woken to look again.
   */
  private static final class CycleSearch {
    private static final int NOWHERE = Integer.MAX_VALUE;

    /**
     * One step of the search: the stuck handlers, the handler that leads back furthest, and its
     * wait, which is null if that handler runs on this thread.
     */
    private record SearchStep(int number, Set<Wait.WaitingHandler> stuck, Wait.WaitingHandler by, Wait next) {}

    private final LinkedHashMap<Wait, SearchStep> steps = new LinkedHashMap<>();

    /** Returns null if the waits do not lead to this thread. */
    static CycleSearch from(Wait wait) {
      var search = new CycleSearch();
      return search.follow(wait) == 0 ? search : null;
    }

    boolean isWithin(CycleSearch before) {
      for (var each : steps.entrySet()) {
        var step = before.steps.get(each.getKey());
        if (step == null || !step.stuck.containsAll(each.getValue().stuck)) return false;
      }
      return true;
    }

    WaitCycle ring(Wait first) {
      var waits = new ArrayList<Wait>();
      for (var wait = first; wait != null;) {
        var step = steps.get(wait);
        waits.add(wait.explained(step.by));
        addNested(step.by, (step.next == null ? first : step.next).by, waits);
        wait = step.next;
      }
      return new WaitCycle(waits);
    }

    /**
     * The earliest step that this wait leads to, 0 for this thread; or NOWHERE, and adds no step.
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
          boolean home = worker.thread == Thread.currentThread();
          var next = home ? null : worker.waits;
          steps.put(wait, new SearchStep(steps.size(), Set.of(worker), worker, next));
          if (home) back = 0;
          wait = next;
        }
      }
      if (back < Math.max(1, from)) return back;
      while (steps.size() > from) {
        var step = steps.pollLastEntry();
        // of the ring; this thread, behind it, would wake itself and look for ever
        if (back != NOWHERE && step.getValue().number >= back) step.getKey().lookAgain();
      }
      return NOWHERE;
    }

    private int fork(Wait wait) {
      var blockers = wait.on.blockers(wait);
      if (blockers == null) return NOWHERE;
      int number = steps.size();
      // a worker that leads back here is stuck, if this stays a step
      steps.put(wait, new SearchStep(number, Set.of(), null, null));
      int back = NOWHERE;
      int permits = 0;
      var stuck = new LinkedHashSet<Wait.WaitingHandler>();
      Wait.WaitingHandler by = null;
      Wait next = null;
      for (var slot : blockers.slots()) {
        var worker = slot.worker() == null ? null : ((Wait.WaitTarget) slot.worker()).blocker();
        if (worker == null) continue;
        boolean home = worker.thread == Thread.currentThread();
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
      steps.put(wait, new SearchStep(number, stuck, by, next));
      return back;
    }
  }
}
