package io.fibry.simulation;

import io.fibry.Actor;
import io.fibry.ContextPropagator;
import io.fibry.simulation.tap.MachineLookup;

/**
 * Travels with each message: others may run before it is sent, the trace sees it, and its handler's
 * thread is at the place of its actor.
 */
final class MessageProbe implements ContextPropagator<String> {
  private final SimulationRun run;
  private final FailureDomain place; // of the actors that have it

  MessageProbe(SimulationRun run, FailureDomain place) {
    this.run = run;
    this.place = place;
  }

  @Override
  public String capture() {
    return "";
  }

  @Override
  public String capture(Actor<?> to, Object message) {
    if (MachineLookup.machine() != run || run.current() == null) return "";
    if (run.faults.mayStrike(FaultKind.KILLS)) mayKill(to);
    run.talks = true;
    String sender = "";
    if (run.trace != null) {
      run.trace.sends(run, to);
      sender = run.trace.name(run.current());
    }
    run.point();
    run.current().sendsTo = place;
    return sender;
  }

  private void mayKill(Actor<?> to) {
    run.faults.sentTo(to, place);
    if (!run.faults.strikes(FaultKind.KILLS)) return;
    var victim = run.faults.victim();
    if (victim == null) return;
    if (run.trace != null) run.trace.note(run, victim, "is killed: a fault");
    victim.kill();
  }

  @Override
  public AutoCloseable restore(String sender) {
    return () -> {};
  }

  @Override
  public AutoCloseable restore(String sender, Actor<?> at, Object message) {
    var task = run.current();
    if (MachineLookup.machine() != run || task == null) return () -> {};
    var before = task.actor;
    var wasAt = task.at;
    task.actor = at;
    task.at = place;
    if (task.isGone()) SimulatedThread.stopHere();
    if (place.isStill()) Thread.yield(); // a thread that was elsewhere so far
    run.talks = true;
    if (run.trace != null) run.trace.handles(run, sender, at, message);
    return () -> {
      task.actor = before;
      task.at = wasAt;
    };
  }
}
