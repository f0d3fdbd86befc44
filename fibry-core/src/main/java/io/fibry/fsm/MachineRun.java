package io.fibry.fsm;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.AskCycleException;
import io.fibry.time.Scheduler;
import java.util.List;
import java.util.Objects;

/**
 * One actor's machine: the state it is in. It is the actor's own state, so only its turn touches
 * it.
 */
final class MachineRun {
  /**
   * The machine's own message at its start: so that the initial state is entered without waiting
   * for another.
   */
  record Begin(Object state) {
    @Override
    public String toString() {
      return "the beginning in " + shown(state);
    }
  }

  /**
   * The machine's own message when the time in a state is over. One for each stay, told apart by
   * identity: a late one finds another in its place.
   */
  private record Over(Object state) {
    @Override
    public String toString() {
      return "the end of the time in " + shown(state);
    }
  }

  private final TransitionTable<?, ?> table;
  private Object state;
  private StateRules rules; // of the state
  private Actor<Object> self; // null: the initial state was not entered yet
  private Over over; // of this stay; null: it may last
  private Scheduler.Timer timer; // sends it
  private boolean postponed; // something waits for another state

  MachineRun(TransitionTable<?, ?> table) {
    this.table = table;
    this.state = table.initial();
    this.rules = table.rules(state.getClass());
  }

  void handle(Object message, ActorContext<Object> context) throws Exception {
    if (self == null) {
      self = context.self();
      enter();
    }
    if (message instanceof Begin) return;
    if (message instanceof Over late) {
      if (late == over) move(rules.after.next().handle(state), context);
      return;
    }
    var on = rules.on(message.getClass());
    if (on == null) throw new IllegalStateException(refusal(message));
    if (on.postpones()) {
      context.stash();
      postponed = true;
    } else move(on.next().next(state, message, context), context);
  }

  /**
   * Until the old state is left, whatever throws leaves the machine in it. Then it is in the new
   * one, before anything else can throw.
   */
  private void move(Object next, ActorContext<Object> context) throws Exception {
    if (Objects.requireNonNull(next, () -> "the next state of actor '" + self.name() + "' after " + shown(state)
        + " was null; to stay, answer the state that was given") == state)
      return;
    var there = table.rules(next.getClass());
    if (rules.leaving != null) rules.leaving.handle(state);
    state = next;
    rules = there;
    over = null;
    if (postponed) {
      postponed = false;
      context.unstash();
    }
    enter();
  }

  private void enter() throws Exception {
    stopTimer();
    if (rules.after != null) {
      over = new Over(state);
      // not once: a full mailbox may drop it
      timer = self.sendMessageEvery(over, rules.after.time());
    }
    if (rules.entering != null) rules.entering.handle(state);
  }

  private void stopTimer() {
    if (timer != null) timer.cancel();
    timer = null;
  }

  /**
   * At a restart, or at the end. After a restart another machine begins; it need not wait for a
   * message of somebody else.
   */
  void stop() {
    stopTimer();
    // it takes messages: this is no end
    boolean open = self != null && self.sendMessages(List.of());
    if (!open || !table.begins()) return;
    try {
      self.sendMessage(new Begin(table.initial()));
    } catch (AskCycleException full) {
      // what it is full of will begin it
    }
  }

  private String refusal(Object message) {
    return "actor '" + self.name() + "' is in state " + shown(state) + " and does not take " + shown(message)
        + "; there it takes " + rules.taken() + ". Say what it does by on(" + state.getClass().getSimpleName()
        + ".class, "
        + message.getClass().getSimpleName() + ".class, ..), or postpone it";
  }

  /**
   * As it stands in a text: cut where it is long, and harmless where its own {@code toString} is
   * not.
   */
  private static String shown(Object one) {
    try {
      String text = String.valueOf(one);
      return text.length() <= 200 ? text : text.substring(0, 200) + "…";
    } catch (Throwable unprintable) {
      return one.getClass().getName();
    }
  }
}
