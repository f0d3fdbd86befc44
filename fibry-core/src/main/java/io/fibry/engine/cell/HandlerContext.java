package io.fibry.engine.cell;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFailures;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.spi.AnswerObserver;
import io.fibry.spi.MultiStepMessage;
import io.fibry.time.Scheduler;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The message that an activation handles, and the operations of its handler. Fields belong to the
 * thread of the activation, unless a comment says otherwise.
 */
public abstract class HandlerContext extends Wait.WaitingHandler
    implements ActorContext<Object>, AnswerObserver.ObservedContext {
  record ReceivedRequest(Object message, RequestFuture<?> request) {}

  final Cell cell;
  RequestFuture<?> request; // null if there is none; read by killers
  Baggage baggage;
  boolean stashed;
  volatile List<ReceivedRequest> receivedRequests; // null if there are none; read by killers
  Deadline deadline; // inline requests only: the deadline of the asker, or null
  int unsettledCount; // messages that are not in the accounts yet; read by observers
  // Whether the outcome of the current message has been counted, or the message waits again; read
  // by observers
  boolean alreadyCounted;
  long startedAt; // when the message began, by the coarse clock; 0 if not known. Read by observers
  volatile ActivationSnapshot.FirstSeen firstSeen; // written by observers
  volatile ActivationSnapshot snapshot; // written by observers

  HandlerContext(Cell cell) {
    this.cell = cell;
  }

  /** Returns the node of the current message, or the next node; called by observers. */
  abstract Object currentNode();

  @Override
  public final Wait.WaitTarget actor() {
    return cell;
  }

  @Override
  public final boolean handles(Wait.Awaitable awaitable) {
    return request == awaitable;
  }

  @Override
  public final Deadline answerDeadline() {
    var current = request;
    if (deadline != null || current == null) return deadline; // an inline request has the deadline of its asker
    return current.isAnswered && current.isDone() ? null : current.deadline;
  }

  /**
   * Fails the received requests that have no answer. If {@code failure} is null, the handler
   * returned without an answer.
   */
  final void failReceivedRequests(Throwable failure) {
    for (var receivedRequest : receivedRequests) if (receivedRequest.request.isUnanswered())
      fail(receivedRequest.request, receivedRequest.message,
          failure != null ? failure : RequestFailures.noReply(cell, receivedRequest.message));
    receivedRequests = null;
  }

  /**
   * Fails a request with this failure. If the actor was cut off, the asker gets the reason of the
   * end instead.
   */
  final void fail(RequestFuture<?> request, Object message, Throwable failure) {
    request.fail(cell.phase == Cell.ENDED ? cell.publicCell().stopped(message, RequestOutcome.UNKNOWN) : failure);
  }

  /**
   * Returns how many steps of the current message have ended; 0 if it is no {@link
   * MultiStepMessage}.
   */
  final long completedSteps() {
    return uncountedMessage() instanceof MultiStepMessage steps ? completedSteps(steps) : 0;
  }

  private static long completedSteps(MultiStepMessage steps) {
    try {
      return steps.completedSteps();
    } catch (Throwable userError) {
      return 0;
    }
  }

  /** {@return how many messages and steps have ended, and are not in the accounts yet} */
  public final long handledUnsettled() {
    return unsettledCount + completedSteps(); // read in this order: see countOutcome
  }

  /**
   * Returns whether the handler of a {@link MultiStepMessage} waits for input or, between two
   * steps, for one of these actors.
   */
  final boolean isAwaitingPeer(Set<Cell> actors) {
    try {
      return uncountedMessage() instanceof MultiStepMessage steps
          && (steps.isAwaitingInput() || steps.currentStep() == null && isAwaitingAnswerOf(actors));
    } catch (Throwable userError) {
      return false;
    }
  }

  /** Returns whether the handler has begun a message or step that has no outcome yet. */
  public final boolean isHandling() {
    Object current = uncountedMessage();
    try {
      return current instanceof MultiStepMessage steps ? steps.currentStep() != null : current != null;
    } catch (Throwable userError) {
      return false;
    }
  }

  /**
   * {@return the message, or null if it has been counted} Observers read the fields in the reverse
   * of the order in which the drain writes them.
   */
  private Object uncountedMessage() {
    VarHandle.acquireFence();
    if (alreadyCounted) return null;
    VarHandle.acquireFence();
    return message;
  }

  /**
   * Hides the current message from observers that count messages. Called by the drain before it
   * counts the outcome of the message, or lets the message wait again.
   */
  final void stopCounting() {
    alreadyCounted = true;
    VarHandle.releaseFence();
  }

  /** Shows messages to observers again. Called by the drain after it has cleared the message. */
  final void resumeCounting() {
    VarHandle.releaseFence();
    alreadyCounted = false;
  }

  /**
   * Counts a handled message; the caller counts a failed message in the accounts. A {@link
   * MultiStepMessage} counts as its completed steps, even if it then fails.
   */
  final void countOutcome(Object finishedMessage, boolean failed) {
    if (failed) stopCounting();
    else {
      message = null;
      VarHandle.releaseFence(); // an observer that sees the count does not see the message
    }
    if (finishedMessage instanceof MultiStepMessage steps)
      unsettledCount += Math.clamp(completedSteps(steps), 0, Integer.MAX_VALUE - unsettledCount);
    else if (!failed) unsettledCount++;
  }

  final void settleAccounts() {
    if (unsettledCount == 0) return;
    int newlyHandled = unsettledCount;
    unsettledCount = 0;
    if (cell.settings().excludedFromAccounts()) {
      cell.owner().accounts().countPass();
      return;
    }
    cell.owner().accounts().countHandled(newlyHandled);
    cell.addToOwnCounts(newlyHandled, 0);
  }

  private void checkOnHandlerThread() {
    if (message == null || Thread.currentThread() != thread) throw new IllegalStateException("the context of actor '"
        + cell.name() + "' is valid on its handler's thread, until the handler returns; to send later, use self()");
    if (cell.phase == Cell.ENDED)
      throw new IllegalStateException("actor '" + cell.name() + "' was killed and cut off while this handler ran");
  }

  @Override
  @SuppressWarnings("unchecked") // every message is an Object here
  public Actor<Object> self() {
    checkOnHandlerThread();
    return (Actor<Object>) cell.publicCell();
  }

  /** Returns the unanswered request with this message, and marks it as answered. */
  private RequestFuture<?> claimRequest(Object answeredMessage) {
    checkOnHandlerThread();
    if (request != null && message == answeredMessage && !stashed && request.markAnswered()) return request;
    if (receivedRequests != null)
      for (var receivedRequest : receivedRequests)
        if (receivedRequest.message == answeredMessage && receivedRequest.request.markAnswered())
          return receivedRequest.request;
    throw new IllegalArgumentException("actor '" + cell.name() + "' has no request " + cell.describe(answeredMessage)
        + " to answer: its handler was not given this very object as a request, or has answered it");
  }

  @Override
  public <R> void reply(Request<?, R> request, R value) {
    Objects.requireNonNull(value, "the answer is null; let it be an Optional, or Done");
    answer(request, value, null);
  }

  @Override
  public void replyFailure(Request<?, ?> request, Throwable failure) {
    Objects.requireNonNull(failure, "failure");
    answer(request, null, failure);
  }

  private void answer(Object message, Object value, Throwable failure) {
    var request = claimRequest(message);
    try {
      if (failure == null) request.finish(value);
      else request.fail(failure);
    } catch (Throwable error) { // no stack: the request fails with the failure of the handler
      request.isAnswered = false; // an assignment, not a call: cannot fail
      throw error;
    }
  }

  @Override
  public <R> void replyWhen(Request<?, R> request, CompletionStage<? extends R> value) {
    replyWhen(request, value, ColdState.NO_CALLBACK);
  }

  @Override
  public <R> void replyWhen(Request<?, R> request, CompletionStage<? extends R> value, Runnable onAbandoned) {
    Objects.requireNonNull(value, "value");
    Objects.requireNonNull(onAbandoned, "onAbandoned");
    var promisedRequest = claimRequest(request);
    var publicCell = cell.publicCell(); // a worker may end before the answer comes
    try {
      if (!publicCell.extras().addPromised(promisedRequest, request, onAbandoned))
        promisedRequest.fail(publicCell.stopped(request, RequestOutcome.UNKNOWN));
      promisedRequest.removePromiseIfSettled();
      value.whenComplete((answer, failure) -> fulfillPromise(promisedRequest, answer, failure));
    } catch (Throwable error) { // no stack or memory, or thrown by the user's stage
      promisedRequest.isAnswered = false; // so the request fails with the failure of the handler
      publicCell.extras().removePromised(promisedRequest);
      throw error;
    }
  }

  private static void fulfillPromise(RequestFuture<?> request, Object answer, Throwable failure) {
    if (failure instanceof CompletionException && failure.getCause() != null)
      request.fulfill(null, failure.getCause());
    else if (failure != null) request.fulfill(null, failure);
    else if (answer == null) request.fulfill(null, new NullPointerException(
        "the promised answer of actor '" + request.recipient.name() + "' was null; let it be an Optional, or Done"));
    else request.fulfill(answer, null);
    request.recipient.removePromise(request, false);
  }

  @Override
  public final Optional<AnswerObserver> answerObserver() {
    return RequestFuture.Observed.observerOf(request);
  }

  @Override
  public boolean isCancelled() {
    checkOnHandlerThread();
    return request != null && (request.isDone() || deadline != null && deadline.getAsBoolean());
  }

  @Override
  public Optional<Duration> remainingTime() {
    checkOnHandlerThread();
    var answerDeadline = answerDeadline();
    return answerDeadline == null ? Optional.empty() : answerDeadline.remaining();
  }

  @Override
  public Scheduler scheduler() {
    checkOnHandlerThread();
    return cell.owner().options().scheduler();
  }

  private void checkSelective(String action) {
    checkOnHandlerThread();
    if (!cell.isSelective()) throw new IllegalStateException("actor '" + cell.name() + "' cannot " + action
        + ": its mailbox does not let the handler choose; make the actor with "
        + ".mailbox(Mailbox.unbounded().selective())");
  }

  @Override
  public <T extends Object> Optional<T> receive(Class<T> type, Duration limit) {
    return receive(type, any -> true, limit);
  }

  @Override
  public <T extends Object> Optional<T> receive(Class<T> type, Predicate<? super T> condition, Duration limit) {
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(condition, "condition");
    checkSelective("receive");
    if (mayHoldHandOver) startHandedOver();
    var deadline = Objects.requireNonNull(limit, "limit").isZero() ? Deadline.NO_WAIT
        : Deadline.of(cell.owner().options().scheduler(), limit);
    Predicate<Object> filter = candidate -> type.isInstance(candidate) && condition.test(type.cast(candidate));
    for (Object node = cell.receive(filter, deadline); node != null; node = cell.receive(filter, deadline)) {
      Object newMessage = beginReceived(node);
      if (newMessage != null) return Optional.of(type.cast(newMessage));
    }
    if (Thread.currentThread().isInterrupted()) throw new CancellationException(
        "actor '" + cell.name() + "' was interrupted while its handler waited for a message");
    return Optional.empty();
  }

  /** Begins the message of a node that was received. Returns null if the request was cancelled. */
  private Object beginReceived(Object node) {
    Object newMessage;
    if (node instanceof Envelope envelope) {
      newMessage = envelope.message;
      envelope.message = null;
    } else {
      var newRequest = (RequestFuture<?>) node;
      newMessage = newRequest.begin();
      if (newMessage == null) return null;
      if (receivedRequests == null) receivedRequests = new CopyOnWriteArrayList<>();
      receivedRequests.add(new ReceivedRequest(newMessage, newRequest));
      if (cell.phase == Cell.ENDED) newRequest.failStopped(newMessage); // the killer may not have seen the request
    }
    unsettledCount++;
    return newMessage;
  }

  @Override
  public void stash() {
    checkSelective("stash");
    if (stashed || request != null && request.isAnswered)
      throw new IllegalStateException("actor '" + cell.name() + "' has answered or stashed this message already");
    stashed = true;
    stopCounting();
    firstSeen = null; // the message will begin again
    if (request == null) cell.extras().addToStash(new Envelope(message, baggage));
    else if (request.stash(message, baggage)) {
      cell.extras().addToStash(request);
      if (cell.phase == Cell.ENDED) request.failStopped(message); // the killer may not have seen the request
    } else cell.owner().accounts().countUnhandled(Reason.CANCELLED);
  }

  @Override
  public void unstash() {
    checkSelective("unstash");
    putBackStash();
  }

  final void putBackStash() {
    if (!cell.isSelective()) return;
    var stash = cell.extras().stash;
    cell.putBack(new ArrayList<>(stash));
    stash.clear();
  }

  @Override
  public void watch(Exitable target, Function<ExitReason, ? extends Object> message) {
    checkOnHandlerThread();
    Objects.requireNonNull(message, "message");
    if (target == cell.publicCell()) throw new IllegalArgumentException("actor '" + cell.name()
        + "' cannot watch its own end: it would be notified when it accepts no messages; use closeOnExit or onStop");
    cell.publicCell().watches().watch(Objects.requireNonNull(target, "target"), message);
  }

  @Override
  public void unwatch(Exitable target) {
    checkOnHandlerThread();
    cell.publicCell().watches().unwatch(Objects.requireNonNull(target, "target"));
  }
}
