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
      return "the entry of the initial state " + Lines.text(state);
    }
  }

  /**
   * The message that the timer of a state sends when the state's time limit expires. Each stay in a
   * state has its own object, so a late message of an earlier stay is ignored.
   */
  private record StateTimeout(Object state) {
    @Override
    public String toString() {
      return "the timeout of the state " + Lines.text(state);
    }
  }

  private final Function<Class<?>, StateRules> rulesByState;
  private final BlockBuilder<?> builder; // makes texts of states and messages, as the options of its scope say
  private final Object initialState;
  private Object state;
  private StateRules rules;
  private Actor<Object> self; // null until the initial state is entered
  private StateTimeout timeout; // the message for the time limit of the current state; null if the state has none
  private Scheduler.Timer timer; // sends `timeout`
  private boolean hasPostponed; // a message is postponed until another state is entered

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
    if (rule == null) throw new IllegalStateException(refusalText(message));
    if (rule.isPostponing()) {
      context.stash();
      hasPostponed = true;
    } else transitionTo(rule.next().handle(state, message, context), context);
  }

  /**
   * Changes the state. If the code for leaving fails, the machine stays in the old state. If the
   * code for entering fails, the machine is in the new state.
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
      // the timer repeats, because a full mailbox may drop a message
      timer = self.sendMessageEvery(timeout, rules.timeoutRule.time());
    }
    if (rules.entryRule != null) rules.entryRule.code().handle(state);
  }

  private void stopTimer() {
    if (timer != null) timer.cancel();
    timer = null;
  }

  /**
   * Ends the run. Before a restart, sends the message that enters the initial state. Otherwise the
   * next run would enter the initial state only when another message arrives.
   */
  void stop() {
    stopTimer();
    // an actor that ends refuses even an empty list of messages; an actor that restarts accepts it
    boolean isRestart = self != null && self.sendMessages(List.of());
    if (!isRestart || !rulesByState.apply(initialState.getClass()).hasEntryWork()) return;
    try {
      self.sendMessage(new InitialEntry(initialState));
    } catch (AskCycleException cycle) {
      // the mailbox is full, and its first message will enter the initial state
    }
  }

  private String refusalText(Object message) {
    return "actor '" + self.name() + "' is in state " + builder.describe(state) + " and does not take "
        + builder.describe(message)
        + "; there it takes " + rules.acceptedText() + ". Add a rule by on(" + state.getClass().getSimpleName()
        + ".class, " + message.getClass().getSimpleName() + ".class, ..), or postpone the message";
  }
}
