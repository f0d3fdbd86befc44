package io.fibry.pubsub;

import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.block.Throwables;
import io.fibry.spi.StableAddress;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;

/** Hands messages to code on an executor. */
final class ExecutorSubscriber<M> extends Subscriber<M> {
  private final Executor executor;
  private final Handler<M> handler;

  ExecutorSubscriber(SubscribedTopic<M> topic, Executor executor, Handler<M> handler) {
    super(topic, executor instanceof Exitable actor ? StableAddress.owner(actor) : null);
    this.executor = executor;
    this.handler = handler;
  }

  @Override
  boolean offer(M message) {
    try {
      executor.execute(new DeliveryTask<>(this, message));
      return true;
    } catch (RejectedExecutionException refusal) {
      if (userActor == null) throw refusal;
      return false; // the message is a dead letter of the actor
    }
  }

  @Override
  String name() {
    return userActor == null ? "executor" : userActor.name();
  }

  @Override
  long dropped() {
    return 0;
  }

  @Override
  boolean isGone() {
    return userActor != null ? userActor.onExit().isDone()
        : executor instanceof ExecutorService pool && pool.isShutdown();
  }

  private void call(M message) throws Exception {
    if (!isOpen() || topic.isDiscardingQueued()) return;
    try {
      handler.handle(message);
    } catch (Throwable failure) {
      if (userActor != null) throw failure; // the actor's failure policy applies
      // restores the interrupt for the owner of the thread, a pool or the publisher
      if (failure instanceof InterruptedException) Thread.currentThread().interrupt();
      LOG.error("topic '{}': a subscriber failed at {}", topic.name(), topic.describe(message), failure);
    }
  }

  private record DeliveryTask<M>(ExecutorSubscriber<M> subscriber, M message) implements Runnable {
    @Override
    public void run() {
      try {
        subscriber.call(message);
      } catch (Exception failure) {
        throw Throwables.<RuntimeException>sneakyThrow(failure);
      }
    }

    @Override
    public String toString() {
      return "'" + subscriber.topic.name() + "' published " + subscriber.topic.describe(message);
    }
  }
}
