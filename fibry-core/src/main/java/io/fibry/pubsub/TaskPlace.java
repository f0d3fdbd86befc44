package io.fibry.pubsub;

import io.fibry.AskCycleException;
import io.fibry.Exitable;
import io.fibry.Handler;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Code on an executor in a topic. */
final class TaskPlace<M> extends Place<M> {
  private static final Logger LOG = LoggerFactory.getLogger(Topic.class);

  private final Executor where;
  private final Handler<M> subscriber;

  TaskPlace(Hub<M> hub, Executor where, Handler<M> subscriber) {
    super(hub, where instanceof Exitable actor ? actor : null);
    this.where = where;
    this.subscriber = subscriber;
  }

  @Override
  void deliver(M message) {
    if (!isOpen()) return;
    try {
      where.execute(new Call<>(this, message));
    } catch (AskCycleException ring) { // of the publisher, who waits for room at an actor
      throw ring;
    } catch (Throwable refusal) {
      refused(message, refusal);
    }
  }

  private void refused(M message, Throwable refusal) {
    boolean gone = other != null ? other.onExit().isDone() : refusal instanceof RejectedExecutionException && where instanceof ExecutorService pool && pool.isShutdown();
    if (gone) close();
    if (other == null) LOG.error("topic '{}': the executor of a subscriber did not take {}{}", hub.name(), message, gone ? "; it was shut down, and the subscriber is forgotten" : "", refusal); // an actor has made a dead letter
  }

  private void call(M message) throws Exception {
    if (!isOpen() || hub.isCut()) return;
    if (other != null) subscriber.handle(message); // what it throws, its actor decides about
    else contained(message);
  }

  /** Harms neither a pool's thread nor the publisher on his own. */
  private void contained(M message) {
    try {
      subscriber.handle(message);
    } catch (Throwable failure) {
      if (failure instanceof InterruptedException) Thread.currentThread().interrupt(); // it was meant for this thread, which is not ours
      LOG.error("topic '{}': a subscriber failed at {}", hub.name(), message, failure);
    }
  }

  /** One message for it. */
  private record Call<M>(TaskPlace<M> place, M message) implements Runnable {
    @Override
    public void run() {
      try {
        place.call(message);
      } catch (Exception failure) {
        throw Call.<RuntimeException>asItIs(failure);
      }
    }

    @SuppressWarnings("unchecked") // nobody catches it as an E: it goes to the actor's failure policy, which takes anything
    private static <E extends Exception> E asItIs(Exception failure) throws E {
      throw (E) failure;
    }

    @Override
    public String toString() {
      return "'" + place.hub.name() + "' published " + message;
    }
  }
}
