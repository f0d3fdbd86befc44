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
  private final FailureDomain domain; // of the actors that have it

  MessageProbe(SimulationRun run, FailureDomain domain) {
    this.run = run;
    this.domain = domain;
  }

  @Override
  public String capture() {
    return "";
  }

  @Override
  public String capture(Actor<?> to, Object message) {
    if (MachineLookup.machine() != run || run.current() == null) return "";
    if (run.faults.mayStrike(FaultKind.KILLS)) killIfDue(to);
    run.hasMessages = true;
    String sender = "";
    if (run.trace != null) {
      run.trace.onSend(run, to);
      sender = run.trace.name(run.current());
    }
    run.yieldPoint();
    run.current().sendsTo = domain;
    return sender;
  }

  private void killIfDue(Actor<?> to) {
    run.faults.noteSend(to, domain);
    if (!run.faults.tryStrike(FaultKind.KILLS)) return;
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
    var wasAt = task.domain;
    task.actor = at;
    task.domain = domain;
    if (task.isGone()) SimulatedThread.abandon();
    if (domain.isPaused()) Thread.yield(); // a thread that was elsewhere so far
    run.hasMessages = true;
    if (run.trace != null) run.trace.onHandle(run, sender, at, message);
    return () -> {
      task.actor = before;
      task.domain = wasAt;
    };
  }
}
