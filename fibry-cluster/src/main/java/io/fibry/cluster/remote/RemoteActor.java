package io.fibry.cluster.remote;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.wire.Protocol;
import io.fibry.spi.StableAddress;
import io.fibry.text.SafeLogger;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/**
 * The address of an actor that may be on another node. Messages are encoded on their sender's
 * thread. An {@code ask} takes the short way of {@link DirectRoute} if it can.
 */
public final class RemoteActor<M> implements Actor<M>, StableAddress {
  private final RemoteAddress address;
  private final Protocol<M> protocol;
  private final RemoteSender sender;
  private final Actor<Object> senderActor;
  private final Duration defaultLimit; // the limit of requests that have no limit of their own
  private final Optional<Supplier<CompletableFuture<ExitReason>>> exitSource; // empty if the actor is an entity
  // the way of an `ask` without the network; empty if there is none
  private final Supplier<Optional<? extends DirectRoute<?>>> directRoute;

  public RemoteActor(RemoteAddress address, Protocol<M> protocol, RemoteSender sender, Duration defaultLimit,
      Optional<Supplier<CompletableFuture<ExitReason>>> exitSource,
      Supplier<Optional<? extends DirectRoute<?>>> directRoute) {
    this.address = address;
    this.protocol = protocol;
    this.sender = sender;
    this.senderActor = sender.actor();
    this.defaultLimit = defaultLimit;
    this.exitSource = exitSource;
    this.directRoute = directRoute;
  }

  @Override
  public String name() {
    return address.actor();
  }

  /**
   * Returns this actor. For an entity, which has no exit, returns the actor that sends the messages
   * of this node to the entity.
   */
  @Override
  public Exitable owner() {
    return exitSource.isPresent() ? this : senderActor;
  }

  @Override
  public ActorBuilder<Object> beside() {
    return ActorSystem.beside(senderActor);
  }

  // ---- messages

  private OutboundTell toTell(M message) {
    return new OutboundTell(address, message, protocol.encode(message), sender.contextText(this, message));
  }

  @SuppressWarnings("unchecked") // a request of the protocol is one of its messages
  private <R> OutboundAsk<R> toAsk(Request<?, R> request) {
    byte[] body = protocol.encode((M) Objects.requireNonNull(request, "request"));
    return new OutboundAsk<>(address, request, body, sender.contextText(this, request));
  }

  @Override
  public boolean sendMessage(M message) {
    return address.storesMessages() ? storeMessage(message) : sender.sendTells(List.of(toTell(message)));
  }

  private boolean storeMessage(M message) {
    try {
      byte[] body = protocol.encode(message);
      var request = new OutboundStore(address, message, body, sender.contextText(this, message));
      return senderActor.ask(RemoteSender.unchecked(request), defaultLimit);
    } catch (RequestException | CancellationException failure) {
      SafeLogger.of(Cluster.class).warn("a message to '{}' may or may not be stored", address.actor(),
          failure);
      return false;
    }
  }

  @Override
  public boolean sendMessages(List<? extends M> messages) {
    if (address.storesMessages()) throw new UnsupportedOperationException(
        "actor '" + address.actor() + "' stores its messages one by one; use sendMessage");
    return sender.sendTells(messages.stream().map(this::toTell).toList());
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request) {
    return ask(request, Optional.empty());
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request, Duration limit) {
    return ask(request, Optional.of(Objects.requireNonNull(limit, "limit")));
  }

  private <R> R ask(Request<?, R> request, Optional<Duration> limit) {
    var ask = toAsk(request);
    var route = directRoute.get();
    var answer = route.isEmpty() ? Optional.<R>empty() : route.get().tryAsk(ask, limit.orElse(defaultLimit), sender);
    return answer.isPresent() ? answer.get() : sender.ask(ask, limit);
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request) {
    return sendMessageReturn(request, defaultLimit);
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request, Duration limit) {
    return sender.sendMessageReturn(toAsk(request), limit);
  }

  @Override
  public Scheduler.Timer sendMessageLater(M message, Duration delay) {
    return senderActor.sendMessageLater(toTell(message), delay);
  }

  @Override
  public Scheduler.Timer sendMessageLater(Object key, M message, Duration delay) {
    return senderActor.sendMessageLater(key, toTell(message), delay);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(M message, Duration period) {
    return senderActor.sendMessageEvery(toTell(message), period);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(Object key, M message, Duration period) {
    return senderActor.sendMessageEvery(key, toTell(message), period);
  }

  // ---- operations that are possible only on the node of the actor

  private UnsupportedOperationException unsupported(String reason) {
    return new UnsupportedOperationException(
        "actor '" + address.actor() + "' may be on another node: " + reason + "; do it where the actor lives");
  }

  @Override
  public void execute(Runnable task) {
    throw unsupported("code cannot be sent to it");
  }

  @Override
  public void askExit() {
    throw unsupported("it cannot be ended from here");
  }

  @Override
  public void sendPoisonPill() {
    askExit();
  }

  @Override
  public void kill() {
    askExit();
  }

  @Override
  public void close() {
    askExit();
  }

  // ---- the exit

  @Override
  public void waitForExit() {
    try {
      onExit().get();
    } catch (ExecutionException failure) {
      throw new AssertionError(failure);
    } catch (InterruptedException interrupt) {
      throw interrupted();
    }
  }

  /** Measures the limit by the clock of the node. */
  @Override
  public boolean waitForExit(Duration limit) {
    try {
      return sender.clock().awaitDone(onExit(), Objects.requireNonNull(limit, "limit"));
    } catch (InterruptedException interrupt) {
      throw interrupted();
    }
  }

  private CancellationException interrupted() {
    Thread.currentThread().interrupt();
    return new CancellationException("interrupted while waiting for the end of actor '" + address.actor() + "'");
  }

  @Override
  public CompletableFuture<ExitReason> onExit() {
    return exitSource.orElseThrow(() -> new UnsupportedOperationException(
        "entity '" + address.actor() + "' has no exit: it is passivated and loaded again")).get();
  }

  @Override
  public Actor<M> closeOnExit(AutoCloseable... resources) {
    throw unsupported("the resources would be on this node");
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RemoteActor<?> that && that.senderActor == senderActor && that.address.equals(address);
  }

  @Override
  public int hashCode() {
    return 31 * senderActor.hashCode() + address.hashCode();
  }

  @Override
  public String toString() {
    return "remote actor '" + address.actor() + "'";
  }
}
