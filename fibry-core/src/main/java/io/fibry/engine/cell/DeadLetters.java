package io.fibry.engine.cell;

import io.fibry.ActorScope;
import io.fibry.DeadLetter.Reason;
import io.fibry.DeadLetter;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.JfrEvents;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Consumer;

/** Enters unhandled messages without an asker, and tells their scope's listener. */
public final class DeadLetters {
  private static final ThreadLocal<Boolean> LISTENING = new ThreadLocal<>(); // set inside a listener
  private static final Runnable NO_LISTENER = () -> {};
  private static final ThreadLocal<Boolean> ELSEWHERE = new ThreadLocal<>(); // set where no listener may run

  private DeadLetters() {}

  public static void add(Cell cell, Object message, Reason reason, Throwable cause) {
    enter(cell, message, reason, cause).run();
  }

  /** For a message that its ending actor does not handle: the requests behind it are told first. */
  static void addAtEnd(Cell cell, Object message) {
    var telling = enter(cell, message, Reason.UNDELIVERED, null);
    if (telling != NO_LISTENER && !cell.extras().runAtEnd(telling)) telling.run();
  }

  /** Returns code that tells the listener. */
  private static Runnable enter(Cell cell, Object message, Reason reason, Throwable cause) {
    var owner = cell.owner();
    var accounts = owner.accounts();
    var settings = cell.settings();
    // a block's own
    if (settings.excludedFromAccounts() && message instanceof EngineMessage || settings.isForClient().test(message)) {
      accounts.countPass();
      return NO_LISTENER;
    }
    boolean gone = settings.isForClient() != ActorSettings.NO_CLIENT
        && (reason == Reason.UNDELIVERED || reason == Reason.FAILED && cause instanceof IOException);
    if (gone) reason = Reason.DISCONNECTED;
    accounts.countUnhandled(reason);
    JfrEvents.recordDeadLetter(cell, message, reason);
    if (LISTENING.get() != null) return NO_LISTENER;
    var letter = new ActorDeadLetter(cell.publicCell(), message, reason, Optional.ofNullable(cause));
    if (!gone) accounts.addLetter(letter);
    var listener = owner.options().deadLetters();
    return listener == ActorScope.Options.defaults().deadLetters() ? NO_LISTENER
        : new ListenerCall(owner, listener, letter, false);
  }

  /** Runs code on the thread of all timers: listeners run on threads of their own. */
  public static void runOffThread(Runnable code) {
    ELSEWHERE.set(true);
    try {
      code.run();
    } finally {
      ELSEWHERE.set(null); // cheaper than `remove`
    }
  }

  /** No lambda: see Dispatch. */
  record ListenerCall(OwningScope owner, Consumer<? super DeadLetter> listener, ActorDeadLetter letter,
      boolean elsewhere)
      implements Runnable {
    @Override
    public void run() {
      if (elsewhere || ELSEWHERE.get() == null) callListener();
      else owner.accounts().runOffThread(new ListenerCall(owner, listener, letter, true));
    }

    private void callListener() {
      LISTENING.set(true);
      try {
        listener.accept(letter);
      } catch (Throwable failure) {
        EngineLog.LOG.error("the dead-letter listener of scope '{}' failed", owner.name(), failure);
      } finally {
        LISTENING.remove();
      }
    }
  }

  /** {@code sent} may be the engine's wrapper of a task. */
  private record ActorDeadLetter(Cell cell, Object sent, Reason reason, Optional<Throwable> cause)
      implements DeadLetter {
    @Override
    public String actor() {
      return cell.name();
    }

    @Override
    public Object message() {
      return EngineMessage.unwrap(sent);
    }

    @Override
    public boolean resend() {
      return cell.send(new Envelope(sent, cell.baggage(message())), Deadline.NO_WAIT);
    }

    @Override
    public String toString() {
      return "dead letter to '" + actor() + "', " + reason + ": " + cell.describe(message());
    }
  }
}
