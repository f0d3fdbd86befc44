package io.fibry.engine.cell;

import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.scope.Scope;
import java.util.concurrent.Callable;

/**
 * What an actor does with a message, and how it was made: the handler's adapter itself, so that an
 * actor is two objects of ours. Immutable.
 */
public abstract class Behaviour {
  /** What is answered where there is nothing to answer. */
  public static final Object NONE = new Object();

  /**
   * What a builder and the options of its scope say of its actors, who share it. Carriers: null
   * where there are none.
   */
  public record How(Scope scope, Strategy strategy, FailurePolicy policy, boolean inline, boolean first,
      ActorScope.Carrier<?>[] carriers) {}

  public final How how;

  private Behaviour(How how) {
    this.how = how;
  }

  public abstract Object handle(Activation activation, Object message) throws Exception;

  public boolean usesContext() {
    return false;
  }

  /** The last act of an actor that has a state. */
  public void stop(ActorCell cell) throws Exception {}

  public static Behaviour of(How how, Handler<Object> handler) {
    return new Behaviour(how) {
      @Override
      public Object handle(Activation activation, Object message) throws Exception {
        handler.handle(message);
        return NONE;
      }
    };
  }

  public static Behaviour returning(How how, Handler.Returning<Object, Object> handler) {
    return new Behaviour(how) {
      @Override
      public Object handle(Activation activation, Object message) throws Exception {
        return handler.handle(message);
      }
    };
  }

  public static Behaviour inContext(How how, Handler.InContext<Object> handler) {
    return new InContext(how) {
      @Override
      public Object handle(Activation activation, Object message) throws Exception {
        handler.handle(message, activation);
        return NONE;
      }
    };
  }

  public static Behaviour returningInContext(How how, Handler.ReturningInContext<Object, Object> handler) {
    return new InContext(how) {
      @Override
      public Object handle(Activation activation, Object message) throws Exception {
        return handler.handle(message, activation);
      }
    };
  }

  public static Behaviour stateful(How how, Handler.Stateful<Object, Object> handler) {
    return new Behaviour(how) {
      @Override
      public Object handle(Activation activation, Object message) throws Exception {
        handler.handle(activation.cell.state, message);
        return NONE;
      }
    };
  }

  public static Behaviour statefulReturning(How how, Handler.StatefulReturning<Object, Object, Object> handler) {
    return new Behaviour(how) {
      @Override
      public Object handle(Activation activation, Object message) throws Exception {
        return handler.handle(activation.cell.state, message);
      }
    };
  }

  public static Behaviour statefulInContext(How how, Handler.StatefulInContext<Object, Object> handler) {
    return new InContext(how) {
      @Override
      public Object handle(Activation activation, Object message) throws Exception {
        handler.handle(activation.cell.state, message, activation);
        return NONE;
      }
    };
  }

  public static Behaviour statefulReturningInContext(How how,
      Handler.StatefulReturningInContext<Object, Object, Object> handler) {
    return new InContext(how) {
      @Override
      public Object handle(Activation activation, Object message) throws Exception {
        return handler.handle(activation.cell.state, message, activation);
      }
    };
  }

  /** The code that a sink was sent: its shape is told by whether somebody waits for it. */
  @SuppressWarnings("unchecked") // Sink is typed
  public static Behaviour ofSink(How how) {
    return new Behaviour(how) {
      @Override
      public Object handle(Activation activation, Object code) throws Exception {
        if (activation.asked()) return ((Handler.Returning<Object, Object>) code).handle(activation.cell.state);
        ((Handler<Object>) code).handle(activation.cell.state);
        return NONE;
      }
    };
  }

  private abstract static class InContext extends Behaviour {
    public InContext(How how) {
      super(how);
    }

    @Override
    public final boolean usesContext() {
      return true;
    }
  }

  /** One that leaves to another what it does not do itself. */
  private static class Outer extends Behaviour {
    public final Behaviour inner;

    public Outer(How how, Behaviour inner) {
      super(how);
      this.inner = inner;
    }

    @Override
    public Object handle(Activation activation, Object message) throws Exception {
      return inner.handle(activation, message);
    }

    @Override
    public final boolean usesContext() {
      return inner.usesContext();
    }
  }

  /** This one with code around it. */
  public final Behaviour within(Handler.Around<Object> around) {
    return new Outer(how, this) {
      @Override
      public Object handle(Activation activation, Object message) throws Exception {
        var answer = new Object[] {NONE};
        around.around(message, () -> answer[0] = inner.handle(activation, message));
        return answer[0];
      }
    };
  }

  /** This one, made otherwise, for who leaves all messages to others. */
  public final Behaviour behind(How how) {
    return new Outer(how, this);
  }

  /**
   * With a state: made before the first message, copied before each where it is to be rolled back.
   */
  public static final class WithState extends Outer {
    private final Callable<?> initial;
    private final Handler<Object> onStop;
    private final Handler.Returning<Object, Object> copy;

    public WithState(Behaviour inner, Callable<?> initial, Handler<Object> onStop,
        Handler.Returning<Object, Object> copy) {
      super(inner.how, inner);
      this.initial = initial;
      this.onStop = onStop;
      this.copy = copy;
    }

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
      if (cell.state == null)
        throw new NullPointerException("the initial state of actor '" + cell.name() + "' was null; give it an object");
      cell.hasState = true;
    }

    @Override
    public void stop(ActorCell cell) throws Exception {
      if (cell.hasState && onStop != null) onStop.handle(cell.state);
    }
  }
}
