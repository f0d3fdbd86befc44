package io.fibry.engine.cell;

import io.fibry.ActorScope;
import io.fibry.DeadLetter;
import io.fibry.engine.jvm.Assured;
import io.fibry.engine.jvm.Log;
import io.fibry.engine.message.Control;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.Events;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Enters unhandled messages without an asker, and tells their scope's listener. */
public final class DeadLetters {
  private static final ThreadLocal<Boolean> LISTENING = new ThreadLocal<>(); // set inside a listener
  private static final ThreadLocal<Boolean> ELSEWHERE = new ThreadLocal<>(); // set where no listener may run

  private DeadLetters() {}

  public static void add(Cell cell, Object message, DeadLetter.Reason reason, Throwable cause) {
    var accounts = cell.owner().accounts();
    accounts.countUnhandled(reason);
    Events.deadLetter(cell, message, reason);
    if (LISTENING.get() != null) return;
    var letter = new Letter(cell.front(), message, reason, Optional.ofNullable(cause));
    accounts.keep(letter);
    tell(cell.owner(), letter);
  }

  /** Runs code on the thread of all timers: listeners run on threads of their own. */
  public static <T> T tellElsewhere(Supplier<T> code) {
    ELSEWHERE.set(true);
    try {
      return code.get();
    } finally {
      ELSEWHERE.remove();
    }
  }

  private static void tell(Owner owner, Letter letter) {
    var listener = owner.options().deadLetters();
    if (listener == ActorScope.Options.defaults().deadLetters()) return;
    if (ELSEWHERE.get() == null) tell(owner, listener, letter);
    else Assured.start(() -> tell(owner, listener, letter));
  }

  private static void tell(Owner owner, Consumer<? super DeadLetter> listener, Letter letter) {
    LISTENING.set(true);
    try {
      listener.accept(letter);
    } catch (Throwable failure) {
      Log.LOG.error("the dead-letter listener of scope '{}' failed", owner.name(), failure);
    } finally {
      LISTENING.remove();
    }
  }

  /** {@code sent} may be the engine's wrapper of a task. */
  private record Letter(Cell cell, Object sent, Reason reason, Optional<Throwable> cause) implements DeadLetter {
    @Override
    public String actor() {
      return cell.name();
    }

    @Override
    public Object message() {
      return Control.given(sent);
    }

    @Override
    public boolean resend() {
      return cell.send(new Envelope(sent, cell.baggage()), Deadline.NO_WAIT);
    }

    @Override
    public String toString() {
      return "dead letter to '" + actor() + "', " + reason + ": " + Log.shown(message());
    }
  }
}
