package io.fibry.engine.scope;

import io.fibry.ActorStoppedException;
import io.fibry.ActorWithReturn;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Strategy;
import io.fibry.engine.cell.Cell;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Patience;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * An actor that records how its messages are handled. The messages of each sender are ascending
 * numbers. The fields are plain, so that a second thread with the right to run is noticed, and so
 * that the model checker may switch threads at each access.
 */
public final class CheckedActor {
  /** Code that the handler runs in addition. */
  @FunctionalInterface
  public interface HandlerExtension {
    void handle(CheckedActor checkedActor, int message);
  }

  private static final int SENDERS = 6;
  private static final int MESSAGES_PER_SENDER = 16;
  public static final int MESSAGES = SENDERS * MESSAGES_PER_SENDER;
  public static final int FIRST_MESSAGE = MESSAGES_PER_SENDER + 1; // the first message of sender 1

  public final Scope scope;
  public final ActorWithReturn<Object, Object> actor;
  public final Cell cell; // the actor's internal type
  private final int[] handled = new int[MESSAGES]; // how often each message was handled
  private final int[] deadLetters = new int[MESSAGES]; // how often each message became a dead letter
  // Results of `sendMessage`: 1 for true, -1 for false, 0 for requests and for unsent messages
  private final int[] sendResults = new int[MESSAGES];
  private final CompletableFuture<?>[] requests = new CompletableFuture<?>[MESSAGES];
  private final int[] sent = new int[SENDERS]; // messages sent by each sender, which writes its own element
  private final int[] lastHandled = new int[SENDERS]; // the last handled message, by sender
  private boolean isHandling; // whether a handler runs
  private int currentMessage; // the message that is being handled
  private boolean hooksBegan; // whether the hooks have begun
  public int hookRuns; // how often the hooks ran
  private String firstFault;

  public CheckedActor(Strategy strategy, Mailbox<Object> mailbox, Scheduler scheduler, HandlerExtension extension) {
    scope = StressActors.scope(
        options -> options.withDeadLetterListener(letter -> deadLetters[(Integer) letter.message()]++)
            .withScheduler(scheduler));
    actor = scope.anonymous().strategy(strategy).mailbox(mailbox).newActorWithReturn(message -> {
      handle((Integer) message, extension);
      return message;
    });
    cell = (Cell) actor;
  }

  public CheckedActor(Strategy strategy, Mailbox<Object> mailbox) {
    this(strategy, mailbox, new NeverFiringScheduler(), (checkedActor, message) -> {});
  }

  private void handle(int message, HandlerExtension extension) {
    enter(message);
    extension.handle(this, message);
    if (currentMessage != message) fault("another handler ran in between");
    isHandling = false;
  }

  private void enter(int message) {
    if (isHandling) fault("two handlers at once");
    if (hooksBegan) fault(message + " was handled after the end");
    isHandling = true;
    currentMessage = message;
    int sender = message / MESSAGES_PER_SENDER;
    if (message % MESSAGES_PER_SENDER <= lastHandled[sender])
      fault(message + " was handled after " + lastHandled[sender]);
    lastHandled[sender] = message % MESSAGES_PER_SENDER;
    handled[message]++;
  }

  public void hook() {
    if (isHandling) fault("a hook ran beside a handler");
    hooksBegan = true;
    hookRuns++;
  }

  public void fault(String text) {
    if (firstFault == null) firstFault = text;
  }

  // ---- senders

  public int nextMessage(int sender) {
    return sender * MESSAGES_PER_SENDER + ++sent[sender];
  }

  public boolean send(int sender) {
    int message = nextMessage(sender);
    return recordSend(message, actor.sendMessage(message));
  }

  public boolean recordSend(int message, boolean isAccepted) {
    sendResults[message] = isAccepted ? 1 : -1;
    return isAccepted;
  }

  public CompletableFuture<Object> request(int sender) {
    Integer message = nextMessage(sender);
    var future = actor.sendMessageReturn((Object) message);
    requests[message] = future;
    return future;
  }

  public int handled() {
    int sum = 0;
    for (int times : handled) sum += times;
    return sum;
  }

  /**
   * Waits until the actor has ended. A fiber of the library may end it, of which the model checker
   * knows nothing.
   */
  public void awaitExit() {
    Patience.awaitEnd(actor::waitForExit);
  }

  // ---- checks, after all threads have ended

  public void check() {
    int sentCount = 0;
    long countedMessages = scope.accounts().handled();
    for (var reason : Reason.values()) countedMessages += scope.accounts().unhandled(reason);
    for (int sender = 0; sender < SENDERS; sender++) {
      sentCount += sent[sender];
      for (int n = 1; n <= sent[sender]; n++) checkOne(sender * MESSAGES_PER_SENDER + n);
    }
    if (isHandling) fault("a handler is still running");
    if (cell.isStranded()) fault("the right to run is stranded");
    if (countedMessages != sentCount) fault("sent " + sentCount + ", accounted for " + countedMessages);
    if (firstFault != null) throw new AssertionError(firstFault);
  }

  private void checkOne(int message) {
    var request = requests[message];
    if (request != null) checkRequest(message, request);
    else if (handled[message] + deadLetters[message] != 1)
      fault(message + " was handled " + handled[message] + " times and was a dead letter "
          + deadLetters[message] + " times");
    else if (sendResults[message] == -1 && handled[message] != 0) fault(message + " was refused, but was handled");
  }

  private void checkRequest(int message, CompletableFuture<?> request) {
    if (handled[message] > 1) fault(message + " was handled twice");
    if (!request.isDone()) fault("the request " + message + " has no outcome");
    else if (request.isCancelled()) return; // its handler may or may not have begun
    else if (request.isCompletedExceptionally() == (handled[message] == 1))
      fault("the request " + message + " was handled and failed, or neither");
    else if (handled[message] == 1 && !request.join().equals(message))
      fault("the request " + message + " was answered " + request.join());
  }

  /** Checks that the requests that were not handled failed with this reason. */
  public void checkRequestsFailedBecause(ExitReason reason) {
    for (var request : requests)
      if (request != null && failure(request) instanceof ActorStoppedException stopped
          && !stopped.reason().equals(reason))
        fault("a request failed with " + stopped.reason() + ", but the reason was " + reason);
  }

  /** Returns the failure of a request, or null. */
  public static Throwable failure(CompletableFuture<?> request) {
    try {
      request.join();
      return null;
    } catch (CompletionException failed) {
      return failed.getCause();
    } catch (CancellationException cancelled) {
      return cancelled;
    }
  }

  /** A scheduler whose timers never fire. */
  public static class NeverFiringScheduler implements Scheduler {
    @Override
    public long nanoTime() {
      return 0;
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return () -> true;
    }

    @Override
    public Timer scheduleAtFixedRate(Duration initial, Duration period, Runnable task) {
      return schedule(initial, task);
    }

    @Override
    public Timer scheduleWithFixedDelay(Duration initial, Duration delay, Runnable task) {
      return schedule(initial, task);
    }
  }
}
