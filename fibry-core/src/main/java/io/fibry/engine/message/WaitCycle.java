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
  public static WaitCycle findFor(Wait wait) {
    if (!leadsOn(wait)) return null;
    var before = CycleSearch.from(wait);
    var again = before == null ? null : CycleSearch.from(wait);
    while (again != null && !again.isWithin(before)) {
      before = again;
      again = CycleSearch.from(wait);
    }
    return again == null ? null : again.toCycle(wait);
  }

  private static boolean leadsOn(Wait wait) {
    if (wait.target.isPool()) return true;
    var worker = wait.target.blocker();
    return worker != null && (worker.currentWait != null || worker.thread == Thread.currentThread());
  }

  public static void throwIfCycle(Wait wait) {
    var cycle = wait == null ? null : findFor(wait);
    if (cycle == null) return;
    var told = cycle.exception();
    wait.onRefused(told);
    throw told;
  }

  /** A wait for an actor on this very thread. */
  static AskCycleException selfCycle(Wait.WaitTarget on, Object message) {
    var wait = new Wait(on, message, null, Wait.WaitingHandler.current(), false);
    var cycle = new ArrayList<>(List.of(wait));
    addNested(on.blocker(), wait.waiter, cycle);
    return cycle(cycle);
  }

  /** Ends one wait for an {@code ending} actor. Returns false if there is no such party. */
  public boolean failOneWait(Predicate<Wait.WaitTarget> ending) {
    return waits.stream().anyMatch(wait -> ending.test(wait.target) && wait.failStopped());
  }

  /** An actor that closes its own scope counts as ended. */
  public RequestException exception() {
    var first = waits.getFirst();
    boolean closing = first.target.isEnding() && waits.stream().anyMatch(wait -> wait.message == Wait.CLOSE);
    return closing ? first.target.stopped(first.request(), Outcome.UNKNOWN) : cycle(waits);
  }

  private static AskCycleException cycle(List<Wait> cycle) {
    var names = new ArrayList<String>();
    var texts = new ArrayList<String>();
    for (var wait : cycle) {
      if (names.isEmpty()) names.add(wait.waitingActor().name());
      names.add(wait.target.name());
      texts.add(wait.toString());
    }
    var first = cycle.getFirst();
    return RequestFailures.cycle(first.target, first.request(), names, String.join(", ", texts));
  }

  /** Adds the handlers above {@code worker}: each holds up the one below. */
  private static void addNested(Wait.WaitingHandler worker, Wait.WaitingHandler top, List<Wait> cycle) {
    int at = cycle.size();
    for (var above = top; above != worker && above != null && above.outer != null; above = above.outer)
      cycle.add(at, new Wait(above.party(), above.message, null, above.outer, true));
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

    WaitCycle toCycle(Wait first) {
      var waits = new ArrayList<Wait>();
      for (var wait = first; wait != null;) {
        var step = steps.get(wait);
        waits.add(wait.withMessage(step.by));
        addNested(step.by, (step.next == null ? first : step.next).waiter, waits);
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
        var worker = known != null ? null : wait.target.blocker();
        if (known != null) back = known.number;
        else if (worker == null) {
          back = fork(wait);
          wait = null;
        } else {
          boolean home = worker.thread == Thread.currentThread();
          var next = home ? null : worker.currentWait;
          steps.put(wait, new SearchStep(steps.size(), Set.of(worker), worker, next));
          if (home) back = 0;
          wait = next;
        }
      }
      if (back < Math.max(1, from)) return back;
      while (steps.size() > from) {
        var step = steps.pollLastEntry();
        // of the ring; this thread, behind it, would wake itself and look for ever
        if (back != NOWHERE && step.getValue().number >= back) step.getKey().recheckRoom();
      }
      return NOWHERE;
    }

    private int fork(Wait wait) {
      var blockers = wait.target.blockers(wait);
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
        var waits = home ? null : worker.currentWait;
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
