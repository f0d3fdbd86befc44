package io.fibry.engine.message;

import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.actor.PoolCell;
import io.fibry.engine.cell.Activation;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The way from a wait to who must go on for it to end, to what that one waits for, and so on, as
 * one reading of it. It leads home if it comes back to the thread that reads.
 *
 * <p>A wait for an actor leads to one other. One for a pool may lead to many, its workers, and
 * never ends if too many of them never go on: for an answer or for room those without whom there
 * are not workers or permits enough, for the end any. So the way may fork; what counts is that
 * those who wait keep one another, and us, from going on: each of them must lead home, or to a wait
 * that does. Those that go round without us are a ring of their own, one of whose members is told:
 * the last to publish; or, where nobody of them has closed it, but a worker that took a message and
 * with that the hope for room, whoever waits for that room. He is woken here.
 */
public final class Ring {
  private static final int NOWHERE = Integer.MAX_VALUE;

  /**
   * A wait that never ends. Those who keep it, and who of them leads back furthest: to what he
   * waits for himself; null: home.
   */
  public record Step(int number, Set<Activation> stuck, Activation by, Wait next) {
    private Step(int number, Activation by, Wait next) {
      this(number, Set.of(by), by, next);
    }
  }

  private final LinkedHashMap<Wait, Step> steps = new LinkedHashMap<>();

  private Ring() {}

  /** Null: it does not lead home. */
  public static Ring home(Wait from) {
    var way = new Ring();
    return way.follow(from) == 0 ? way : null;
  }

  public Step step(Wait wait) {
    return steps.get(wait);
  }

  /** Whether all of it was there before. */
  public boolean isWithin(Ring before) {
    for (var each : steps.entrySet()) {
      var step = before.steps.get(each.getKey());
      if (step == null || !step.stuck.containsAll(each.getValue().stuck)) return false;
    }
    return true;
  }

  /**
   * The number of the step furthest back to which this leads: before it, or 0, home. Else nowhere,
   * and all is as before.
   */
  private int follow(Wait wait) {
    int from = steps.size();
    int back = NOWHERE;
    while (wait != null && back == NOWHERE && !wait.over()) {
      var known = steps.get(wait);
      var worker = known != null ? null : wait.worker();
      if (known != null) back = known.number;
      else if (worker == null) {
        back = fork(wait);
        wait = null;
      } else {
        boolean home = isHome(worker);
        var next = home ? null : worker.waits;
        steps.put(wait, new Step(steps.size(), worker, next));
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

  private static boolean isHome(Activation worker) {
    return worker.thread == Thread.currentThread();
  }

  private int fork(Wait wait) {
    var keepers = wait.on instanceof PoolCell pool ? pool.keepers(wait) : null;
    if (keepers == null) return NOWHERE;
    int number = steps.size();
    // who comes back to it is kept by it, if it is a step in the end
    steps.put(wait, new Step(number, Set.of(), null, null));
    int back = NOWHERE;
    int permits = 0;
    var stuck = new LinkedHashSet<Activation>();
    Activation by = null;
    Wait next = null;
    for (var seat : keepers.slots()) {
      var worker = Wait.worker((ActorCell) seat.worker());
      if (worker == null) continue;
      boolean home = isHome(worker);
      var waits = home ? null : worker.waits;
      int leads = home ? 0 : waits == null ? NOWHERE : follow(waits);
      if (leads == NOWHERE) continue;
      stuck.add(worker);
      permits += seat.weight();
      if (leads < back) {
        back = leads;
        by = worker;
        next = waits;
      }
    }
    if (permits <= keepers.permits() && stuck.size() <= keepers.workers()) return NOWHERE;
    steps.put(wait, new Step(number, stuck, by, next));
    return back;
  }
}
