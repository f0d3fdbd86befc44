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
  boolean suspendNext; // next, for extras.pause
  boolean redelivered; // the message waits in its node again, to be handled after the restart
  volatile List<ReceivedRequest> received; // null if there are none; read by killers
  Deadline deadline; // inline requests only: the limit of the asker, or null if there is none
  int handled; // not yet in the accounts; read by observers
  // The message counts by its outcome, or as waiting, though its handler runs; read by observers.
  boolean countedElsewhere;
  long startedAt; // when the message began, by the coarse clock; 0 if not known. Read by observers
  volatile ActivationSnapshot.FirstSeen firstSeen; // written by observers
  volatile ActivationSnapshot snapshot; // likewise

  HandlerContext(Cell cell) {
    this.cell = cell;
  }

  /** The node being handled, or the next; read by observers. */
  abstract Object currentNode();

  @Override
  public final Wait.WaitTarget party() {
    return cell;
  }

  @Override
  public final boolean handles(Wait.Awaitable one) {
    return request == one;
  }

  @Override
  public final Deadline answerDeadline() {
    var current = request;
    if (deadline != null || current == null) return deadline; // inline, the asker waits for the handler too
    return current.answered && current.isDone() ? null : current.deadline;
  }

  /**
   * Returns how often the message has been redelivered, counting this time, or 0 if it is not
   * redelivered.
   */
  abstract int redeliver(int most);

  final void failOpenRequests(Throwable failure) {
    for (var one : received) if (one.request.isOpen())
      fail(one.request, one.message, failure != null ? failure : RequestFailures.noReply(cell, one.message));
    received = null;
  }

  /** After a cut-off, whose thread may come later, the asker is told of that. */
  final void fail(RequestFuture<?> one, Object asked, Throwable failure) {
    one.fail(cell.phase == Cell.ENDED ? cell.publicCell().stopped(asked, Outcome.UNKNOWN) : failure);
  }

  /** Returns the steps of the current message that have ended. */
  final long completedSteps() {
    return countedMessage() instanceof MultiStepMessage steps ? completedSteps(steps) : 0;
  }

  private static long completedSteps(MultiStepMessage steps) {
    try {
      return steps.completedSteps();
    } catch (Throwable failure) { // of the user
      return 0;
    }
  }

  /** {@return how many messages and steps have ended, and are not in the accounts yet} */
  public final long handledUnsettled() {
    return handled + completedSteps(); // in this order
  }

  /** Whether it is at a message or step that has no outcome yet. */
  public final boolean isHandling() {
    Object now = countedMessage();
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
  private Object countedMessage() {
    VarHandle.acquireFence();
    if (countedElsewhere) return null;
    VarHandle.acquireFence();
    return message;
  }

  /** The drain calls this, then writes the outcome of the message, or lets it wait again. */
  final void countElsewhere() {
    countedElsewhere = true;
    VarHandle.releaseFence();
  }

  /** The drain calls this after it has cleared the message, for the next one. */
  final void resumeCounting() {
    VarHandle.releaseFence();
    countedElsewhere = false;
  }

  /**
   * A message counts once. A message of steps counts as its ended steps, even if it fails then.
   */
  final void countOutcome(Object given, boolean failed) {
    if (failed) countElsewhere();
    else {
      message = null;
      VarHandle.releaseFence(); // an observer that sees the count does not see the message
    }
    if (given instanceof MultiStepMessage steps)
      handled += Math.clamp(completedSteps(steps), 0, Integer.MAX_VALUE - handled);
    else if (!failed) handled++;
  }

  final void settleAccounts() {
    if (handled == 0) return;
    int settled = handled;
    handled = 0;
    if (cell.settings().excludedFromAccounts()) {
      cell.owner().accounts().countPass();
      return;
    }
    cell.owner().accounts().countHandled(settled);
    try {
      var extras = cell.ownCounts();
      if (extras != null) extras.handled += settled;
    } catch (OutOfMemoryError full) { // only a figure is missing
    }
  }

  private void checkOnHandlerThread() {
    if (message == null || Thread.currentThread() != thread) throw new IllegalStateException("the context of actor '"
        + cell.name() + "' is valid on its handler's thread, until the handler returns; for later, keep self()");
    if (cell.phase == Cell.ENDED)
      throw new IllegalStateException("actor '" + cell.name() + "' was killed and cut off while this handler ran");
  }

  @Override
  @SuppressWarnings("unchecked") // every message is an Object here
  public Actor<Object> self() {
    checkOnHandlerThread();
    return (Actor<Object>) cell.publicCell();
  }

  /** Finds the open request with this message, and marks it answered. */
  private RequestFuture<?> claimRequest(Object asked) {
    checkOnHandlerThread();
    if (request != null && message == asked && !stashed && request.markAnswered()) return request;
    if (received != null)
      for (var one : received) if (one.message == asked && one.request.markAnswered()) return one.request;
    throw new IllegalArgumentException("actor '" + cell.name() + "' has no request " + cell.describe(asked)
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
    var taken = claimRequest(asked);
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
    replyWhen(asked, value, ColdState.NO_CALLBACK);
  }

  @Override
  public <R> void replyWhen(Request<?, R> asked, CompletionStage<? extends R> value, Runnable onAbandoned) {
    Objects.requireNonNull(value, "value");
    Objects.requireNonNull(onAbandoned, "givenUp");
    var promised = claimRequest(asked);
    var front = cell.publicCell(); // a worker may end before
    if (!front.extras().addPromised(promised, asked, onAbandoned)) promised.fail(front.stopped(asked, Outcome.UNKNOWN));
    promised.checkAbandoned();
    value.whenComplete((answer, failure) -> fulfillPromise(promised, answer, failure));
  }

  private static void fulfillPromise(RequestFuture<?> promised, Object answer, Throwable failure) {
    if (failure instanceof CompletionException && failure.getCause() != null)
      promised.fulfill(null, failure.getCause());
    else if (failure != null) promised.fulfill(null, failure);
    else if (answer == null) promised.fulfill(null, new NullPointerException(
        "the promised answer of actor '" + promised.recipient.name() + "' was null; let it be an Optional, or Done"));
    else promised.fulfill(answer, null);
    promised.recipient.removePromise(promised, false);
  }

  @Override
  public boolean isCancelled() {
    checkOnHandlerThread();
    return request != null && (request.isDone() || deadline != null && deadline.getAsBoolean());
  }

  @Override
  public Optional<Duration> remainingTime() {
    checkOnHandlerThread();
    var due = answerDeadline();
    return due == null ? Optional.empty() : due.remaining();
  }

  private void checkSelective(String verb) {
    checkOnHandlerThread();
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
    if (mayHoldHandOver) startHandedOver();
    var until = Objects.requireNonNull(limit, "limit").isZero() ? Deadline.NO_WAIT
        : Deadline.of(cell.owner().options().scheduler(), limit);
    Predicate<Object> fits = waiting -> type.isInstance(waiting) && which.test(type.cast(waiting));
    for (Object node = cell.receive(fits, until); node != null; node = cell.receive(fits, until)) {
      Object given = beginReceived(node);
      if (given != null) return Optional.of(type.cast(given));
    }
    if (Thread.currentThread().isInterrupted()) throw new CancellationException(
        "actor '" + cell.name() + "' was interrupted while its handler waited for a message");
    return Optional.empty();
  }

  /** Returns null if the request was canceled. */
  private Object beginReceived(Object node) {
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
      if (cell.phase == Cell.ENDED) taken.failStopped(given); // the killer may have looked before
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
    firstSeen = null; // the message may come again
    if (request == null) cell.extras().addToStash(new Envelope(message, baggage));
    else if (request.stash(message, baggage)) {
      cell.extras().addToStash(request);
      if (cell.phase == Cell.ENDED) request.failStopped(message); // as in open
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
    checkOnHandlerThread();
    Objects.requireNonNull(news, "message");
    if (other == cell.publicCell()) throw new IllegalArgumentException("actor '" + cell.name()
        + "' cannot watch its own end: it would be told when it takes no message any more; use closeOnExit or onStop");
    cell.publicCell().watches().watch(Objects.requireNonNull(other, "other"), news);
  }

  @Override
  public void unwatch(Exitable other) {
    checkOnHandlerThread();
    cell.publicCell().watches().unwatch(Objects.requireNonNull(other, "other"));
  }
}
