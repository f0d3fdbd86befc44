package io.fibry.engine.cell;

import io.fibry.ActorScope;
import io.fibry.DeadLetter;
import io.fibry.DeadLetter.Reason;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.NoAction;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.JfrEvents;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Counts messages that no asker waits for, if they were not handled or their handler failed. Also
 * stores them, and calls the dead-letter listener of their scope. Messages for disconnected clients
 * are not stored. Messages that are lost while this thread runs a listener are only counted.
 */
public final class DeadLetters {
  private static final ThreadLocal<Boolean> LISTENING = new ThreadLocal<>(); // set while this thread runs a listener
  private static final Runnable NO_LISTENER = new NoAction();
  private static final AtomicLong LAST_NUMBER = new AtomicLong(); // of a dead letter of this process
  // set while this thread may run no listener
  private static final ThreadLocal<Boolean> MUST_NOT_LISTEN = new ThreadLocal<>();

  private DeadLetters() {}

  static void add(Cell cell, Object message, Reason reason, Throwable cause) {
    record(cell, message, reason, cause, false).run();
  }

  /** Adds a message that the full mailbox had accepted. Its actor has counted it as dropped. */
  public static void addDropped(Cell cell, Object message) {
    record(cell, message, Reason.DROPPED, null, true).run();
  }

  /**
   * Adds the message of a timer, on any thread. The listener is called on another thread, because
   * the thread of the timers must run no user code.
   */
  public static void addOffThread(Cell cell, Object message, Reason reason, Throwable cause) {
    var call = record(cell, message, reason, cause, false);
    if (call != NO_LISTENER) cell.owner().accounts().runOffThread(((ListenerCall) call).onOtherThread());
  }

  /**
   * Adds a message that its ending actor does not handle. The listener is called after the requests
   * behind the message have failed and the actor's resources are closed. If the actor already runs
   * its end callbacks, the listener is called at once.
   */
  static void addAtEnd(Cell cell, Object message) {
    var listenerCall = record(cell, message, Reason.UNDELIVERED, null, false);
    if (listenerCall != NO_LISTENER && !cell.extras().addEndCallback(listenerCall)) listenerCall.run();
  }

  /**
   * Counts and, in most cases, stores a dead letter. Returns code that calls the listener, if there
   * is a listener.
   *
   * @param isCountedByActor whether the actor has counted the message in its own counts
   */
  private static Runnable record(Cell cell, Object message, Reason reason, Throwable cause,
      boolean isCountedByActor) {
    var owner = cell.owner();
    var accounts = owner.accounts();
    var settings = cell.settings();
    // an internal task or message of a block, whose loss no user needs to know
    if (settings.excludedFromAccounts() && message instanceof EngineMessage || settings.isNegligible().test(message)) {
      accounts.countPass();
      return NO_LISTENER;
    }
    boolean isClientGone = settings.isForClient()
        && (reason == Reason.UNDELIVERED || reason == Reason.FAILED && cause instanceof IOException);
    if (isClientGone) reason = Reason.DISCONNECTED;
    if (isCountedByActor) accounts.countUnhandled(reason);
    else cell.countUnhandled(reason);
    var time = timeOf(owner);
    accounts.countDeadLetter(reason, time);
    JfrEvents.recordDeadLetter(cell, message, reason);
    if (LISTENING.get() != null) return NO_LISTENER;
    var letter = new ActorDeadLetter(cell.publicCell(), message, reason, Optional.ofNullable(cause), time,
        LAST_NUMBER.incrementAndGet());
    if (!isClientGone) accounts.addLetter(letter);
    var listener = owner.options().deadLetterListener();
    return listener == ActorScope.Options.defaults().deadLetterListener() ? NO_LISTENER
        : new ListenerCall(owner, listener, letter, false);
  }

  /** Returns the time by the scope's clock, or the time of the machine if a user's clock throws. */
  static Instant timeOf(OwningScope owner) {
    try {
      return owner.options().scheduler().instant();
    } catch (Throwable failure) { // the letter must not be lost, so nothing is logged at the end of the stack
      if (!(failure instanceof VirtualMachineError)) EngineLog.log()
          .error("the clock of scope '{}' failed; a dead letter has the time of the machine", owner.name(), failure);
      return Instant.now();
    }
  }

  /**
   * Called on the one thread that runs all timers, which must run no user code. Runs the code
   * there, and calls dead-letter listeners on other threads.
   */
  static void runWithoutListeners(Runnable code) {
    MUST_NOT_LISTEN.set(true);
    try {
      code.run();
    } finally {
      MUST_NOT_LISTEN.set(null); // cheaper than `remove`
    }
  }

  /**
   * A record, not a lambda: a lambda that is first linked without stack or memory may fail forever.
   */
  record ListenerCall(OwningScope owner, Consumer<? super DeadLetter> listener, ActorDeadLetter letter,
      boolean hasChangedThread)
      implements Runnable {
    @Override
    public void run() {
      if (hasChangedThread || MUST_NOT_LISTEN.get() == null) callListener();
      else owner.accounts().runOffThread(onOtherThread());
    }

    ListenerCall onOtherThread() {
      return new ListenerCall(owner, listener, letter, true);
    }

    private void callListener() {
      LISTENING.set(true);
      try {
        listener.accept(letter);
      } catch (Throwable failure) {
        EngineLog.log().error("the dead-letter listener of scope '{}' failed", owner.name(), failure);
      } finally {
        LISTENING.remove();
      }
    }
  }

  /**
   * A dead letter.
   *
   * @param content the message, or the {@link EngineMessage} of a task
   * @param number orders the dead letters of this process, oldest first
   */
  record ActorDeadLetter(Cell cell, Object content, Reason reason, Optional<Throwable> cause, Instant time,
      long number) implements DeadLetter, Comparable<ActorDeadLetter> {
    @Override
    public int compareTo(ActorDeadLetter other) {
      return Long.compare(number, other.number);
    }

    @Override
    public String actor() {
      return cell.name();
    }

    @Override
    public Object message() {
      return EngineMessage.unwrap(content);
    }

    @Override
    public boolean resend() {
      return cell.send(new Envelope(content, cell.baggage(message())), Deadline.NO_WAIT);
    }

    @Override
    public String toString() {
      return "dead letter to '" + actor() + "', " + reason + ": " + cell.describe(message());
    }
  }
}
