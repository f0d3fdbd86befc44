package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.spi.LastingAddress;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/**
 * The address of an actor that may be on another node. Messages become bytes on their sender's
 * thread.
 */
final class RemoteActor<M> implements Actor<M>, LastingAddress {
  private final RemoteSender.RemoteAddress to;
  private final Protocol<M> protocol;
  private final RemoteSender sender;
  private final Actor<Object> senderActor;
  private final Duration maxWait; // for answers without a limit
  private final Optional<Supplier<CompletableFuture<ExitReason>>> exitSource; // empty: it sleeps, and does not end

  RemoteActor(RemoteSender.RemoteAddress to, Protocol<M> protocol, RemoteSender sender, Duration maxWait,
      Optional<Supplier<CompletableFuture<ExitReason>>> exitSource) {
    this.to = to;
    this.protocol = protocol;
    this.sender = sender;
    this.senderActor = sender.actor();
    this.maxWait = maxWait;
    this.exitSource = exitSource;
  }

  @Override
  public String name() {
    return to.actor();
  }

  /** An entity sleeps, and does not end: its address ends with what sends to it. */
  @Override
  public Exitable owner() {
    return exitSource.isPresent() ? this : senderActor;
  }

  @Override
  public ActorBuilder<Object> beside() {
    return ActorSystem.beside(senderActor);
  }

  // ---- messages

  private RemoteSender.OutboundTell toTell(M message) {
    return new RemoteSender.OutboundTell(to, message, protocol.encode(message), sender.context(this, message));
  }

  @SuppressWarnings("unchecked") // a request of the protocol is one of its messages
  private <R> RemoteSender.OutboundAsk<R> toAsk(Request<?, R> request) {
    byte[] body = protocol.encode((M) Objects.requireNonNull(request, "request"));
    return new RemoteSender.OutboundAsk<>(to, request, body, sender.context(this, request));
  }

  @SuppressWarnings("unchecked") // the relay takes any message
  private static <R> Request<Object, R> unchecked(Request<?, R> call) {
    return (Request<Object, R>) call;
  }

  @Override
  public boolean sendMessage(M message) {
    return to.storesMessages() ? storeMessage(message) : sender.sendTells(List.of(toTell(message)));
  }

  private boolean storeMessage(M message) {
    try {
      var kept = new RemoteSender.OutboundStore(to, message, protocol.encode(message), sender.context(this, message));
      return senderActor.ask(unchecked(kept), maxWait);
    } catch (RequestException | CancellationException unknown) {
      LoggerFactory.getLogger(Cluster.class).warn("nobody knows whether '{}' keeps a message", to.actor(), unknown);
      return false;
    }
  }

  @Override
  public boolean sendMessages(List<? extends M> block) {
    if (to.storesMessages()) throw new UnsupportedOperationException(
        "actor '" + to.actor() + "' keeps messages, and stores each by itself");
    return sender.sendTells(block.stream().map(this::toTell).toList());
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request) {
    return senderActor.ask(unchecked(toAsk(request)));
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request, Duration limit) {
    return senderActor.ask(unchecked(toAsk(request)), limit);
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request) {
    return sendMessageReturn(request, maxWait);
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request, Duration limit) {
    return senderActor.sendMessageReturn(unchecked(toAsk(request)), limit);
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

  // ---- what only its own node can do

  private UnsupportedOperationException unsupported(String what) {
    return new UnsupportedOperationException(
        "actor '" + to.actor() + "' may be on another node: " + what + "; do it where the actor lives");
  }

  @Override
  public void execute(Runnable task) {
    throw unsupported("code does not travel");
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

  // ---- its end, as others know it

  @Override
  public void waitForExit() {
    try {
      onExit().get();
    } catch (ExecutionException none) {
      throw new AssertionError(none);
    } catch (InterruptedException interrupt) {
      throw interrupted();
    }
  }

  /** Waits by the clock of the node. */
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
    return new CancellationException("interrupted while waiting for the end of actor '" + to.actor() + "'");
  }

  @Override
  public CompletableFuture<ExitReason> onExit() {
    return exitSource.orElseThrow(() -> unsupported("an entity sleeps, and does not end")).get();
  }

  @Override
  public Actor<M> closeOnExit(AutoCloseable... resources) {
    throw unsupported("what is closed with it would be on another node");
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RemoteActor<?> far && far.senderActor == senderActor && far.to.equals(to);
  }

  @Override
  public int hashCode() {
    return 31 * senderActor.hashCode() + to.hashCode();
  }

  @Override
  public String toString() {
    return "far actor '" + to.actor() + "'";
  }
}
