package io.fibry.block;

import io.fibry.Actor;
import io.fibry.Fronted;
import io.fibry.Request;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** An actor whose messages go to the actor in front of it, unless the block overrides that. */
public abstract class FrontedActor<M> extends Fronted<Actor<M>> implements Actor<M> {

  @Override
  protected abstract Actor<M> front();

  @Override
  public boolean sendMessage(M message) {
    return front().sendMessage(message);
  }

  @Override
  public boolean sendMessages(List<? extends M> block) {
    return front().sendMessages(block);
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request) {
    return front().ask(request);
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request, Duration limit) {
    return front().ask(request, limit);
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request) {
    return front().sendMessageReturn(request);
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request, Duration limit) {
    return front().sendMessageReturn(request, limit);
  }

  @Override
  public Scheduler.Timer sendMessageLater(M message, Duration delay) {
    return front().sendMessageLater(message, delay);
  }

  @Override
  public Scheduler.Timer sendMessageLater(Object key, M message, Duration delay) {
    return front().sendMessageLater(key, message, delay);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(M message, Duration period) {
    return front().sendMessageEvery(message, period);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(Object key, M message, Duration period) {
    return front().sendMessageEvery(key, message, period);
  }

  @Override
  public void execute(Runnable task) {
    front().execute(task);
  }

  @Override
  public String toString() {
    return front().toString();
  }
}
