package io.fibry.pubsub;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/**
 * A value in an atomic reference. A follower is notified that the value has changed, and then reads
 * the latest value. So a follower never sees an older value after a newer value.
 */
final class AtomicObservableValue<T> implements ObservableValue<T> {
  private final ActorBuilder<?> builder;
  private final AtomicReference<T> value;
  private final AtomicInteger lastNumber = new AtomicInteger();
  private final List<ValueSubscription> followers = new CopyOnWriteArrayList<>();

  AtomicObservableValue(ActorBuilder<?> builder, T initial) {
    this.builder = builder;
    value = new AtomicReference<>(initial);
  }

  @Override
  public T value() {
    return value.get();
  }

  @Override
  public void set(T value) {
    Objects.requireNonNull(value, "value");
    update(old -> value);
  }

  @Override
  public boolean compareAndSet(T expected, T value) {
    Objects.requireNonNull(expected, "expected");
    Objects.requireNonNull(value, "value");
    while (true) {
      T current = value();
      if (!current.equals(expected)) return false;
      if (change(current, value)) return true;
    }
  }

  @Override
  public T update(UnaryOperator<T> change) {
    Objects.requireNonNull(change, "change");
    while (true) {
      T current = value();
      T next = Objects.requireNonNull(change.apply(current), "the changed value is null");
      if (change(current, next)) return next;
    }
  }

  /**
   * Replaces the object {@code current}, compared by identity. Returns false only if another thread
   * has replaced {@code current}. If both values are equal, returns true without a change.
   */
  private boolean change(T current, T next) {
    if (next.equals(current)) return true;
    if (!value.compareAndSet(current, next)) return false;
    ChangeSubscription.notifyAll(followers);
    return true;
  }

  @Override
  public Subscription subscribe(Handler<T> follower) {
    var subscription = new ValueSubscription(Objects.requireNonNull(follower, "follower"));
    followers.add(subscription);
    subscription.begin();
    return subscription;
  }

  private final class ValueSubscription extends ChangeSubscription<T> {
    private T lastSent; // used by the holder of the right to send

    ValueSubscription(Handler<T> handler) {
      super(builder, lastNumber.incrementAndGet(), handler);
    }

    @Override
    T nextChange() {
      T current = value();
      // compared by identity: if a call of `equals` threw, this follower would get no further
      // change
      return current == lastSent ? null : (lastSent = current);
    }

    @Override
    void leave() {
      followers.remove(this);
    }
  }
}
