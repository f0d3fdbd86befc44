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

/** The run of a machine in one actor. It is the state object that the actor's handler gets. */
final class MachineRun {
  /** The message that enters the initial state. */
  record InitialEntry(Object state) {
    @Override
    public String toString() {
      return "the beginning in " + Lines.text(state);
    }
  }

  /**
   * The message at the end of a state's time. Each stay in a state has its own object, so that a
   * late message of an earlier stay is ignored.
   */
  private record StateTimeout(Object state) {
    @Override
    public String toString() {
      return "the end of the time in " + Lines.text(state);
    }
  }

  private final Function<Class<?>, StateRules> rulesByState;
  private final BlockBuilder<?> builder; // describes objects in texts, unless its scope forbids that
  private final Object initialState;
  private Object state;
  private StateRules rules;
  private Actor<Object> self; // null: the initial state was not entered yet
  private StateTimeout timeout; // of the current state, or null
  private Scheduler.Timer timer; // sends `timeout`
  private boolean hasPostponed; // a message waits for another state

  MachineRun(Function<Class<?>, StateRules> rulesByState, BlockBuilder<?> builder, Object initialState) {
    this.rulesByState = rulesByState;
    this.builder = builder;
    this.initialState = initialState;
    this.state = initialState;
    this.rules = rulesByState.apply(initialState.getClass());
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
    var rule = rules.ruleFor(message.getClass());
    if (rule == null) throw new IllegalStateException(refusal(message));
    if (rule.isPostponing()) {
      context.stash();
      hasPostponed = true;
    } else transitionTo(rule.next().handle(state, message, context), context);
  }

  /**
   * Changes the state. If the code for leaving fails, the old state stays. If the code for entering
   * fails, the machine is in the new state.
   */
  private void transitionTo(Object next, ActorContext<Object> context) throws Exception {
    if (Objects.requireNonNull(next,
        () -> "the next state of actor '" + self.name() + "' after " + builder.describe(state)
            + " was null; to stay, return the given state")
        == state)
      return;
    var nextRules = rulesByState.apply(next.getClass());
    if (rules.leaveRule != null) rules.leaveRule.code().handle(state);
    state = next;
    rules = nextRules;
    timeout = null;
    if (hasPostponed) {
      hasPostponed = false;
      context.unstash();
    }
    enter();
  }

  private void enter() throws Exception {
    stopTimer();
    if (rules.timeoutRule != null) {
      timeout = new StateTimeout(state);
      // repeats, because a full mailbox may drop the message
      timer = self.sendMessageEvery(timeout, rules.timeoutRule.time());
    }
    if (rules.entryRule != null) rules.entryRule.code().handle(state);
  }

  private void stopTimer() {
    if (timer != null) timer.cancel();
    timer = null;
  }

  /**
   * Ends the run. Before a restart it sends the message that enters the initial state, so that the
   * next run need not wait for a message.
   */
  void stop() {
    stopTimer();
    // an ending actor refuses even an empty list of messages
    boolean isRestart = self != null && self.sendMessages(List.of());
    if (!isRestart || !rulesByState.apply(initialState.getClass()).hasInitialWork()) return;
    try {
      self.sendMessage(new InitialEntry(initialState));
    } catch (AskCycleException cycle) {
      // the mailbox is full, and its first message will enter the initial state
    }
  }

  private String refusal(Object message) {
    return "actor '" + self.name() + "' is in state " + builder.describe(state) + " and does not take "
        + builder.describe(message)
        + "; there it takes " + rules.acceptedText() + ". Say what it does by on(" + state.getClass().getSimpleName()
        + ".class, " + message.getClass().getSimpleName() + ".class, ..), or postpone it";
  }
}
