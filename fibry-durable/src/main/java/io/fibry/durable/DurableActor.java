package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.AskTimeoutException;
import io.fibry.Exitable;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.ForwardingExitable;
import io.fibry.spi.LastingAddress;
import io.fibry.store.Store;
import io.fibry.store.StoreBusyException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreFullException;
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
import java.util.function.Supplier;

/**
 * The address of a durable actor. Where its kind keeps messages, they are stored on the sender's
 * thread, and then sent.
 */
final class DurableActor<M> extends ForwardingExitable<Actor<M>> implements Actor<M>, LastingAddress {
  private static final Duration FOR_EVER = Duration.ofNanos(Long.MAX_VALUE);

  private final Actor<Object> front;
  private final DefaultDurableBuilder<M> kind;
  private final PendingDelivery delivery;
  private final String key;
  private final Exitable hostNode; // while it lives, messages are kept
  private final byte[] encoded; // of the one message that is sent through this; empty if made from the message

  DurableActor(Actor<Object> front, DefaultDurableBuilder<M> kind, PendingDelivery delivery, String key,
      Exitable hostNode) {
    this(front, kind, delivery, key, hostNode, new byte[0]);
  }

  private DurableActor(Actor<Object> front, DefaultDurableBuilder<M> kind, PendingDelivery delivery, String key,
      Exitable hostNode, byte[] bytes) {
    this.encoded = bytes;
    this.front = front;
    this.kind = kind;
    this.delivery = delivery;
    this.key = key;
    this.hostNode = hostNode;
  }

  @Override
  protected Actor<Object> target() {
    return front;
  }

  @Override
  public Exitable owner() {
    return LastingAddress.owner(front);
  }

  @Override
  public ActorBuilder<Object> beside() {
    return ActorSystem.beside(front);
  }

  static Exitable unwrap(Exitable one) {
    return one instanceof DurableActor<?> actor ? actor.front
        : one instanceof DurableEntities<?> entities ? entities.target() : one;
  }

  /** For one message, which is stored as these bytes: newer code has written them. */
  DurableActor<M> withEncodedMessage(byte[] bytes) {
    return new DurableActor<>(front, kind, delivery, key, hostNode, bytes);
  }

  private Store.PendingMessage toPendingMessage(M message, String context) {
    return encoded.length > 0 ? kind.toPendingMessage(key, encoded, delivery.now(), context)
        : kind.toPendingMessage(key, message, delivery.now(), context);
  }

  private Store.ActorId id() {
    return kind.id(key);
  }

  // ---- messages

  @Override
  public boolean sendMessage(M message) {
    if (!storesMessages()) return front.sendMessage(message);
    long since = System.nanoTime();
    String context = delivery.blockBuilder.contextText(this, message);
    var waiting = toPendingMessage(message, context);
    try {
      if (!enqueue(waiting, FOR_EVER)) return false;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      return false;
    } catch (TimeoutException never) {
      throw new AssertionError(never);
    } catch (StoreException | CancellationException refused) {
      StoreRegistry.of(delivery.store()).failureLog().logRefusal(
          id() + " does not get a message, since it could not be kept",
          refused);
      return false;
    }
    delivery.deliver(front, key, toStoredMessage(waiting, message, context, false, since));
    return true; // though the actor may be unable to take it now
  }

  @Override
  public boolean sendMessages(List<? extends M> block) {
    if (storesMessages()) throw new UnsupportedOperationException(id() + " keeps messages, and stores each by itself");
    return front.sendMessages(block);
  }

  private boolean storesMessages() {
    return kind.maxStoredMessages() > 0 && !hostNode.onExit().isDone();
  }

  private <R> StoredMessage<R> toStoredMessage(Store.PendingMessage waiting, Object message, String context,
      boolean asked,
      long since) {
    return new StoredMessage<>(waiting.id(), waiting.due(), message, Mail.of(encoded, context), false,
        asked ? Optional.of(new AtomicReference<>(StoredMessage.RequestStage.SENT)) : Optional.empty(), since);
  }

  /** False if too many messages wait. The message is in hand until it is given, or released. */
  private boolean enqueue(Store.PendingMessage waiting, Duration limit) throws InterruptedException, TimeoutException {
    boolean known = false;
    delivery.reserve(key, waiting.id());
    try {
      var stored = delivery.store().enqueue(waiting, kind.maxStoredMessages()).toCompletableFuture();
      try {
        if (!isDoneIn(stored, limit)) throw new TimeoutException();
        boolean kept = stored.get();
        if (!kept) delivery.unreserve(key, waiting.id());
        known = true;
        return kept;
      } catch (InterruptedException | TimeoutException early) { // it is given when it is stored all the same
        known = true;
        stored.whenComplete((done, failure) -> delivery.release(key, waiting.id()));
        throw early;
      }
    } catch (ExecutionException failed) {
      throw TurnPipeline.refusalCause(failed);
    } finally {
      if (!known) delivery.release(key, waiting.id()); // the store may have it all the same
    }
  }

  /** Waits by the clock of the actor's scope, which has no time for a wait without a limit. */
  private boolean isDoneIn(CompletableFuture<?> future, Duration limit) throws InterruptedException {
    if (limit != FOR_EVER) return delivery.blockBuilder.scheduler().awaitDone(future, limit);
    try {
      future.get();
    } catch (ExecutionException | CancellationException failed) {} // the caller gets the failure again
    return true;
  }

  // ---- requests

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request) {
    var limit = BlockBuilder.of(beside()).askLimit();
    if (storesMessages()) return ask(request, limit);
    var left = awaitOrder(request, limit);
    return left == limit ? front.ask(unchecked(request)) : front.ask(unchecked(request), left);
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request, Duration limit) {
    if (!storesMessages()) return front.ask(unchecked(request), awaitOrder(request, limit));
    var kept = storeRequest(request, limit);
    try {
      return front.ask(kept, awaitOrder(kept, limit));
    } catch (Throwable failure) {
      if (isInterrupted(failure)) throw interrupted(kept, failure);
      if (isUnanswered(kept, failure)) throw RequestStoredException.of(id(), delivery, request, failure);
      throw failure;
    } finally {
      delivery.release(key, kept.id());
    }
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request) {
    if (!storesMessages()) return afterOrder(request, FOR_EVER, left -> front.sendMessageReturn(unchecked(request)));
    var kept = storeRequest(request, FOR_EVER);
    return whileReserved(kept, () -> afterOrder(kept, FOR_EVER, left -> front.sendMessageReturn(kept)));
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request, Duration limit) {
    if (!storesMessages()) return afterOrder(request, limit, left -> front.sendMessageReturn(unchecked(request), left));
    var kept = storeRequest(request, limit);
    return whileReserved(kept, () -> afterOrder(kept, limit, left -> front.sendMessageReturn(kept, left)));
  }

  /** Until it is answered. */
  private <R> CompletableFuture<R> whileReserved(StoredMessage<R> kept, Supplier<CompletableFuture<R>> sending) {
    boolean sent = false;
    try {
      var answer = sending.get();
      sent = true;
      CompletableFuture<R> told = answer.newIncompleteFuture(); // a handler that waits for it waits for that
      answer.whenComplete((value, failure) -> {
        delivery.release(key, kept.id());
        if (failure == null) told.complete(value);
        else told.completeExceptionally(isUnanswered(kept, failure)
            ? RequestStoredException.of(id(), delivery, kept.message(), failure) : failure);
      });
      told.whenComplete((value, failure) -> answer.cancel(true)); // where it has an answer, this does nothing
      return told;
    } catch (RuntimeException unborn) {
      if (isInterrupted(unborn)) throw interrupted(kept, unborn);
      throw RequestStoredException.of(id(), delivery, kept.message(), unborn);
    } finally {
      if (!sent) delivery.release(key, kept.id());
    }
  }

  /** Until the request overtakes no message. An interrupt is the front's to tell. */
  private Duration awaitOrder(Request<?, ?> request, Duration limit) {
    var order = delivery.orderBarrier(key);
    if (order.isDone() || !limit.isPositive()) return limit;
    long begin = delivery.blockBuilder.scheduler().nanoTime();
    try {
      if (!isDoneIn(order, limit)) throw timeout(request, limit);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
    return remaining(limit, begin);
  }

  private <R> CompletableFuture<R> afterOrder(Request<?, R> request, Duration limit,
      Function<Duration, CompletableFuture<R>> sending) {
    var order = delivery.orderBarrier(key);
    if (order.isDone() || !limit.isPositive()) return sending.apply(limit);
    long begin = delivery.blockBuilder.scheduler().nanoTime();
    var answer = new CompletableFuture<R>();
    if (limit != FOR_EVER) {
      var late = delivery.blockBuilder.scheduler().schedule(limit, // code of the asker may be chained to it
          () -> Thread.startVirtualThread(() -> answer.completeExceptionally(timeout(request, limit))));
      order.thenRun(late::cancel);
    }
    order.thenRun(() -> {
      if (!answer.isDone()) send(answer, () -> sending.apply(remaining(limit, begin)));
    });
    return answer;
  }

  private AskTimeoutException timeout(Request<?, ?> request, Duration limit) {
    return new AskTimeoutException(
        "actor '" + name() + "' was not asked " + delivery.blockBuilder.describeRequest(request) + " within "
            + limit.toMillis()
            + " ms, since messages that wait for it at the store come first",
        name(), request, limit, null);
  }

  /** Otherwise it is what the handler threw, also if that is of a request of its own. */
  private static boolean isUnanswered(StoredMessage<?> kept, Throwable failure) {
    var stage = kept.stage().orElseThrow().get();
    return failure instanceof RequestException none && none.request() == kept
        && stage != StoredMessage.RequestStage.FAILED
        || failure instanceof Exception && stage == StoredMessage.RequestStage.SENT; // there is no actor
  }

  private static boolean isInterrupted(Throwable failure) {
    return failure instanceof CancellationException && Thread.currentThread().isInterrupted();
  }

  private CancellationException interrupted(StoredMessage<?> kept, Throwable cause) {
    var told = new CancellationException("interrupted while waiting for the answer of " + id() + " to "
        + delivery.blockBuilder.describeRequest(kept) + ", which is stored, and is handled without being sent again");
    told.initCause(cause);
    return told;
  }

  private NotStoredException notStored(Object request, StoreException why) {
    return NotStoredException.ofMessage(id().toString(), delivery.blockBuilder.describeRequest(request), request, why);
  }

  private Duration remaining(Duration limit, long begin) {
    var left = limit.minusNanos(delivery.blockBuilder.scheduler().nanoTime() - begin);
    return left.isPositive() ? left : Duration.ofNanos(1);
  }

  /** Called by a courier, which code of the asker must not hold up. */
  private static <R> void send(CompletableFuture<R> answer, Supplier<CompletableFuture<R>> sending) {
    CompletableFuture<R> sent;
    try {
      sent = sending.get();
    } catch (RuntimeException refused) {
      sent = CompletableFuture.failedFuture(refused);
    }
    var of = sent;
    answer.whenComplete((value, failure) -> of.cancel(true)); // where it has an answer, this does nothing
    Runnable settle = () -> of.whenComplete((value, failure) -> {
      if (failure == null) answer.complete(value);
      else answer.completeExceptionally(failure);
    });
    if (of.isDone()) Thread.startVirtualThread(settle);
    else settle.run();
  }

  @SuppressWarnings("unchecked") // a request of the kind's messages is one
  private <R> StoredMessage<R> storeRequest(Request<?, R> request, Duration limit) {
    if (!Objects.requireNonNull(limit, "limit").isPositive()) // before it is kept
      throw new IllegalArgumentException("a limit of " + limit + " leaves no time to wait; give more than zero");
    long since = System.nanoTime();
    String context = delivery.blockBuilder.contextText(this, request);
    var waiting = toPendingMessage((M) request, context);
    try {
      if (enqueue(waiting, limit)) return toStoredMessage(waiting, request, context, true, since);
      throw notStored(request,
          new StoreFullException(kind.maxStoredMessages() + " messages wait for it already", null));
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while a request to " + id() + " was stored");
    } catch (TimeoutException late) {
      throw notStored(request, new StoreBusyException("the store has not said within " + limit + " that it has it"));
    } catch (StoreException refused) {
      throw notStored(request, refused);
    }
  }

  @SuppressWarnings("unchecked") // the actor takes any message
  private static <R> Request<Object, R> unchecked(Request<?, R> request) {
    return (Request<Object, R>) request;
  }

  // ---- the end

  /** After the requests that wait for a courier. */
  @Override
  public void sendPoisonPill() {
    delivery.endBarrier(key::equals).thenRun(front::sendPoisonPill);
  }

  @Override
  public void close() {
    close(delivery.endBarrier(key::equals), front, 2);
  }

  /** @param own names in the ring of a handler that closes what it is of: that does not wait */
  static void close(CompletableFuture<Void> order, Exitable front, int own) {
    if (order.isDone()) {
      front.close();
      return;
    }
    order.thenRun(front::sendPoisonPill);
    try {
      front.waitForExit();
    } catch (AskCycleException ring) {
      if (ring.cycle().size() > own) throw ring;
    }
  }

  // ---- timers and tasks, which end with the process

  @Override
  public Scheduler.Timer sendMessageLater(M message, Duration delay) {
    return front.sendMessageLater(message, delay);
  }

  @Override
  public Scheduler.Timer sendMessageLater(Object timer, M message, Duration delay) {
    return front.sendMessageLater(timer, message, delay);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(M message, Duration period) {
    return front.sendMessageEvery(message, period);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(Object timer, M message, Duration period) {
    return front.sendMessageEvery(timer, message, period);
  }

  @Override
  public void execute(Runnable task) {
    front.execute(task);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DurableActor<?> actor && front.equals(actor.front);
  }

  @Override
  public int hashCode() {
    return front.hashCode();
  }

  @Override
  public String toString() {
    return front.toString();
  }
}
