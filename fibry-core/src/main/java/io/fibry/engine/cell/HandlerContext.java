package io.fibry.engine.cell;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Outcome;
import io.fibry.Request;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFailures;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.spi.MultiStepMessage;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The message that an activation handles, and what its handler may do. Its thread owns all fields,
 * unless said otherwise.
 */
public abstract class HandlerContext extends Wait.WaitingHandler implements ActorContext<Object> {
  record ReceivedRequest(Object message, RequestFuture<?> request) {}

  final Cell cell;
  RequestFuture<?> request; // null if there is none; read by killers
  Baggage baggage;
  boolean stashed;
  boolean suspends; // next, for extras.pause
  boolean again; // the message waits in its node again, to be handled after the restart
  volatile List<ReceivedRequest> received; // null if there are none; read by killers
  Deadline deadline; // inline requests only: the limit of the asker, or null if there is none
  int handled; // not yet in the accounts; read by observers
  boolean elsewhere; // the message counts by its outcome, or as waiting, though its handler runs; read by observers
  long began; // when the message began, by the coarse clock; 0 if not known. Read by observers
  volatile ActivationSnapshot.FirstSeen since; // written by observers
  volatile ActivationSnapshot snapshot; // likewise

  HandlerContext(Cell cell) {
    this.cell = cell;
  }

  /** The node being handled, or the next; read by observers. */
  abstract Object at();

  @Override
  public final Wait.WaitTarget party() {
    return cell;
  }

  @Override
  public final boolean handles(Wait.Awaitable one) {
    return request == one;
  }

  @Override
  public final Deadline due() {
    var current = request;
    if (deadline != null || current == null) return deadline; // inline, the asker waits for the handler too
    return current.answered && current.isDone() ? null : current.deadline;
  }

  /**
   * Returns how often the message has been redelivered, counting this time, or 0 if it is not
   * redelivered.
   */
  abstract int giveAgain(int most);

  final void failUnanswered(Throwable failure) {
    for (var one : received) if (one.request.isOpen())
      fail(one.request, one.message, failure != null ? failure : RequestFailures.noReply(cell, one.message));
    received = null;
  }

  /** After a cut-off, whose thread may come later, the asker is told of that. */
  final void fail(RequestFuture<?> one, Object asked, Throwable failure) {
    one.fail(cell.phase == Cell.ENDED ? cell.front().stopped(asked, Outcome.UNKNOWN) : failure);
  }

  /** Returns the steps of the current message that have ended. */
  final long stepsDone() {
    return open() instanceof MultiStepMessage steps ? stepsDone(steps) : 0;
  }

  private static long stepsDone(MultiStepMessage steps) {
    try {
      return steps.completedSteps();
    } catch (Throwable failure) { // of the user
      return 0;
    }
  }

  /** {@return how many messages and steps have ended, and are not in the accounts yet} */
  public final long handledSince() {
    return handled + stepsDone(); // in this order
  }

  /** Whether it is at a message or step that has no outcome yet. */
  public final boolean isHandling() {
    Object now = open();
    try {
      return now instanceof MultiStepMessage steps ? steps.currentStep() != null : now != null;
    } catch (Throwable failure) { // of the user
      return false;
    }
  }

  /**
   * {@return the message, or null if it counts elsewhere} Observers read in the order against that
   * in which the drain writes.
   */
  private Object open() {
    VarHandle.acquireFence();
    if (elsewhere) return null;
    VarHandle.acquireFence();
    return message;
  }

  /** The drain calls this, then writes the outcome of the message, or lets it wait again. */
  final void countElsewhere() {
    elsewhere = true;
    VarHandle.releaseFence();
  }

  /** The drain calls this after it has cleared the message, for the next one. */
  final void countHereAgain() {
    VarHandle.releaseFence();
    elsewhere = false;
  }

  /**
   * A message counts once. A message of steps counts as its ended steps, even if it fails then.
   */
  final void count(Object given, boolean failed) {
    if (failed) countElsewhere();
    else {
      message = null;
      VarHandle.releaseFence(); // an observer that sees the count does not see the message
    }
    if (given instanceof MultiStepMessage steps)
      handled += Math.clamp(stepsDone(steps), 0, Integer.MAX_VALUE - handled);
    else if (!failed) handled++;
  }

  final void settleAccounts() {
    if (handled == 0) return;
    int settled = handled;
    handled = 0;
    if (cell.settings().uncounted()) {
      cell.owner().accounts().countPass();
      return;
    }
    cell.owner().accounts().countHandled(settled);
    try {
      var extras = cell.figures();
      if (extras != null) extras.handled += settled;
    } catch (OutOfMemoryError full) { // only a figure is missing
    }
  }

  private void check() {
    if (message == null || Thread.currentThread() != thread) throw new IllegalStateException("the context of actor '"
        + cell.name() + "' is valid on its handler's thread, until the handler returns; for later, keep self()");
    if (cell.phase == Cell.ENDED)
      throw new IllegalStateException("actor '" + cell.name() + "' was killed and cut off while this handler ran");
  }

  @Override
  @SuppressWarnings("unchecked") // every message is an Object here
  public Actor<Object> self() {
    check();
    return (Actor<Object>) cell.front();
  }

  /** Finds the open request with this message, and marks it answered. */
  private RequestFuture<?> take(Object asked) {
    check();
    if (request != null && message == asked && !stashed && request.answer()) return request;
    if (received != null) for (var one : received) if (one.message == asked && one.request.answer()) return one.request;
    throw new IllegalArgumentException("actor '" + cell.name() + "' has no request " + cell.shown(asked)
        + " to answer: its handler was not given this very object as a request, or has answered it");
  }

  @Override
  public <R> void reply(Request<?, R> asked, R value) {
    Objects.requireNonNull(value, "the answer is null; let it be an Optional, or Done");
    answer(asked, value, null);
  }

  @Override
  public void replyFailure(Request<?, ?> asked, Throwable failure) {
    Objects.requireNonNull(failure, "failure");
    answer(asked, null, failure);
  }

  private void answer(Object asked, Object value, Throwable failure) {
    var taken = take(asked);
    try {
      if (failure == null) taken.finish(value);
      else taken.fail(failure);
    } catch (Throwable edge) { // of the stack: the handler's failure is the answer
      taken.answered = false; // an assignment, not a call: cannot fail
      throw edge;
    }
  }

  @Override
  public <R> void replyWhen(Request<?, R> asked, CompletionStage<? extends R> value) {
    replyWhen(asked, value, ColdState.NOBODY_IS_TOLD);
  }

  @Override
  public <R> void replyWhen(Request<?, R> asked, CompletionStage<? extends R> value, Runnable givenUp) {
    Objects.requireNonNull(value, "value");
    Objects.requireNonNull(givenUp, "givenUp");
    var promised = take(asked);
    var front = cell.front(); // a worker may end before
    if (!front.extras().promise(promised, asked, givenUp)) promised.fail(front.stopped(asked, Outcome.UNKNOWN));
    promised.checkGivenUp();
    value.whenComplete((answer, failure) -> keepPromise(promised, answer, failure));
  }

  private static void keepPromise(RequestFuture<?> promised, Object answer, Throwable failure) {
    if (failure instanceof CompletionException && failure.getCause() != null) promised.keep(null, failure.getCause());
    else if (failure != null) promised.keep(null, failure);
    else if (answer == null) promised.keep(null, new NullPointerException(
        "the promised answer of actor '" + promised.recipient.name() + "' was null; let it be an Optional, or Done"));
    else promised.keep(answer, null);
    promised.recipient.forget(promised, false);
  }

  @Override
  public boolean isCancelled() {
    check();
    return request != null && (request.isDone() || deadline != null && deadline.getAsBoolean());
  }

  @Override
  public Optional<Duration> remainingTime() {
    check();
    var due = due();
    return due == null ? Optional.empty() : due.timeLeft();
  }

  private void checkSelective(String verb) {
    check();
    if (!cell.isSelective()) throw new IllegalStateException("actor '" + cell.name() + "' cannot " + verb
        + ": its mailbox does not let the handler choose; make it with .mailbox(Mailbox.unbounded().selective())");
  }

  @Override
  public <T extends Object> Optional<T> receive(Class<T> type, Duration limit) {
    return receive(type, any -> true, limit);
  }

  @Override
  public <T extends Object> Optional<T> receive(Class<T> type, Predicate<? super T> which, Duration limit) {
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(which, "which");
    checkSelective("receive");
    if (lays) startLaid();
    var until = Objects.requireNonNull(limit, "limit").isZero() ? Deadline.NO_WAIT
        : Deadline.of(cell.owner().options().scheduler(), limit);
    Predicate<Object> fits = waiting -> type.isInstance(waiting) && which.test(type.cast(waiting));
    for (Object node = cell.receive(fits, until); node != null; node = cell.receive(fits, until)) {
      Object given = open(node);
      if (given != null) return Optional.of(type.cast(given));
    }
    if (Thread.currentThread().isInterrupted()) throw new CancellationException(
        "actor '" + cell.name() + "' was interrupted while its handler waited for a message");
    return Optional.empty();
  }

  /** Returns null if the request was canceled. */
  private Object open(Object node) {
    Object given;
    if (node instanceof Envelope envelope) {
      given = envelope.message;
      envelope.message = null;
    } else {
      var taken = (RequestFuture<?>) node;
      given = taken.begin();
      if (given == null) return null;
      if (received == null) received = new CopyOnWriteArrayList<>();
      received.add(new ReceivedRequest(given, taken));
      if (cell.phase == Cell.ENDED) taken.stop(given); // the killer may have looked before
    }
    handled++;
    return given;
  }

  @Override
  public void stash() {
    checkSelective("stash");
    if (stashed || request != null && request.answered)
      throw new IllegalStateException("actor '" + cell.name() + "' has answered this message or put it aside already");
    stashed = true;
    countElsewhere();
    since = null; // the message may come again
    if (request == null) cell.extras().putAside(new Envelope(message, baggage));
    else if (request.stash(message, baggage)) {
      cell.extras().putAside(request);
      if (cell.phase == Cell.ENDED) request.stop(message); // as in open
    } else cell.owner().accounts().countUnhandled(Reason.CANCELLED);
  }

  @Override
  public void unstash() {
    checkSelective("unstash");
    emptyStash();
  }

  final void emptyStash() {
    if (!cell.isSelective()) return;
    var stash = cell.extras().stash;
    cell.putBack(new ArrayList<>(stash));
    stash.clear();
  }

  @Override
  public void watch(Exitable other, Function<ExitReason, ? extends Object> news) {
    check();
    Objects.requireNonNull(news, "message");
    if (other == cell.front()) throw new IllegalArgumentException("actor '" + cell.name()
        + "' cannot watch its own end: it would be told when it takes no message any more; use closeOnExit or onStop");
    cell.front().watches().watch(Objects.requireNonNull(other, "other"), news);
  }

  @Override
  public void unwatch(Exitable other) {
    check();
    cell.front().watches().unwatch(Objects.requireNonNull(other, "other"));
  }
}
