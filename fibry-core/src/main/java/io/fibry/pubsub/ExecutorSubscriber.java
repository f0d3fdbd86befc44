package io.fibry.pubsub;

import io.fibry.Exitable;
import io.fibry.Handler;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;

/** Code on an executor in a topic. */
final class ExecutorSubscriber<M> extends Subscriber<M> {
  private final Executor where;
  private final Handler<M> subscriber;

  ExecutorSubscriber(ActorTopic<M> topic, Executor where, Handler<M> subscriber) {
    super(topic, where instanceof Exitable actor ? actor : null);
    this.where = where;
    this.subscriber = subscriber;
  }

  @Override
  boolean hand(M message) {
    try {
      where.execute(new Call<>(this, message));
      return true;
    } catch (RejectedExecutionException refusal) {
      if (other == null) throw refusal;
      return false; // an actor has made it a dead letter
    }
  }

  @Override
  boolean isGone() {
    return other != null ? other.onExit().isDone() : where instanceof ExecutorService pool && pool.isShutdown();
  }

  private void call(M message) throws Exception {
    if (!isOpen() || topic.isCut()) return;
    if (other != null) subscriber.handle(message); // what it throws, its actor decides about
    else contained(message);
  }

  /** Harms neither a pool's thread nor the publisher on his own. */
  private void contained(M message) {
    try {
      subscriber.handle(message);
    } catch (Throwable failure) {
      // it was meant for this thread, which is not ours
      if (failure instanceof InterruptedException) Thread.currentThread().interrupt();
      LOG.error("topic '{}': a subscriber failed at {}", topic.name(), message, failure);
    }
  }

  /** One message for it. */
  private record Call<M>(ExecutorSubscriber<M> place, M message) implements Runnable {
    @Override
    public void run() {
      try {
        place.call(message);
      } catch (Exception failure) {
        throw Call.<RuntimeException>asItIs(failure);
      }
    }

    // nobody catches it as an E: it goes to the actor's failure policy, which takes anything
    @SuppressWarnings("unchecked")
    private static <E extends Exception> E asItIs(Exception failure) throws E {
      throw (E) failure;
    }

    @Override
    public String toString() {
      return "'" + place.topic.name() + "' published " + message;
    }
  }
}
