package io.fibry;

import java.util.concurrent.Callable;

/** What an actor does with a message, and how it was made. Immutable; the first part is shared by all actors of one builder. */
record Behaviour(How how, Logic logic, boolean usesContext) {

  /** What a builder and the options of its scope say of its actors. Carriers: null where there are none. */
  record How(Scope scope, Strategy strategy, FailurePolicy policy, boolean inline, boolean first, ActorScope.Carrier<?>[] carriers) {}

  /** A handler of any shape. */
  @FunctionalInterface
  interface Logic {
    /** What it answers where there is nothing to answer. */
    Object NONE = new Object();

    Object handle(Activation activation, Object message) throws Exception;

    /** The code that a sink was sent: its shape is told by whether somebody waits for it. */
    @SuppressWarnings("unchecked") // Sink is typed
    static Object sink(Activation activation, Object code) throws Exception {
      if (activation.asked()) return ((Handler.Returning<Object, Object>) code).handle(activation.cell.state);
      ((Handler<Object>) code).handle(activation.cell.state);
      return NONE;
    }

    /** This one with code around it. */
    default Logic within(Handler.Around<Object> around) {
      return (activation, message) -> {
        var answer = new Object[] {NONE};
        around.around(message, () -> answer[0] = handle(activation, message));
        return answer[0];
      };
    }
  }

  /** A handler with a state: made before the first message, copied before each where it is to be rolled back. */
  record Stateful(Callable<?> initial, Handler<Object> onStop, Handler.Returning<Object, Object> copy, Logic inner) implements Logic {
    @Override
    public Object handle(Activation activation, Object message) throws Exception {
      var cell = activation.cell;
      if (!cell.hasState) makeState(cell);
      if (copy == null) return inner.handle(activation, message);
      Object before = copy.handle(cell.state);
      boolean done = false;
      try {
        Object answer = inner.handle(activation, message);
        done = true;
        return answer;
      } finally {
        if (!done) cell.state = before;
      }
    }

    private void makeState(ActorCell cell) throws Exception {
      cell.state = initial.call();
      if (cell.state == null) throw new NullPointerException("the initial state of actor '" + cell.name() + "' was null; give it an object");
      cell.hasState = true;
    }

    void stop(Object state) throws Exception {
      onStop.handle(state);
    }
  }

  /** The last act of an actor that has a state. */
  void stop(ActorCell cell) throws Exception {
    if (cell.hasState && logic instanceof Stateful stateful && stateful.onStop != null) stateful.stop(cell.state);
  }
}
