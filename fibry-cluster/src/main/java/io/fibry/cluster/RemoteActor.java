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
  private final RemoteSender sending;
  private final Actor<Object> relay;
  private final Duration longest; // for answers without a limit
  private final Optional<Supplier<CompletableFuture<ExitReason>>> end; // empty: it sleeps, and does not end

  RemoteActor(RemoteSender.RemoteAddress to, Protocol<M> protocol, RemoteSender sending, Duration longest,
      Optional<Supplier<CompletableFuture<ExitReason>>> end) {
    this.to = to;
    this.protocol = protocol;
    this.sending = sending;
    this.relay = sending.actor();
    this.longest = longest;
    this.end = end;
  }

  @Override
  public String name() {
    return to.actor();
  }

  /** An entity sleeps, and does not end: its address ends with what sends to it. */
  @Override
  public Exitable owner() {
    return end.isPresent() ? this : relay;
  }

  @Override
  public ActorBuilder<Object> beside() {
    return ActorSystem.beside(relay);
  }

  // ---- messages

  private RemoteSender.OutboundTell tell(M message) {
    return new RemoteSender.OutboundTell(to, message, protocol.encode(message), sending.context(this, message));
  }

  @SuppressWarnings("unchecked") // a request of the protocol is one of its messages
  private <R> RemoteSender.OutboundAsk<R> call(Request<?, R> request) {
    byte[] body = protocol.encode((M) Objects.requireNonNull(request, "request"));
    return new RemoteSender.OutboundAsk<>(to, request, body, sending.context(this, request));
  }

  @SuppressWarnings("unchecked") // the relay takes any message
  private static <R> Request<Object, R> any(Request<?, R> call) {
    return (Request<Object, R>) call;
  }

  @Override
  public boolean sendMessage(M message) {
    return to.keeps() ? keep(message) : sending.tell(List.of(tell(message)));
  }

  private boolean keep(M message) {
    try {
      var kept = new RemoteSender.OutboundStore(to, message, protocol.encode(message), sending.context(this, message));
      return relay.ask(any(kept), longest);
    } catch (RequestException | CancellationException unknown) {
      LoggerFactory.getLogger(Cluster.class).warn("nobody knows whether '{}' keeps a message", to.actor(), unknown);
      return false;
    }
  }

  @Override
  public boolean sendMessages(List<? extends M> block) {
    if (to.keeps()) throw new UnsupportedOperationException(
        "actor '" + to.actor() + "' keeps messages, and stores each by itself");
    return sending.tell(block.stream().map(this::tell).toList());
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request) {
    return relay.ask(any(call(request)));
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request, Duration limit) {
    return relay.ask(any(call(request)), limit);
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request) {
    return sendMessageReturn(request, longest);
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request, Duration limit) {
    return relay.sendMessageReturn(any(call(request)), limit);
  }

  @Override
  public Scheduler.Timer sendMessageLater(M message, Duration delay) {
    return relay.sendMessageLater(tell(message), delay);
  }

  @Override
  public Scheduler.Timer sendMessageLater(Object key, M message, Duration delay) {
    return relay.sendMessageLater(key, tell(message), delay);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(M message, Duration period) {
    return relay.sendMessageEvery(tell(message), period);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(Object key, M message, Duration period) {
    return relay.sendMessageEvery(key, tell(message), period);
  }

  // ---- what only its own node can do

  private UnsupportedOperationException notFromHere(String what) {
    return new UnsupportedOperationException(
        "actor '" + to.actor() + "' may be on another node: " + what + "; do it where the actor lives");
  }

  @Override
  public void execute(Runnable task) {
    throw notFromHere("code does not travel");
  }

  @Override
  public void askExit() {
    throw notFromHere("it cannot be ended from here");
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
      return sending.clock().awaitDone(onExit(), Objects.requireNonNull(limit, "limit"));
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
    return end.orElseThrow(() -> notFromHere("an entity sleeps, and does not end")).get();
  }

  @Override
  public Actor<M> closeOnExit(AutoCloseable... resources) {
    throw notFromHere("what is closed with it would be on another node");
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RemoteActor<?> far && far.relay == relay && far.to.equals(to);
  }

  @Override
  public int hashCode() {
    return 31 * relay.hashCode() + to.hashCode();
  }

  @Override
  public String toString() {
    return "far actor '" + to.actor() + "'";
  }
}
