package io.fibry.engine.cell;

import io.fibry.Handler;
import java.util.concurrent.Callable;

/**
 * Handles the messages of an actor: an adapter for the handler of the user. An actor consists of a
 * cell and a behavior; several actors may share a behavior. Immutable, except for {@code
 * wakeUpsWithoutHandOver}.
 */
public abstract class ActorBehavior {
  /** The answer of a handler that returns no value. */
  static final Object NO_ANSWER = new Object();

  public final ActorSettings settings;
  // How many further wake-ups by this behavior start a fiber at once, without a hand-over. A plain
  // field, because a lost update does no harm
  int wakeUpsWithoutHandOver;

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
        return NO_ANSWER;
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
        return NO_ANSWER;
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
        return NO_ANSWER;
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
        return NO_ANSWER;
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

  /**
   * Runs code as messages: a {@link Handler.Returning} if the sender waits for a value, otherwise a
   * {@link Handler}.
   */
  @SuppressWarnings("unchecked") // Sink checks the types
  public static ActorBehavior ofSink(ActorSettings settings) {
    return new ActorBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object code) throws Exception {
        if (context.request != null) return ((Handler.Returning<Object, Object>) code).handle(context.cell.state);
        ((Handler<Object>) code).handle(context.cell.state);
        return NO_ANSWER;
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

  public final ActorBehavior intercept(Handler.Interceptor<Object> interceptor) {
    return new WrappingBehavior(settings, this) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        var answer = new Object[] {NO_ANSWER};
        interceptor.intercept(message, () -> answer[0] = inner.handle(context, message));
        return answer[0];
      }
    };
  }

  /**
   * Returns this behavior with other settings, for a pool, which never handles a message itself.
   */
  public final ActorBehavior withSettings(ActorSettings settings) {
    return new WrappingBehavior(settings, this);
  }

  /**
   * Makes the state before the first message. If {@code copyFunction} is not null, copies the state
   * before each message, and puts the copy in place of the state if the handler throws.
   */
  public static final class StatefulBehavior extends WrappingBehavior {
    private final Callable<?> initialState;
    private final Handler<Object> onStop;
    private final Handler.Returning<Object, Object> copyFunction;

    public StatefulBehavior(ActorBehavior inner, Callable<?> initialState, Handler<Object> onStop,
        Handler.Returning<Object, Object> copyFunction) {
      super(inner.settings, inner);
      this.initialState = initialState;
      this.onStop = onStop;
      this.copyFunction = copyFunction;
    }

    @Override
    Object handle(HandlerContext context, Object message) throws Exception {
      var cell = context.cell;
      if (!cell.hasState) makeState(cell);
      if (copyFunction == null) return inner.handle(context, message);
      Object copiedState = copyFunction.handle(cell.state);
      boolean isHandled = false;
      try {
        Object answer = inner.handle(context, message);
        isHandled = true;
        return answer;
      } finally {
        if (!isHandled) cell.state = copiedState;
      }
    }

    private void makeState(Cell cell) throws Exception {
      cell.state = initialState.call();
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
