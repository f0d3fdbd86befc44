package io.fibry.fsm;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.AskCycleException;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/** One actor's run of a machine: the state that its handler is given. */
final class MachineRun {
  /** Enters the initial state. */
  record InitialEntry(Object state) {
    @Override
    public String toString() {
      return "the beginning in " + Lines.text(state);
    }
  }

  /** One object per stay, so that a late one is ignored. */
  private record StateTimeout(Object state) {
    @Override
    public String toString() {
      return "the end of the time in " + Lines.text(state);
    }
  }

  private final Function<Class<?>, StateRules> table;
  private final BlockBuilder<?> builder; // its scope may keep texts to itself
  private final Object initial;
  private Object state;
  private StateRules rules;
  private Actor<Object> self; // null: the initial state was not entered yet
  private StateTimeout timeout; // the time limit of the present state, or null
  private Scheduler.Timer timer; // sends `timeout`
  private boolean postponed; // a message waits for another state

  MachineRun(Function<Class<?>, StateRules> table, BlockBuilder<?> home, Object initial) {
    this.table = table;
    this.builder = home;
    this.initial = initial;
    this.state = initial;
    this.rules = table.apply(initial.getClass());
  }

  void handle(Object message, ActorContext<Object> context) throws Exception {
    if (self == null) {
      self = context.self();
      enter();
    }
    if (message instanceof InitialEntry) return;
    if (message instanceof StateTimeout) {
      if (message == timeout) transitionTo(rules.timeoutRule.next().handle(state), context);
      return;
    }
    var on = rules.ruleFor(message.getClass());
    if (on == null) throw new IllegalStateException(refusal(message));
    if (on.isPostponing()) {
      context.stash();
      postponed = true;
    } else transitionTo(on.next().handle(state, message, context), context);
  }

  /** A failure leaves the old state, or stays in the new one once that is set. */
  private void transitionTo(Object next, ActorContext<Object> context) throws Exception {
    if (Objects.requireNonNull(next,
        () -> "the next state of actor '" + self.name() + "' after " + builder.describe(state)
            + " was null; to stay, return the given state")
        == state)
      return;
    var there = table.apply(next.getClass());
    if (rules.leaveRule != null) rules.leaveRule.code().handle(state);
    state = next;
    rules = there;
    timeout = null;
    if (postponed) {
      postponed = false;
      context.unstash();
    }
    enter();
  }

  private void enter() throws Exception {
    stopTimer();
    if (rules.timeoutRule != null) {
      timeout = new StateTimeout(state);
      // repeats, since a full mailbox may drop it
      timer = self.sendMessageEvery(timeout, rules.timeoutRule.time());
    }
    if (rules.entryRule != null) rules.entryRule.code().handle(state);
  }

  private void stopTimer() {
    if (timer != null) timer.cancel();
    timer = null;
  }

  /** After a restart the next run begins without waiting for a message. */
  void stop() {
    stopTimer();
    boolean restarts = self != null && self.sendMessages(List.of());
    if (!restarts || !table.apply(initial.getClass()).hasInitialWork()) return;
    try {
      self.sendMessage(new InitialEntry(initial));
    } catch (AskCycleException full) {
      // the queued messages will begin it
    }
  }

  private String refusal(Object message) {
    return "actor '" + self.name() + "' is in state " + builder.describe(state) + " and does not take "
        + builder.describe(message)
        + "; there it takes " + rules.acceptedText() + ". Say what it does by on(" + state.getClass().getSimpleName()
        + ".class, " + message.getClass().getSimpleName() + ".class, ..), or postpone it";
  }
}
