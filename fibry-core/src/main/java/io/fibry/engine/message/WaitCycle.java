package io.fibry.engine.message;

import io.fibry.AskCycleException;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
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
 * activation and in the activations of the outer handlers on the same thread. The handler then
 * follows the chain: to the request for which it waits, to the wait of the handler that has this
 * request now, and so on, perhaps back to this thread.
 *
 * <p><b>No cycle is missed.</b> If several waits close a cycle together, the wait that is published
 * last sees all others, because each handler publishes before it searches.
 *
 * <p><b>No alarm is false.</b> Waits end while a search runs, so a chain may be put together from
 * waits of different moments. Therefore a cycle is accepted only if a second search finds the same
 * {@code Wait} objects, and no wait is over. All waits then lasted from the end of the first search
 * to the beginning of the second. A search does not follow a wait that will end by itself: the
 * request was answered or promised, or the actor is in the grace period of a kill.
 *
 * <p><b>Cost.</b> A thread that runs no handler publishes nothing, and reads one thread-local.
 *
 * <p><b>Refused.</b> Edges from actor to actor: a quarter of the alarms would be false. A scan in
 * the background: it finds a cycle seconds later, and must stop all threads to be sure.
 */
public final class WaitCycle {
  final List<Wait> waits;

  private WaitCycle(List<Wait> waits) {
    this.waits = waits;
  }

  /** Returns the cycle that a published wait closes, or null if it closes none. */
  public static WaitCycle findFor(Wait wait) {
    if (!mayCloseCycle(wait)) return null;
    var previous = CycleSearch.from(wait);
    var search = previous == null ? null : CycleSearch.from(wait);
    while (search != null && !search.isWithin(previous)) {
      previous = search;
      search = CycleSearch.from(wait);
    }
    return search == null ? null : search.toCycle(wait);
  }

  private static boolean mayCloseCycle(Wait wait) {
    if (wait.target.isPool()) return true;
    var worker = wait.target.blocker();
    return worker != null && (worker.currentWait != null || worker.thread == Thread.currentThread());
  }

  public static void throwIfCycle(Wait wait) {
    var cycle = wait == null ? null : findFor(wait);
    if (cycle == null) return;
    var exception = cycle.exception();
    wait.onRefused(exception);
    throw exception;
  }

  /** Makes the exception for a wait for an actor that runs on this thread. */
  static AskCycleException selfCycle(Wait.WaitTarget target, Object message) {
    var wait = new Wait(target, message, null, Wait.WaitingHandler.current(), false);
    var cycle = new ArrayList<>(List.of(wait));
    addNested(target.blocker(), wait.waiter, cycle);
    return cycleException(cycle);
  }

  /**
   * Fails one wait for an actor for which {@code isEnding} is true. Returns false if there is no
   * such wait.
   */
  public boolean failOneWait(Predicate<Wait.WaitTarget> isEnding) {
    return waits.stream().anyMatch(wait -> isEnding.test(wait.target) && wait.failStopped());
  }

  /**
   * Makes the exception for the waiting handler. If a handler in the cycle closes a scope and the
   * first target is ending, the exception says that this target has stopped.
   */
  public RequestException exception() {
    var firstWait = waits.getFirst();
    boolean isClosing = firstWait.target.isEnding() && waits.stream().anyMatch(wait -> wait.message == Wait.CLOSE);
    return isClosing ? firstWait.target.stopped(firstWait.request(), RequestOutcome.UNKNOWN) : cycleException(waits);
  }

  private static AskCycleException cycleException(List<Wait> cycle) {
    var names = new ArrayList<String>();
    var texts = new ArrayList<String>();
    for (var wait : cycle) {
      if (names.isEmpty()) names.add(wait.waitingActor().name());
      names.add(wait.target.name());
      texts.add(wait.toString());
    }
    var firstWait = cycle.getFirst();
    return RequestFailures.cycle(firstWait.target, firstWait.request(), names, String.join(", ", texts));
  }

  /**
   * Adds the waits from {@code worker} to the innermost handler {@code top} on the same thread:
   * each handler waits until the handler that it encloses returns.
   */
  private static void addNested(Wait.WaitingHandler worker, Wait.WaitingHandler top, List<Wait> cycle) {
    int position = cycle.size();
    for (var handler = top; handler != worker && handler != null && handler.outer != null; handler = handler.outer)
      cycle.add(position, new Wait(handler.actor(), handler.message, null, handler.outer, true));
  }

  /**
   * One search: from a wait to the handlers that must continue before the wait can end, from there
   * to the waits of these handlers, and so on.
   *
   * <p>A wait for a pool may fork. A worker is stuck if its wait leads to this thread, or back to a
   * wait that the search has passed. A wait for the end of the pool never ends if one worker is
   * stuck. A wait for an answer or for space ends only if enough workers and permits are not stuck.
   * A cycle without this thread is found by the member that begins to wait last. If a worker closed
   * the cycle by taking a message, the sender that waits for space is woken to search again.
   */
  private static final class CycleSearch {
    private static final int NOWHERE = Integer.MAX_VALUE;

    /**
     * One step of the search: the stuck handlers, the handler among them that leads to the earliest
     * step, and the wait of that handler. The wait is null if that handler runs on this thread.
     */
    private record SearchStep(int number, Set<Wait.WaitingHandler> stuckHandlers, Wait.WaitingHandler nearest,
        Wait nextWait) {}

    private final LinkedHashMap<Wait, SearchStep> steps = new LinkedHashMap<>();

    /** Searches from this wait. Returns null if the waits do not lead to this thread. */
    static CycleSearch from(Wait wait) {
      var search = new CycleSearch();
      return search.follow(wait) == 0 ? search : null;
    }

    /** Returns whether the previous search found all waits and stuck handlers of this search. */
    boolean isWithin(CycleSearch previous) {
      for (var entry : steps.entrySet()) {
        var step = previous.steps.get(entry.getKey());
        if (step == null || !step.stuckHandlers.containsAll(entry.getValue().stuckHandlers)) return false;
      }
      return true;
    }

    WaitCycle toCycle(Wait firstWait) {
      var waits = new ArrayList<Wait>();
      for (var wait = firstWait; wait != null;) {
        var step = steps.get(wait);
        waits.add(wait.withMessage(step.nearest));
        addNested(step.nearest, (step.nextWait == null ? firstWait : step.nextWait).waiter, waits);
        wait = step.nextWait;
      }
      return new WaitCycle(waits);
    }

    /**
     * Returns 0 if this wait leads to this thread, or else the number of the earliest step to which
     * this wait leads. If the wait leads to neither, adds no step, and returns NOWHERE.
     */
    private int follow(Wait wait) {
      int firstStep = steps.size();
      int earliest = NOWHERE;
      while (wait != null && earliest == NOWHERE && !wait.isOver()) {
        var knownStep = steps.get(wait);
        var worker = knownStep != null ? null : wait.target.blocker();
        if (knownStep != null) earliest = knownStep.number;
        else if (worker == null) {
          earliest = fork(wait);
          wait = null;
        } else {
          boolean isThisThread = worker.thread == Thread.currentThread();
          var nextWait = isThisThread ? null : worker.currentWait;
          steps.put(wait, new SearchStep(steps.size(), Set.of(worker), worker, nextWait));
          if (isThisThread) earliest = 0;
          wait = nextWait;
        }
      }
      if (earliest < Math.max(1, firstStep)) return earliest;
      while (steps.size() > firstStep) {
        var step = steps.pollLastEntry();
        // wakes only members of the cycle. This thread leads to the cycle without being a member;
        // if it woke itself, it would search forever
        if (earliest != NOWHERE && step.getValue().number >= earliest) step.getKey().wakeToSearchAgain();
      }
      return NOWHERE;
    }

    /** Follows the waits of the workers on which the wait depends. For the result see follow. */
    private int fork(Wait wait) {
      var blockers = wait.target.blockers(wait);
      if (blockers == null) return NOWHERE;
      int number = steps.size();
      // a placeholder: if a worker's wait leads back to this wait, the search below counts that
      // worker as stuck
      steps.put(wait, new SearchStep(number, Set.of(), null, null));
      int earliest = NOWHERE;
      int stuckPermits = 0;
      var stuckHandlers = new LinkedHashSet<Wait.WaitingHandler>();
      Wait.WaitingHandler nearest = null;
      Wait nextWait = null;
      for (var slot : blockers.slots()) {
        var worker = slot.worker() == null ? null : ((Wait.WaitTarget) slot.worker()).blocker();
        if (worker == null) continue;
        boolean isThisThread = worker.thread == Thread.currentThread();
        var workerWait = isThisThread ? null : worker.currentWait;
        int workerStep = isThisThread ? 0 : workerWait == null ? NOWHERE : follow(workerWait);
        if (workerStep == NOWHERE) continue;
        stuckHandlers.add(worker);
        stuckPermits += slot.weight();
        if (workerStep < earliest) {
          earliest = workerStep;
          nearest = worker;
          nextWait = workerWait;
        }
      }
      if (stuckPermits <= blockers.maxStuckPermits() && stuckHandlers.size() <= blockers.maxStuckWorkers())
        return NOWHERE;
      steps.put(wait, new SearchStep(number, stuckHandlers, nearest, nextWait));
      return earliest;
    }
  }
}
