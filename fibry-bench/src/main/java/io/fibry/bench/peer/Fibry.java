package io.fibry.bench.peer;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Actors of Fibry on one of its strategies, otherwise with the defaults. The {@code ForkJoinPool}
 * has a thread per processor. It is first in, first out, as its documentation advises for
 * event-style tasks.
 */
final class Fibry implements Peer.Requests, Peer.BoundedMailboxes, Peer.PriorityMailboxes, Peer.Timers {
  private final ActorBuilder<Object> builder;
  private final AutoCloseable executor;

  private Fibry(Strategy strategy, AutoCloseable executor) {
    builder = ActorSystem.anonymous().strategy(strategy);
    this.executor = executor;
  }

  static Fibry withStrategy(Strategy strategy) {
    return new Fibry(strategy, () -> {});
  }

  static Fibry onForkJoinPool() {
    var pool = new ForkJoinPool(Runtime.getRuntime().availableProcessors(),
        ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true);
    return new Fibry(Strategy.of(pool), pool::shutdownNow);
  }

  private record FibryReceiver<M>(Actor<M> actor, boolean isResident) implements Receiver<M> {
    @Override
    public void send(M message) {
      actor.sendMessage(message);
    }

    @Override
    public Object bare() {
      return actor;
    }

    @Override
    public void end() {
      if (isResident) actor.close(); // on other strategies, an idle actor is garbage
    }
  }

  private <M> Receiver<M> receiver(Actor<M> actor) {
    return new FibryReceiver<>(actor, BlockBuilder.of(builder).strategy().isResident());
  }

  @Override
  public <M> Receiver<M> actor(Consumer<M> handler) {
    return receiver(builder.newActor((M message) -> handler.accept(message)));
  }

  @Override
  public <M> List<Receiver<M>> actors(int count, Consumer<M> handler) {
    Handler<M> sharedHandler = handler::accept;
    var receivers = new ArrayList<Receiver<M>>(count);
    for (int i = 0; i < count; i++) receivers.add(receiver(builder.newActor(sharedHandler)));
    return receivers;
  }

  @Override
  public <M> Receiver<M> bounded(int capacity, Consumer<M> handler) {
    return receiver(
        builder.mailbox(Mailbox.bounded(capacity, Overflow.BLOCK)).newActor((M message) -> handler.accept(message)));
  }

  @Override
  public <M extends Comparable<M>> Receiver<M> prioritized(Consumer<M> handler) {
    return receiver(builder.<M>mailbox(Mailbox.priority(Comparator.<M>naturalOrder()))
        .newActor((M message) -> handler.accept(message)));
  }

  @Override
  public <M, R> Answerer<M, R> answering(Function<M, R> handler) {
    return builder.newActorWithReturn((M message) -> handler.apply(message))::ask;
  }

  @Override
  public <M> Runnable later(Receiver<M> receiver, M message, Duration delay) {
    return ((FibryReceiver<M>) receiver).actor.sendMessageLater(message, delay)::cancel;
  }

  @Override
  public void close() {
    try {
      executor.close();
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }
}
