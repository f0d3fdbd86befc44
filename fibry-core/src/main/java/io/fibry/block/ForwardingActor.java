package io.fibry.block;

import io.fibry.Actor;
import io.fibry.Request;
import io.fibry.spi.ForwardingExitable;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Base class of blocks that are actors. It forwards each call to {@link #target}, unless the block
 * overrides the method.
 */
public abstract class ForwardingActor<M> extends ForwardingExitable<Actor<M>> implements Actor<M> {

  @Override
  protected abstract Actor<M> target();

  @Override
  public boolean sendMessage(M message) {
    return target().sendMessage(message);
  }

  @Override
  public boolean sendMessages(List<? extends M> block) {
    return target().sendMessages(block);
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request) {
    return target().ask(request);
  }

  @Override
  public <Q extends M, R> R ask(Request<Q, R> request, Duration limit) {
    return target().ask(request, limit);
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request) {
    return target().sendMessageReturn(request);
  }

  @Override
  public <Q extends M, R> CompletableFuture<R> sendMessageReturn(Request<Q, R> request, Duration limit) {
    return target().sendMessageReturn(request, limit);
  }

  @Override
  public Scheduler.Timer sendMessageLater(M message, Duration delay) {
    return target().sendMessageLater(message, delay);
  }

  @Override
  public Scheduler.Timer sendMessageLater(Object key, M message, Duration delay) {
    return target().sendMessageLater(key, message, delay);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(M message, Duration period) {
    return target().sendMessageEvery(message, period);
  }

  @Override
  public Scheduler.Timer sendMessageEvery(Object key, M message, Duration period) {
    return target().sendMessageEvery(key, message, period);
  }

  @Override
  public void execute(Runnable task) {
    target().execute(task);
  }

  @Override
  public String toString() {
    return target().toString();
  }
}
