package io.fibry.engine.scope;

import io.fibry.ActorStoppedException;
import io.fibry.ActorWithReturn;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Strategy;
import io.fibry.engine.cell.Cell;
import io.fibry.mailbox.Mailbox;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * An actor and what was seen of it. Messages are numbers, ascending for each sender. The fields are
 * plain, so that a second thread with the right to run shows, and the model checker may switch
 * threads at each access.
 */
public final class Witness {
  /** What a handler does besides. */
  @FunctionalInterface
  public interface Also {
    void handle(Witness witness, int message);
  }

  private static final int SENDERS = 6;
  private static final int EACH = 16;
  public static final int MESSAGES = SENDERS * EACH;
  public static final int FIRST = EACH + 1; // of the sender 1

  public final Scope scope;
  public final ActorWithReturn<Object, Object> actor;
  public final Cell cell; // the same from inside
  private final int[] handled = new int[MESSAGES]; // how often, by message
  private final int[] buried = new int[MESSAGES]; // how often, as a dead letter
  // of `sendMessage`: 1 true, -1 false, 0 none yet, or a request
  private final int[] answers = new int[MESSAGES];
  private final CompletableFuture<?>[] requests = new CompletableFuture<?>[MESSAGES];
  private final int[] sent = new int[SENDERS]; // by sender, which writes its own
  private final int[] newest = new int[SENDERS]; // the newest handled, by sender
  private boolean inside; // whether a handler runs
  private int here; // the message that it handles
  private boolean over; // whether the hooks have begun
  public int hooks; // how often they ran
  private String wrong; // the first fault

  public Witness(Strategy strategy, Mailbox<Object> mailbox, Scheduler scheduler, Also also) {
    scope = Stage.scope(
        options -> options.withDeadLetters(letter -> buried[(Integer) letter.message()]++).withScheduler(scheduler));
    actor = scope.anonymous().strategy(strategy).mailbox(mailbox).newActorWithReturn(message -> {
      handle((Integer) message, also);
      return message;
    });
    cell = (Cell) actor;
  }

  public Witness(Strategy strategy, Mailbox<Object> mailbox) {
    this(strategy, mailbox, new Never(), (witness, message) -> {});
  }

  private void handle(int message, Also also) {
    enter(message);
    also.handle(this, message);
    if (here != message) fault("another handler came in between");
    inside = false;
  }

  private void enter(int message) {
    if (inside) fault("two handlers at once");
    if (over) fault(message + " was handled after the end");
    inside = true;
    here = message;
    int sender = message / EACH;
    if (message % EACH <= newest[sender]) fault(message + " was handled after " + newest[sender]);
    newest[sender] = message % EACH;
    handled[message]++;
  }

  public void hook() {
    if (inside) fault("a hook ran beside a handler");
    over = true;
    hooks++;
  }

  public void fault(String what) {
    if (wrong == null) wrong = what;
  }

  // ---- senders

  public int number(int sender) {
    return sender * EACH + ++sent[sender];
  }

  public boolean send(int sender) {
    int message = number(sender);
    return note(message, actor.sendMessage(message));
  }

  public boolean note(int message, boolean taken) {
    answers[message] = taken ? 1 : -1;
    return taken;
  }

  public CompletableFuture<Object> request(int sender) {
    Integer message = number(sender);
    var future = actor.sendMessageReturn((Object) message);
    requests[message] = future;
    return future;
  }

  public int handled() {
    int sum = 0;
    for (int times : handled) sum += times;
    return sum;
  }

  // ---- the verdict, after all threads have ended

  public void check() {
    int all = 0;
    long accounts = scope.accounts().handled();
    for (var reason : Reason.values()) accounts += scope.accounts().unhandled(reason);
    for (int sender = 0; sender < SENDERS; sender++) {
      all += sent[sender];
      for (int n = 1; n <= sent[sender]; n++) checkOne(sender * EACH + n);
    }
    if (inside) fault("a handler is still inside");
    if (cell.isStranded()) fault("the right to run lies stranded");
    if (accounts != all) fault("sent " + all + ", accounted for " + accounts);
    if (wrong != null) throw new AssertionError(wrong);
  }

  private void checkOne(int message) {
    var request = requests[message];
    if (request != null) checkRequest(message, request);
    else if (handled[message] + buried[message] != 1)
      fault(message + " was handled " + handled[message] + " times and buried " + buried[message] + " times");
    else if (answers[message] == -1 && handled[message] != 0) fault(message + " was refused, and handled");
  }

  private void checkRequest(int message, CompletableFuture<?> request) {
    if (handled[message] > 1) fault(message + " was handled twice");
    if (!request.isDone()) fault("the request " + message + " has no outcome");
    else if (request.isCancelled()) return; // before or after it was begun
    else if (request.isCompletedExceptionally() == (handled[message] == 1))
      fault("the request " + message + " was handled and failed, or neither");
    else if (handled[message] == 1 && !request.join().equals(message))
      fault("the request " + message + " was answered " + request.join());
  }

  /** Requests that were not handled saw the actor's reason. */
  public void requestsFailedBecause(ExitReason reason) {
    for (var request : requests)
      if (request != null && failure(request) instanceof ActorStoppedException stopped
          && !stopped.reason().equals(reason))
        fault("told it was " + stopped.reason() + ", but it was " + reason);
  }

  /** Why a request failed, or null. */
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
  public static class Never implements Scheduler {
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
