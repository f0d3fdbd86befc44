package io.fibry.cluster.remote;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.cluster.wire.Destination;
import io.fibry.spi.AskChain;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.PromptReceiver;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A relay: an actor of this node that sends messages to an actor of another node, or to the
 * entities of a partition. So a remote actor has a mailbox here, and requests to it have limits,
 * exception texts and outcomes like requests to local actors. Methods whose comments name no thread
 * are called by the relay's thread. If the transport never waits, an idle relay sends a request on
 * the thread of its asker. A relay with earlier messages in its mailbox is not idle, so messages
 * keep their order.
 *
 * <p>A request on a {@link DirectRoute} bypasses the relay and the network. The request must not
 * overtake earlier messages of its thread. An {@code ask} by the relay that has got its answer was
 * delivered. Each other message is counted after it was passed to the relay, before its sender
 * continues. A thread that finds a new count checks whether the relay, the outbox and the reader of
 * the network are idle, in this order, in which a message passes them. If so, all counted messages
 * were delivered, and the thread stores the count. If an older count is stored later, one more
 * check follows.
 */
public final class RemoteSender {
  private final NodeContext nodeContext;
  private final Destination destination;
  private final Duration defaultLimit; // the limit of bundles, and of requests without a limit
  private final BlockBuilder<Object> blockBuilder; // has the context propagators
  private final RemoteOutbox outbox;
  private final Actor<Object> actor;
  private final AtomicLong passedMessages = new AtomicLong(); // that may not have arrived when their sender continued
  private volatile long deliveredMessages; // a value of `passedMessages`; written and read by all senders

  private RemoteSender(NodeContext nodeContext, Destination destination, Duration defaultLimit) {
    this.nodeContext = nodeContext;
    this.destination = destination;
    this.defaultLimit = defaultLimit;
    this.blockBuilder = nodeContext.blockBuilder();
    this.outbox =
        new RemoteOutbox(defaultLimit, destination.maxTells(),
            bundle -> new SentRequest<>(nodeContext, destination, bundle, defaultLimit), nodeContext::describeRequest);
    this.actor = builder().newActor(this::handle);
  }

  private ActorBuilder<Object> builder() {
    var builder = BlockBuilder.of(nodeContext.scope().named(destination.name())).excludedFromAccounts()
        .onFailure(FailurePolicy.resume());
    return nodeContext.transport().publishesWithoutWait() ? builder.inlineRequests() : builder;
  }

  public static RemoteSender begin(NodeContext nodeContext, Destination destination, Duration defaultLimit) {
    return new RemoteSender(nodeContext, destination, defaultLimit);
  }

  /** Returns the text that the context propagators write on the calling thread for a message. */
  String contextText(Actor<?> receiver, Object message) {
    return blockBuilder.contextText(receiver, message);
  }

  Scheduler clock() {
    return nodeContext.clock();
  }

  /** {@return the relay's actor, to which remote actors of this node send their messages} */
  Actor<Object> actor() {
    return actor;
  }

  @SuppressWarnings("unchecked") // the relay takes any message
  static <R> Request<Object, R> unchecked(Request<?, R> request) {
    return (Request<Object, R>) request;
  }

  /** Sends all messages or none. Called by any thread, which waits for capacity. */
  boolean sendTells(List<OutboundTell> tells) {
    try {
      return outbox.send(tells, actor);
    } finally {
      passedMessages.incrementAndGet();
    }
  }

  /**
   * Sends a request, and waits for its answer. Called by any thread. A request that failed may
   * still be in flight, for example if its asker was interrupted.
   *
   * @param limit empty for the limit of the scope
   */
  <R> R ask(OutboundAsk<R> request, Optional<Duration> limit) {
    boolean isAnswered = false;
    try {
      R answer = limit.isPresent() ? actor.ask(unchecked(request), limit.get()) : actor.ask(unchecked(request));
      isAnswered = true;
      return answer;
    } finally {
      if (!isAnswered) passedMessages.incrementAndGet();
    }
  }

  /** Sends a request, and does not wait for its answer. Called by any thread. */
  <R> CompletableFuture<R> sendMessageReturn(OutboundAsk<R> request, Duration limit) {
    try {
      return actor.sendMessageReturn(unchecked(request), limit);
    } finally {
      passedMessages.incrementAndGet();
    }
  }

  /**
   * Returns whether all earlier messages of the calling thread have been delivered. Called by any
   * thread, if this node is the only node.
   */
  boolean hasDelivered() {
    long passed = passedMessages.get(); // before the check, which does not cover later messages
    if (passed == deliveredMessages) return true;
    if (!((PromptReceiver) actor).isIdle() || !outbox.isEmpty()
        || !nodeContext.transport().isRead(destination.subject()))
      return false;
    deliveredMessages = passed;
    return true;
  }

  /**
   * Waits until all messages that expect no answer have arrived. Returns false if some have not
   * arrived within the limit.
   */
  public boolean awaitArrival(Duration limit) throws InterruptedException {
    return outbox.awaitArrival(limit);
  }

  /** Returns whether messages that expect no answer are gathered or in flight. */
  public boolean isBusy() {
    return !outbox.isEmpty();
  }

  private void handle(Object message, ActorContext<Object> context) {
    switch (message) {
      case RemoteOutbox.OutboundBatch batch -> outbox.add(batch, actor);
      case RemoteOutbox.BundleEnded end -> outbox.onBundleEnded(actor);
      case RemoteOutbox.LostMessage loss -> throw loss.reason(); // makes it a dead letter
      case OutboundTell tell -> outbox.add(tell, actor);
      case OutboundAsk<?> request -> {
        outbox.sendAll(actor);
        ask(request, context);
      }
      case OutboundStore store -> {
        outbox.sendAll(actor);
        ask(store, store, context);
      }
      default -> throw new AssertionError(message);
    }
  }

  private <R> void ask(OutboundAsk<R> request, ActorContext<Object> context) {
    ask(request, request, context);
  }

  private <R> void ask(Request<?, R> request, OutboundRequest<R> outbound, ActorContext<Object> context) {
    var limit = context.remainingTime().orElse(defaultLimit);
    var remoteRequest = new SentRequest<>(nodeContext, destination, outbound, limit);
    remoteRequest.addAskers(AskChain.current());
    context.replyWhen(request, remoteRequest.answer(), remoteRequest::cancel);
    if (limit.isPositive()) remoteRequest.send();
  }

  @Override
  public String toString() {
    return destination.name();
  }
}
