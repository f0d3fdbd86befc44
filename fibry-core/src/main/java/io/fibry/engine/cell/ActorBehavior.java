package io.fibry.engine.cell;

import io.fibry.Handler;
import io.fibry.engine.queue.AnswerSpin;
import java.util.concurrent.Callable;

/**
 * Handles the messages of an actor: an adapter for the handler of the user. An actor consists of a
 * cell and a behavior; several actors may share a behavior. Immutable, except for two plain fields,
 * whose lost updates do no harm.
 */
public abstract class ActorBehavior extends AnswerSpin {
  /** The answer of a handler that returns no value. */
  static final Object NO_ANSWER = new Object();

  public final ActorSettings settings;
  // How many further wake-ups by this behavior start a fiber at once, without a hand-over
  short wakeUpsWithoutHandOver;

  private ActorBehavior(ActorSettings settings) {
    this.settings = settings;
  }

  abstract Object handle(HandlerContext context, Object message) throws Exception;

  /** Handles a message that has passed through the interceptor. */
  Object handleIntercepted(HandlerContext context, Object message) throws Exception {
    return handle(context, message);
  }

  boolean usesContext() {
    return false;
  }

  boolean hasStopHook(Cell cell) {
    return false;
  }

  void stop(Cell cell) throws Exception {}

  /**
   * Returns the behavior. Without this call, the verifier would load the classes of all kinds of
   * behaviors with the first actor, to check that each is an ActorBehavior.
   */
  private static ActorBehavior loadedWhenMade(Object behavior) {
    return (ActorBehavior) behavior;
  }

  public static ActorBehavior of(ActorSettings settings, Handler<Object> handler) {
    return loadedWhenMade(new ActorBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        handler.handle(message);
        return NO_ANSWER;
      }
    });
  }

  public static ActorBehavior returning(ActorSettings settings, Handler.Returning<Object, Object> handler) {
    return loadedWhenMade(new ActorBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        return handler.handle(message);
      }
    });
  }

  public static ActorBehavior withContext(ActorSettings settings, Handler.WithContext<Object> handler) {
    return loadedWhenMade(new ContextBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        handler.handle(message, context);
        return NO_ANSWER;
      }
    });
  }

  public static ActorBehavior returningWithContext(ActorSettings settings,
      Handler.ReturningWithContext<Object, Object> handler) {
    return loadedWhenMade(new ContextBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        return handler.handle(message, context);
      }
    });
  }

  public static ActorBehavior stateful(ActorSettings settings, StateFunctions functions,
      Handler.Stateful<Object, Object> handler) {
    return loadedWhenMade(new StatefulBehavior(settings, functions) {
      @Override
      Object handle(HandlerContext context, Object state, Object message) throws Exception {
        handler.handle(state, message);
        return NO_ANSWER;
      }
    });
  }

  public static ActorBehavior statefulReturning(ActorSettings settings, StateFunctions functions,
      Handler.StatefulReturning<Object, Object, Object> handler) {
    return loadedWhenMade(new StatefulBehavior(settings, functions) {
      @Override
      Object handle(HandlerContext context, Object state, Object message) throws Exception {
        return handler.handle(state, message);
      }
    });
  }

  public static ActorBehavior statefulWithContext(ActorSettings settings, StateFunctions functions,
      Handler.StatefulWithContext<Object, Object> handler) {
    return loadedWhenMade(new StatefulBehavior(settings, functions) {
      @Override
      Object handle(HandlerContext context, Object state, Object message) throws Exception {
        handler.handle(state, message, context);
        return NO_ANSWER;
      }

      @Override
      boolean usesContext() {
        return true;
      }
    });
  }

  public static ActorBehavior statefulReturningWithContext(ActorSettings settings, StateFunctions functions,
      Handler.StatefulReturningWithContext<Object, Object, Object> handler) {
    return loadedWhenMade(new StatefulBehavior(settings, functions) {
      @Override
      Object handle(HandlerContext context, Object state, Object message) throws Exception {
        return handler.handle(state, message, context);
      }

      @Override
      boolean usesContext() {
        return true;
      }
    });
  }

  /** Runs code with the object of the sink, or with null if the sink has none. */
  public static ActorBehavior ofSink(ActorSettings settings) {
    return loadedWhenMade(new ActorBehavior(settings) {
      @Override
      Object handle(HandlerContext context, Object code) throws Exception {
        return runCode(context, context.cell.state, code);
      }
    });
  }

  public static ActorBehavior statefulSink(ActorSettings settings, StateFunctions functions) {
    return loadedWhenMade(new StatefulBehavior(settings, functions) {
      @Override
      Object handle(HandlerContext context, Object state, Object code) throws Exception {
        return runCode(context, state, code);
      }
    });
  }

  /**
   * Runs the code that a sink got as a message: a {@link Handler.Returning} if the sender waits for
   * a value, otherwise a {@link Handler}.
   */
  @SuppressWarnings("unchecked") // Sink checks the types
  private static Object runCode(HandlerContext context, Object state, Object code) throws Exception {
    if (context.request != null) return ((Handler.Returning<Object, Object>) code).handle(state);
    ((Handler<Object>) code).handle(state);
    return NO_ANSWER;
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

  private static Object runIntercepted(Handler.Interceptor<Object> interceptor, RestOfHandling rest) throws Exception {
    interceptor.intercept(rest.message, rest);
    return rest.answer;
  }

  /**
   * Handles the message when the interceptor continues. A class, not a lambda: a lambda that is
   * first linked without memory may fail forever.
   */
  private static final class RestOfHandling implements Handler.Task {
    private final ActorBehavior behavior;
    private final HandlerContext context;
    private final Object message;
    private Object answer = NO_ANSWER;

    RestOfHandling(ActorBehavior behavior, HandlerContext context, Object message) {
      this.behavior = behavior;
      this.context = context;
      this.message = message;
    }

    @Override
    public void run() throws Exception {
      answer = behavior.handleIntercepted(context, message);
    }
  }

  /** Returns a behavior that passes each message through the interceptor first. */
  public final ActorBehavior intercept(Handler.Interceptor<Object> interceptor) {
    return loadedWhenMade(new WrappingBehavior(settings, this) {
      @Override
      Object handle(HandlerContext context, Object message) throws Exception {
        return runIntercepted(interceptor, new RestOfHandling(inner, context, message));
      }
    });
  }

  /**
   * Returns this behavior with other settings, for a pool, which never handles a message itself.
   */
  public final ActorBehavior withSettings(ActorSettings settings) {
    return loadedWhenMade(new WrappingBehavior(settings, this));
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

  /**
   * How the actors of one builder get their state, and lose it.
   *
   * @param initialState makes the state before the first message
   * @param stopHook called with the state at the end; may be null
   * @param copyFunction copies the state before each message. The copy takes the place of the state
   * if the handler throws. May be null
   * @param interceptor each message passes through it after the state was made; may be null
   */
  public record StateFunctions(Callable<?> initialState, Handler<Object> stopHook,
      Handler.Returning<Object, Object> copyFunction, Handler.Interceptor<Object> interceptor) {

    /** Returns whether the handler gets the state and the message, and nothing else runs. */
    private boolean isPlain() {
      return copyFunction == null && interceptor == null;
    }

    private Object makeState(Cell cell) throws Exception {
      Object state = initialState.call();
      if (state == null)
        throw new NullPointerException("the initial state of actor '" + cell.name() + "' was null; give it an object");
      return state;
    }
  }

  /**
   * A subclass for each kind of handler has the handler and the functions in one object. This saves
   * memory, because each of many actors may have its own behavior.
   */
  private abstract static class StatefulBehavior extends ActorBehavior {
    private final StateFunctions functions;

    StatefulBehavior(ActorSettings settings, StateFunctions functions) {
      super(settings);
      this.functions = functions;
    }

    abstract Object handle(HandlerContext context, Object state, Object message) throws Exception;

    @Override
    final Object handle(HandlerContext context, Object message) throws Exception {
      var cell = context.cell;
      if (!cell.hasState) {
        cell.state = functions.makeState(cell);
        cell.hasState = true;
      }
      // no other code here: a fiber that sleeps in its handler keeps this frame in memory
      if (functions.isPlain()) return handle(context, cell.state, message);
      return functions.copyFunction == null ? handleWithState(context, message) : handleWithCopy(context, message);
    }

    private Object handleWithCopy(HandlerContext context, Object message) throws Exception {
      var cell = context.cell;
      Object copiedState = functions.copyFunction.handle(cell.state);
      boolean isHandled = false;
      try {
        Object answer = handleWithState(context, message);
        isHandled = true;
        return answer;
      } finally {
        if (!isHandled) cell.state = copiedState;
      }
    }

    private Object handleWithState(HandlerContext context, Object message) throws Exception {
      return functions.interceptor == null ? handleIntercepted(context, message)
          : runIntercepted(functions.interceptor, new RestOfHandling(this, context, message));
    }

    @Override
    final Object handleIntercepted(HandlerContext context, Object message) throws Exception {
      return handle(context, context.cell.state, message);
    }

    @Override
    final boolean hasStopHook(Cell cell) {
      return cell.hasState && functions.stopHook != null;
    }

    @Override
    final void stop(Cell cell) throws Exception {
      if (hasStopHook(cell)) functions.stopHook.handle(cell.state);
    }
  }
}
