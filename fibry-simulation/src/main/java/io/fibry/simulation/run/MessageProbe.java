package io.fibry.simulation.run;

import io.fibry.Actor;
import io.fibry.ContextPropagator;
import io.fibry.simulation.tap.MachineLookup;

/**
 * A context propagator that calls the simulation at each send and at each handling of a message. At
 * a send, other threads may run first, and a fault may kill an actor. While a message is handled,
 * the thread belongs to the failure domain of the actor. The captured context is the name that the
 * trace gives to the sender.
 */
final class MessageProbe implements ContextPropagator<String> {
  private final SimulationRun run;
  private final FailureDomain domain; // the failure domain of the actors whose scope has this propagator

  MessageProbe(SimulationRun run, FailureDomain domain) {
    this.run = run;
    this.domain = domain;
  }

  @Override
  public String capture() {
    return "";
  }

  @Override
  public String capture(Actor<?> receiver, Object message) {
    if (MachineLookup.machine() != run || run.current() == null) return "";
    if (run.faults.mayStrike(FaultKind.KILLS)) maybeKill(receiver);
    run.hasMessages = true;
    String sender = "";
    if (run.trace != null) {
      run.trace.onSend(run.current(), receiver);
      sender = run.trace.name(run.current());
    }
    run.yieldAtSend();
    run.current().receiverDomain = domain;
    return sender;
  }

  private void maybeKill(Actor<?> receiver) {
    run.faults.noteSend(receiver, domain);
    if (!run.faults.tryStrike(FaultKind.KILLS)) return;
    var victim = run.faults.drawVictim();
    if (victim == null) return;
    if (run.trace != null) run.trace.note(victim, () -> "is killed: a fault");
    victim.kill();
  }

  @Override
  public AutoCloseable restore(String sender) {
    return () -> {};
  }

  @Override
  public AutoCloseable restore(String sender, Actor<?> receiver, Object message) {
    var fiber = run.current();
    if (MachineLookup.machine() != run || fiber == null) return () -> {};
    var previousActor = fiber.actor;
    var previousDomain = fiber.domain;
    fiber.actor = receiver;
    fiber.domain = domain;
    if (fiber.isCrashed()) SimulatedThread.parkAsCrashed();
    if (domain.isPaused()) Thread.yield(); // the thread came from another domain, so the pause has not stopped it yet
    run.hasMessages = true;
    if (run.trace != null) run.trace.onHandle(sender, receiver, message);
    return () -> {
      fiber.actor = previousActor;
      fiber.domain = previousDomain;
    };
  }
}
