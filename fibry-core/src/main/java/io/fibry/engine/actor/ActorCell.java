package io.fibry.engine.actor;

import io.fibry.ActorStoppedException;
import io.fibry.ActorWithReturn;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Handler;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.RequestOutcome;
import io.fibry.Sink;
import io.fibry.engine.cell.Activity;
import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.cell.ActorInspector;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.ColdState;
import io.fibry.engine.jvm.AskChainLocals;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.EngineThreads;
import io.fibry.engine.message.AnswerType;
import io.fibry.engine.message.AwaitedSinkTask;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Diagnosis;
import io.fibry.engine.message.EncodedRequest;
import io.fibry.engine.message.EngineMessage;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.JfrEvents;
import io.fibry.engine.message.RequestFailures;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.engine.message.Wait.WaitingHandler;
import io.fibry.engine.queue.AnswerSpin;
import io.fibry.spi.EncodedAsk;
import io.fibry.spi.PromptReceiver;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;

/** Implements the public methods of every actor. An object of this class has 40 bytes. */
@SuppressWarnings("unchecked") // the request or the code declares the type of its answer
class ActorCell extends Cell implements ActorWithReturn<Object, Object>, Sink<Object>, PromptReceiver {
  ActorCell(ActorBehavior behavior) {
    super(behavior);
  }

  @Override
  public boolean sendMessage(Object message) {
    var refusal = offer(Objects.requireNonNull(message, "message"), baggage(message));
    reportRefusal(message, refusal);
    return refusal == null;
  }

  @Override
  public boolean acceptsPromptly() {
    return acceptsWithoutUserCode();
  }

  @Override
  public boolean sendsWithoutUserCode() {
    return acceptsPromptly();
  }

  @Override
  public boolean execAsync(Handler<Object> code) {
    return sendMessage(Objects.requireNonNull(code, "code"));
  }

  @Override
  public void execute(Runnable task) {
    var message = new EngineMessage(Objects.requireNonNull(task, "task"));
    var refusal = offer(new Envelope(message, baggage(task)), Deadline.NONE);
    reportRefusal(message, refusal);
    if (refusal != null)
      throw new RejectedExecutionException("actor '" + name() + "' did not take the task: " + switch (refusal) {
        case UNDELIVERED -> "it is ending or has ended";
        case CANCELLED -> "the thread was interrupted while it waited for space in the mailbox";
        default -> "its mailbox is full";
      });
  }

  @Override
  public final void admit(Callable<Object> factory, String eventText, boolean onThisThread) {
    try {
      if (onThisThread) makeAndAdmit(factory, eventText);
      else runOffThread(new Admission(this, factory, eventText));
    } catch (Throwable error) { // StackOverflowError or OutOfMemoryError
      EngineLog.log().error("actor '{}' could not be notified of {}", name(), eventText, error);
    }
  }

  /**
   * A record, not a lambda: if memory runs out while the JVM links a lambda for the first time,
   * that lambda may fail forever.
   */
  private record Admission(ActorCell cell, Callable<Object> factory, String eventText) implements Runnable {
    @Override
    public void run() {
      cell.makeAndAdmit(factory, eventText);
    }
  }

  private void makeAndAdmit(Callable<Object> factory, String eventText) {
    try {
      Object message = factory.call();
      reportRefusal(message, addUnbounded(new Envelope(message, Baggage.of(null))));
    } catch (Throwable failure) {
      EngineLog.log().error("actor '{}' could not be notified of {}", name(), eventText, failure);
    }
  }

  @Override
  public boolean sendMessages(List<?> block) {
    var messages = List.of(checked(Objects.requireNonNull(block, "block").toArray(), "a message of the block"));
    if (messages.isEmpty()) return !isEnding();
    var refusal = offerBlock(messages, baggage(messages));
    if (refusal != null) for (var message : messages) reportRefusal(message, refusal);
    return refusal == null;
  }

  private static <T> T[] checked(T[] elements, String description) {
    for (var element : elements) Objects.requireNonNull(element, description);
    return elements;
  }

  @Override
  public <Q extends Object, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request) {
    return (CompletableFuture<R>) request(Objects.requireNonNull(request, "request"), Deadline.NONE, true);
  }

  @Override
  public CompletableFuture<Object> sendMessageReturn(Object message) {
    return request(message, Deadline.NONE, false);
  }

  @Override
  public <Q extends Object, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request, Duration limit) {
    return (CompletableFuture<R>) request(Objects.requireNonNull(request, "request"), limit, true);
  }

  @Override
  public CompletableFuture<Object> sendMessageReturn(Object message, Duration limit) {
    return request(message, limit, false);
  }

  private CompletableFuture<Object> request(Object message, Duration limit, boolean declaresType) {
    var deadline = Deadline.of(owner().options().scheduler(), limit);
    var request = request(message, deadline, declaresType);
    request.startLimit(message, deadline);
    return request;
  }

  @Override
  public <R> CompletableFuture<R> execFuture(Handler.Returning<Object, R> code) {
    return (CompletableFuture<R>) request(Objects.requireNonNull(code, "code"), Deadline.NONE, false);
  }

  private RequestFuture<Object> request(Object message, Deadline deadline, boolean declaresType) {
    Objects.requireNonNull(message, "message");
    var request = AskChainLocals.everUsed ? RequestFuture.Observed.ofSent(this, message, baggage(message))
        : new RequestFuture<Object>(this, message, baggage(message), false);
    request.hasDeclaredType = declaresType;
    send(request, message, deadline);
    return request;
  }

  private void send(RequestFuture<Object> request, Object message, Deadline deadline) {
    if (deadline.isBounded()) request.deadline = deadline;
    var refusal = offer(request, message, deadline);
    if (refusal != null) refuse(request, message, refusal);
    else if (phase == ENDED) request.failStopped(message); // the killer may not have seen the request
  }

  private void refuse(RequestFuture<?> request, Object message, Reason refusal) {
    if (refusal == Reason.CANCELLED) request.cancel(false);
    else if (refusal == Reason.EXPIRED) request.expire(message);
    else {
      countUnhandled(refusal);
      request.fail(
          refusal == Reason.UNDELIVERED ? stopped(message, RequestOutcome.NOT_DONE) : mailboxFull(request, message));
    }
  }

  @Override
  public <Q extends Object, R> R ask(Request<Q, R> request) {
    return (R) AnswerType.checkedAnswer(this, request, ask((Object) Objects.requireNonNull(request, "request")));
  }

  @Override
  public <Q extends Object, R> R ask(Request<Q, R> request, Duration limit) {
    return (R) AnswerType.checkedAnswer(this, request, ask((Object) Objects.requireNonNull(request, "request"), limit));
  }

  @Override
  public <R> R ask(Handler.Returning<Object, R> code) {
    return (R) ask((Object) Objects.requireNonNull(code, "code"));
  }

  @Override
  public <R> R ask(Handler.Returning<Object, R> code, Duration limit) {
    return (R) ask((Object) Objects.requireNonNull(code, "code"), limit);
  }

  @Override
  public Object ask(Object message) {
    Object answer = settings().inline() ? inline(Objects.requireNonNull(message, "message")) : null;
    return answer != null ? answer : ask(message, owner().options().askLimit());
  }

  @Override
  public Object ask(Object message, Duration limit) {
    var asker = WaitingHandler.current();
    var deadline = Deadline.ofAsk(owner().options().scheduler(), limit, asker == null ? null : asker.answerDeadline());
    Wait.checkMayWait(this, message);
    if (deadline.isZero()) throw RequestFailures.tooLate(this, message, deadline);
    var event = JfrEvents.beginAsk();
    if (event == null) return sendAndWait(message, message, deadline, asker);
    Throwable failure = null;
    try {
      return sendAndWait(message, message, deadline, asker);
    } catch (Throwable thrown) {
      failure = thrown;
      throw thrown;
    } finally {
      JfrEvents.endAsk(event, this, message, failure);
    }
  }

  /** Sends a request and waits for the answer. {@code shown} is the message that texts show. */
  private Object sendAndWait(Object message, Object shown, Deadline deadline, WaitingHandler asker) {
    Objects.requireNonNull(message, "message");
    var request = new RequestFuture<Object>(this, message, baggageOfAsk(EngineMessage.unwrap(message)), true);
    if (AnswerSpin.isPossible() && hasEmptyQueue() && behavior.isSpinDue()) request.letAskerSpin();
    else if (EngineThreads.isVirtualThreadOffCarriers()) request.setAskerOffCarriers();
    send(request, message, deadline);
    return request.await(shown, deadline, asker, behavior);
  }

  @Override
  public Object askEncoded(Object message, EncodedAsk ask) {
    var asker = WaitingHandler.current();
    var deadline = Deadline.ofAsk(ask.clock(), ask.limit(), asker == null ? null : asker.answerDeadline());
    Wait.checkMayWait(this, message);
    if (deadline.isZero()) throw RequestFailures.tooLate(this, message, deadline);
    var event = JfrEvents.beginAsk();
    Throwable failure = null;
    try {
      var request = new EncodedRequest(this, message, Baggage.ofAskers(ask.askers(), isPool()), ask);
      request.hasDeclaredType = true;
      if (!ask.beginSend()) {
        event = null; // the caller sends the request another way
        return ask;
      }
      send(request, message, deadline);
      ask.onSent();
      Object result = request.await(message, deadline, asker);
      failure = request.encodedFailure();
      return result;
    } catch (Throwable thrown) {
      failure = thrown;
      throw thrown;
    } finally {
      if (event != null) JfrEvents.endAsk(event, this, message, failure);
    }
  }

  @Override
  public void execAndWait(Handler<Object> code) {
    Objects.requireNonNull(code, "code");
    Wait.checkMayWait(this, code);
    sendAndWait(new AwaitedSinkTask(code), code, Deadline.NONE, WaitingHandler.current());
  }

  @Override
  public Scheduler.Timer sendMessageLater(Object message, Duration delay) {
    return TimedMessage.start(this, null, message, delay, false);
  }

  @Override
  public Scheduler.Timer sendMessageLater(Object key, Object message, Duration delay) {
    return TimedMessage.start(this, Objects.requireNonNull(key, "key"), message, delay, false);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(Object message, Duration period) {
    return TimedMessage.start(this, null, message, period, true);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(Object key, Object message, Duration period) {
    return TimedMessage.start(this, Objects.requireNonNull(key, "key"), message, period, true);
  }

  @Override
  public void askExit() {
    if (!isEnding()) stopAccepting(new ExitReason.Stopped());
  }

  @Override
  public void sendPoisonPill() {
    if (isEnding()) return;
    extras(); // made here, where a lack of memory fails this call; the drain needs them at the pill
    push(new Envelope(EngineMessage.PILL));
  }

  @Override
  public void kill() {
    kill(new ExitReason.Killed());
  }

  @Override
  public void waitForExit() {
    extras().exit().await(this, null);
  }

  @Override
  public boolean waitForExit(Duration limit) {
    return extras().exit().await(this, Deadline.notNegative(limit));
  }

  @Override
  public CompletableFuture<ExitReason> onExit() {
    return extras().exit().publicFuture(this, owner().accounts());
  }

  @Override
  public ActorCell closeOnExit(AutoCloseable... resources) {
    var list = List.of(checked(Objects.requireNonNull(resources, "resources"), "a resource"));
    if (!extras().addResources(list)) list.reversed().forEach(this::closeResource);
    return this;
  }

  @Override
  public void close() {
    if (endIdle()) return;
    sendPoisonPill();
    if (!isCurrent()) waitForExit();
  }

  @Override
  public final ActorStoppedException stopped(Object message, RequestOutcome outcome) {
    return RequestFailures.stopped(this, message, extras().reason(), outcome);
  }

  @Override
  public String toString() {
    return "actor '" + name() + "'";
  }

  @Override
  public void onWithdrawn(RequestFuture<?> request, Reason reason) {
    countUnhandled(reason);
    if (reason != Reason.EXPIRED) return;
    for (var cell : workersAndSelf()) cell.restartUnclaimed();
    if (label() != null) try {
      extras().countExpired();
    } catch (OutOfMemoryError noMemory) {} // the request is then missing only in the actor's own count
  }

  @Override
  public final void removePromise(RequestFuture<?> request, boolean isAbandoned) {
    var callback = extras().removePromised(request);
    if (isAbandoned && callback != ColdState.NO_CALLBACK) runOffThread(callback);
  }

  @Override
  public final Diagnosis diagnose(RequestFuture<?> request) {
    return ActorInspector.diagnose(this, request);
  }

  @Override
  public final void rememberStart(RequestFuture<?> request) {
    ActorInspector.rememberStart(this, request);
  }

  @Override
  public Activity activity() {
    return ActorInspector.activity(this);
  }

  MailboxFullException mailboxFull(RequestFuture<?> request, Object message) {
    return RequestFailures.full(this, message, mailbox().capacity());
  }
}
