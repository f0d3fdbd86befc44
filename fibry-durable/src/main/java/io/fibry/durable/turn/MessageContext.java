package io.fibry.durable.turn;

import io.fibry.ActorContext;
import io.fibry.store.Store;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The methods of a handler's context that have no effect on its turn: they read, or a turn does not
 * support them.
 */
abstract class MessageContext<M> implements ActorContext<M> {
  private final Store.ActorId id;
  final ActorContext<Object> coreContext; // throws on other threads, and after the handler has returned

  MessageContext(Store.ActorId id, ActorContext<Object> coreContext) {
    this.id = id;
    this.coreContext = coreContext;
  }

  /** Throws on another thread, and after the handler of this turn has returned. */
  abstract void checkValid();

  @Override
  public boolean isCancelled() {
    checkValid();
    return coreContext.isCancelled();
  }

  @Override
  public Optional<Duration> remainingTime() {
    checkValid();
    return coreContext.remainingTime();
  }

  @Override
  public Scheduler scheduler() {
    checkValid();
    return coreContext.scheduler();
  }

  @Override
  public <T extends M> Optional<T> receive(Class<T> type, Duration limit) {
    throw unsupported("receive");
  }

  @Override
  public <T extends M> Optional<T> receive(Class<T> type, Predicate<? super T> condition, Duration limit) {
    throw unsupported("receive");
  }

  @Override
  public void stash() {
    throw unsupported("stash");
  }

  @Override
  public void unstash() {
    throw unsupported("unstash");
  }

  private IllegalStateException unsupported(String verb) {
    return new IllegalStateException(id + " cannot " + verb + ": a turn has the effects of exactly one message");
  }
}
