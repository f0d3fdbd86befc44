package io.fibry.durable.delivery;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.AskTimeoutException;
import io.fibry.Exitable;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.durable.StorageFailedException;
import io.fibry.durable.kind.DefaultDurableBuilder;
import io.fibry.durable.storage.Mail;
import io.fibry.durable.storage.StoreRefusals;
import io.fibry.durable.storage.StoreRegistry;
import io.fibry.durable.storage.StoredMessage;
import io.fibry.spi.AnswerObserver;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.ForwardingExitable;
import io.fibry.spi.StableAddress;
import io.fibry.store.Store;
import io.fibry.store.StoreUnconfirmedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreFullException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.text.Durations;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * The address of a durable actor. If its kind stores messages, the sender's thread stores each
 * message before it sends the message to the actor.
 */
public final class DurableActor<M> extends ForwardingExitable<Actor<M>> implements Actor<M>, StableAddress {
  private static final byte[] NO_BYTES = {};

  private final Actor<Object> target;
  private final DefaultDurableBuilder<M> kind;
  private final PendingDelivery delivery;
  private final String key;
  private final Exitable host; // the actor or its entities; messages are not stored after its end
  private final byte[] encodedMessage; // bytes of this address's only message; empty if it encodes each message

  public DurableActor(Actor<Object> target, DefaultDurableBuilder<M> kind, PendingDelivery delivery, String key,
      Exitable host) {
    this(target, kind, delivery, key, host, NO_BYTES);
  }

  private DurableActor(Actor<Object> target, DefaultDurableBuilder<M> kind, PendingDelivery delivery, String key,
      Exitable host, byte[] encodedMessage) {
    this.encodedMessage = encodedMessage;
    this.target = target;
    this.kind = kind;
    this.delivery = delivery;
    this.key = key;
    this.host = host;
  }

  @Override
  protected Actor<Object> target() {
    return target;
  }

  @Override
  public Exitable owner() {
    return StableAddress.owner(target);
  }

  @Override
  public ActorBuilder<Object> beside() {
    return ActorSystem.beside(target);
  }

  /**
   * Returns an address for one message. The address stores these bytes and does not encode the
   * message again, because newer code may have written fields that this code would lose.
   */
  public DurableActor<M> withEncodedMessage(byte[] bytes) {
    return new DurableActor<>(target, kind, delivery, key, host, bytes);
  }

  private StoreBackend.PendingMessage toPendingMessage(M message, String context) {
    return encodedMessage.length > 0 ? kind.toPendingMessage(key, encodedMessage, delivery.now(), context)
        : kind.toPendingMessage(key, message, delivery.now(), context);
  }

  private Store.ActorId id() {
    return kind.id(key);
  }

  // ---- messages

  @Override
  public boolean sendMessage(M message) {
    if (!storesMessages()) return target.sendMessage(message);
    long startNanos = System.nanoTime();
    String context = delivery.blockBuilder.contextText(this, message);
    var pending = toPendingMessage(message, context);
    try {
      if (!enqueue(pending, RequestLimit.NONE)) return false;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      return false;
    } catch (TimeoutException impossible) {
      throw new AssertionError(impossible);
    } catch (StoreException | CancellationException refusal) {
      StoreRegistry.of(delivery.store()).failureLog().logRefusal(
          id() + " does not get a message, because it could not be stored",
          refusal);
      return false;
    }
    delivery.deliver(target, key, toStoredMessage(pending, message, context, false, startNanos));
    return true; // even if the actor did not accept the message: a courier delivers it later
  }

  @Override
  public boolean sendMessages(List<? extends M> messages) {
    if (storesMessages())
      throw new UnsupportedOperationException(id() + " stores each message by itself; call sendMessage");
    return target.sendMessages(messages);
  }

  private boolean storesMessages() {
    return kind.maxStoredMessages() > 0 && !host.onExit().isDone();
  }

  private <R> StoredMessage<R> toStoredMessage(StoreBackend.PendingMessage pending, Object message, String context,
      boolean isRequest, long startNanos) {
    return new StoredMessage<>(pending.id(), pending.due(), message, Mail.of(encodedMessage, context), false,
        isRequest ? Optional.of(new AtomicReference<>(StoredMessage.RequestStage.SENT)) : Optional.empty(), startNanos);
  }

  /** Reserves and stores a message. Returns false if too many messages wait. */
  private boolean enqueue(StoreBackend.PendingMessage pending, RequestLimit limit)
      throws InterruptedException, TimeoutException {
    boolean isSettled = false;
    delivery.reserve(key, pending.id());
    try {
      var storing = delivery.store().enqueue(pending, kind.maxStoredMessages()).toCompletableFuture();
      try {
        if (!limit.awaitDone(storing)) throw new TimeoutException();
        boolean isStored = storing.get();
        if (!isStored) delivery.unreserve(key, pending.id());
        isSettled = true;
        return isStored;
      } catch (InterruptedException | TimeoutException noResult) { // the message may be stored and delivered later
        isSettled = true;
        storing.whenComplete((result, refusal) -> delivery.release(key, pending.id()));
        throw noResult;
      }
    } catch (ExecutionException failure) {
      throw StoreRefusals.causeOf(failure);
    } finally {
      if (!isSettled) delivery.release(key, pending.id()); // the store may have the message nevertheless
    }
  }

  // ---- requests

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request) {
    if (!storesMessages() && delivery.orderBarrier(key).isDone()) return target.ask(unchecked(request));
    return ask(request, BlockBuilder.of(beside()).askLimit());
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request, Duration limit) {
    if (!storesMessages()) {
      if (delivery.orderBarrier(key).isDone() || !limit.isPositive()) return target.ask(unchecked(request), limit);
      return askInOrder(unchecked(request), start(limit));
    }
    var startedLimit = start(limit);
    var call = storeRequest(request, startedLimit);
    try {
      return askInOrder(call, startedLimit);
    } catch (Throwable failure) {
      if (isInterrupted(failure)) throw interruption(call, failure);
      if (isUnanswered(call, failure)) throw delivery.requestStoredException(key, request, failure);
      throw failure;
    } finally {
      delivery.release(key, call.id());
    }
  }

  /** Waits until couriers have delivered earlier messages, and then asks the actor. */
  private <Q, R> R askInOrder(Request<Q, R> request, RequestLimit limit) {
    awaitOrder(request, limit);
    var remaining = limit.remaining();
    try {
      return target.ask(request, remaining);
    } catch (AskTimeoutException timeout) { // its limit is shorter if the asker has less time left
      throw timeout.request() == request && timeout.limit().equals(remaining) ? limit.withWholeLimit(timeout) : timeout;
    }
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request) {
    if (!storesMessages())
      return sendInOrder(request, RequestLimit.NONE, time -> target.sendMessageReturn(unchecked(request)));
    var call = storeRequest(request, RequestLimit.NONE);
    return sendReserved(call, RequestLimit.NONE, time -> target.sendMessageReturn(call));
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request, Duration limit) {
    if (!storesMessages()) {
      if (delivery.orderBarrier(key).isDone() || !limit.isPositive())
        return target.sendMessageReturn(unchecked(request), limit);
      return sendInOrder(request, start(limit), time -> target.sendMessageReturn(unchecked(request), time));
    }
    var startedLimit = start(limit);
    var call = storeRequest(request, startedLimit);
    return sendReserved(call, startedLimit, time -> target.sendMessageReturn(call, time));
  }

  /** Sends a stored request, and ends its reservation when it is answered. */
  private <R> CompletableFuture<R> sendReserved(StoredMessage<R> call, RequestLimit limit,
      Function<Duration, CompletableFuture<R>> sending) {
    boolean isSent = false;
    try {
      var answer = sendInOrder(call, limit, sending);
      isSent = true;
      // made by `answer`, so that WaitCycle detects a handler that waits for `result`
      CompletableFuture<R> result = answer.newIncompleteFuture();
      answer.whenComplete((value, failure) -> {
        delivery.release(key, call.id());
        if (failure == null) result.complete(value);
        else {
          var cause = limit.withWholeLimit(failure, call);
          result.completeExceptionally(
              isUnanswered(call, cause) ? delivery.requestStoredException(key, call.message(), cause) : cause);
        }
      });
      result.whenComplete((value, failure) -> answer.cancel(true)); // no effect if `answer` is done
      return result;
    } catch (RuntimeException notSent) {
      if (isInterrupted(notSent)) throw interruption(call, notSent);
      throw delivery.requestStoredException(key, call.message(), notSent);
    } finally {
      if (!isSent) delivery.release(key, call.id());
    }
  }

  /** Waits until couriers have delivered earlier messages, which the request must not overtake. */
  private void awaitOrder(Request<?, ?> request, RequestLimit limit) {
    var barrier = delivery.orderBarrier(key);
    if (barrier.isDone()) return;
    try {
      if (!limit.awaitDone(barrier)) throw timeout(request, limit);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt(); // so the caller's ask(..) throws
    }
  }

  private <R> CompletableFuture<R> sendInOrder(Request<?, R> request, RequestLimit limit,
      Function<Duration, CompletableFuture<R>> unobservedSending) {
    var sending = observed(request, unobservedSending);
    var barrier = delivery.orderBarrier(key);
    if (barrier.isDone()) return sending.apply(limit.remaining());
    var answer = new CompletableFuture<R>();
    // on a fiber, because the completion may run code of the asker
    var timer = limit == RequestLimit.NONE ? null
        : delivery.blockBuilder.scheduler().schedule(limit.remaining(),
            () -> Thread.startVirtualThread(() -> answer.completeExceptionally(timeout(request, limit))));
    barrier.thenRun(() -> {
      if (timer != null) timer.cancel(); // before the request is sent, because the time-out's text says "was not asked"
      if (!answer.isDone()) limit.send(request, sending, answer);
    });
    return answer;
  }

  /** Keeps the observer of the user's request, also for a stored request and a later send. */
  private static <R> Function<Duration, CompletableFuture<R>> observed(Request<?, R> request,
      Function<Duration, CompletableFuture<R>> sending) {
    var observer = AnswerObserver.ofSent(request instanceof StoredMessage<?> call ? call.message() : request);
    return observer.isEmpty() ? sending : time -> observer.get().send(request, () -> sending.apply(time));
  }

  private AskTimeoutException timeout(Request<?, ?> request, RequestLimit limit) {
    return new AskTimeoutException(
        "actor '" + name() + "' was not asked " + delivery.blockBuilder.describeRequest(request) + " within "
            + Durations.text(limit.duration())
            + ", because messages that wait for it at the store come first",
        name(), request, limit.duration(), null);
  }

  private RequestLimit start(Duration limit) {
    return RequestLimit.start(delivery.blockBuilder.scheduler(), limit);
  }

  /** Returns whether the request has no answer. A failure that the handler threw is an answer. */
  private static boolean isUnanswered(StoredMessage<?> call, Throwable failure) {
    var stage = call.stage().orElseThrow().get();
    return failure instanceof RequestException unanswered && unanswered.request() == call
        && stage != StoredMessage.RequestStage.FAILED
        || failure instanceof Exception && stage == StoredMessage.RequestStage.SENT; // no actor has begun to handle it
  }

  private static boolean isInterrupted(Throwable failure) {
    return failure instanceof CancellationException && Thread.currentThread().isInterrupted();
  }

  private CancellationException interruption(StoredMessage<?> call, Throwable cause) {
    var exception = new CancellationException("interrupted while waiting for the answer of " + id() + " to "
        + delivery.blockBuilder.describeRequest(call) + ", which is stored, and is handled without being sent again");
    exception.initCause(cause);
    return exception;
  }

  private StorageFailedException notStored(Object request, StoreException cause) {
    return new StorageFailedException(id() + " does not get " + delivery.blockBuilder.describeRequest(request)
        + ", because it could not be stored", id().toString(), request, cause, cause.outcome());
  }

  @SuppressWarnings("unchecked") // the public methods accept only requests that are an M
  private <R> StoredMessage<R> storeRequest(Request<?, R> request, RequestLimit limit) {
    if (!limit.duration().isPositive()) // checked before the request is stored
      throw new IllegalArgumentException(
          "a limit of " + Durations.text(limit.duration()) + " leaves no time to wait; give more than zero");
    long startNanos = System.nanoTime();
    String context = delivery.blockBuilder.contextText(this, request);
    var pending = toPendingMessage((M) request, context);
    try {
      if (enqueue(pending, limit)) return toStoredMessage(pending, request, context, true, startNanos);
      throw notStored(request,
          new StoreFullException(kind.maxStoredMessages() + " messages wait for it already", null));
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while a request to " + id() + " was stored");
    } catch (TimeoutException timeout) {
      throw notStored(request,
          new StoreUnconfirmedException("the store has not confirmed it within " + Durations.text(limit.duration())));
    } catch (StoreException refusal) {
      throw notStored(request, refusal);
    }
  }

  @SuppressWarnings("unchecked") // the actor takes any message
  private static <R> Request<Object, R> unchecked(Request<?, R> request) {
    return (Request<Object, R>) request;
  }

  // ---- the end

  /** Sends the pill after the requests that wait for a courier. */
  @Override
  public void sendPoisonPill() {
    delivery.endBarrier(key::equals).thenRun(target::sendPoisonPill);
  }

  @Override
  public void close() {
    close(delivery.endBarrier(key::equals), target, 2);
  }

  /**
   * @param ownCycle size of the wait cycle that exists if a handler closes its own actor. Such a
   * close does not wait
   */
  static void close(CompletableFuture<Void> barrier, Exitable target, int ownCycle) {
    if (barrier.isDone()) {
      target.close();
      return;
    }
    barrier.thenRun(target::sendPoisonPill);
    try {
      target.waitForExit();
    } catch (AskCycleException waitCycle) {
      if (waitCycle.cycle().size() > ownCycle) throw waitCycle;
    }
  }

  // ---- timers and tasks, which end with the process

  @Override
  public Scheduler.Timer sendMessageLater(M message, Duration delay) {
    return target.sendMessageLater(message, delay);
  }

  @Override
  public Scheduler.Timer sendMessageLater(Object timer, M message, Duration delay) {
    return target.sendMessageLater(timer, message, delay);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(M message, Duration period) {
    return target.sendMessageEvery(message, period);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(Object timer, M message, Duration period) {
    return target.sendMessageEvery(timer, message, period);
  }

  @Override
  public void execute(Runnable task) {
    target.execute(task);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DurableActor<?> actor && target.equals(actor.target);
  }

  @Override
  public int hashCode() {
    return target.hashCode();
  }

  @Override
  public String toString() {
    return target.toString();
  }
}
