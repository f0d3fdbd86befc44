package io.fibry.engine.cell;

import io.fibry.Handler;
import java.util.concurrent.Callable;

/**
 * What an actor does with a message. It adapts the handler itself: an actor is two objects.
 * Immutable, but for {@code lateWakeUps}.
 */
public abstract class ActorBehavior {
  /** The answer of a handler that gives none. */
  static final Object NONE = new Object();

  public final ActorSettings settings;
  // How many of the next wake-ups start a fiber at once; a plain field, because a lost update does no harm.
  int lateWakeUps;

  private ActorBehavior(ActorSettings settings) {
    this.settings = settings;
  }

  abstract Object handle(HandlerContext context, Object message) throws Exception;

  boolean usesContext() {
    return false;
  }

  boolean hasStopHook(Cell cell) {
    return false;
  }

  void stop(Cell cell) throws Exception {}

  public static ActorBehavior of(ActorSettings settings, Handler<Object> handler) {
    return new ActorBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        handler.handle(message);
        return NONE;
      }
    };
  }

  public static ActorBehavior returning(ActorSettings settings, Handler.Returning<Object, Object> handler) {
    return new ActorBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        return handler.handle(message);
      }
    };
  }

  public static ActorBehavior withContext(ActorSettings settings, Handler.WithContext<Object> handler) {
    return new ContextBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        handler.handle(message, context);
        return NONE;
      }
    };
  }

  public static ActorBehavior returningWithContext(ActorSettings settings,
      Handler.ReturningWithContext<Object, Object> handler) {
    return new ContextBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        return handler.handle(message, context);
      }
    };
  }

  public static ActorBehavior stateful(ActorSettings settings, Handler.Stateful<Object, Object> handler) {
    return new ActorBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        handler.handle(context.cell.state, message);
        return NONE;
      }
    };
  }

  public static ActorBehavior statefulReturning(ActorSettings settings,
      Handler.StatefulReturning<Object, Object, Object> handler) {
    return new ActorBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        return handler.handle(context.cell.state, message);
      }
    };
  }

  public static ActorBehavior statefulWithContext(ActorSettings settings,
      Handler.StatefulWithContext<Object, Object> handler) {
    return new ContextBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        handler.handle(context.cell.state, message, context);
        return NONE;
      }
    };
  }

  public static ActorBehavior statefulReturningWithContext(ActorSettings settings,
      Handler.StatefulReturningWithContext<Object, Object, Object> handler) {
    return new ContextBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        return handler.handle(context.cell.state, message, context);
      }
    };
  }

  /** Runs code: a Returning if its sender waits for a value, else a Handler. */
  @SuppressWarnings("unchecked") // Sink is typed
  public static ActorBehavior ofSink(ActorSettings settings) {
    return new ActorBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object code) throws Exception {
        if (context.request != null) return ((Handler.Returning<Object, Object>) code).handle(context.cell.state);
        ((Handler<Object>) code).handle(context.cell.state);
        return NONE;
      }
    };
  }

  private abstract static class ContextBehavior extends ActorBehavior {
    ContextBehavior(ActorSettings settings) {
      super(settings);
    }

    @Override
    final boolean usesContext() {
      return true;
    }
  }

  private static class WrappingBehavior extends ActorBehavior {
    final ActorBehavior inner;

    WrappingBehavior(ActorSettings settings, ActorBehavior inner) {
      super(settings);
      this.inner = inner;
    }

    @Override
    Object handle(HandlerContext context, Object message) throws Exception {
      return inner.handle(context, message);
    }

    @Override
    final boolean usesContext() {
      return inner.usesContext();
    }
  }

  public final ActorBehavior intercept(Handler.Interceptor<Object> around) {
    return new WrappingBehavior(settings, this) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        var answer = new Object[] {NONE};
        around.intercept(message, () -> answer[0] = inner.handle(context, message));
        return answer[0];
      }
    };
  }

  /** For an actor that never handles a message itself. */
  public final ActorBehavior withSettings(ActorSettings settings) {
    return new WrappingBehavior(settings, this);
  }

  /** Makes a state before the first message; {@code copy} keeps the one to roll back to. */
  public static final class StatefulBehavior extends WrappingBehavior {
    private final Callable<?> initial;
    private final Handler<Object> onStop;
    private final Handler.Returning<Object, Object> copy;

    public StatefulBehavior(ActorBehavior inner, Callable<?> initial, Handler<Object> onStop,
        Handler.Returning<Object, Object> copy) {
      super(inner.settings, inner);
      this.initial = initial;
      this.onStop = onStop;
      this.copy = copy;
    }

    @Override
    Object handle(HandlerContext context, Object message) throws Exception {
      var cell = context.cell;
      if (!cell.hasState) makeState(cell);
      if (copy == null) return inner.handle(context, message);
      Object before = copy.handle(cell.state);
      boolean done = false;
      try {
        Object answer = inner.handle(context, message);
        done = true;
        return answer;
      } finally {
        if (!done) cell.state = before;
      }
    }

    private void makeState(Cell cell) throws Exception {
      cell.state = initial.call();
      if (cell.state == null)
        throw new NullPointerException("the initial state of actor '" + cell.name() + "' was null; give it an object");
      cell.hasState = true;
    }

    @Override
    boolean hasStopHook(Cell cell) {
      return cell.hasState && onStop != null;
    }

    @Override
    void stop(Cell cell) throws Exception {
      if (hasStopHook(cell)) onStop.handle(cell.state);
    }
  }
}
