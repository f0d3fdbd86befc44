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
 * Followers are told only that the value changed, and read it themselves: so they see changes in
 * order.
 */
final class AtomicObservableValue<T> implements ObservableValue<T> {
  private final ActorBuilder<?> builder;
  private final AtomicReference<T> value;
  private final AtomicInteger made = new AtomicInteger();
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
    update(any -> value);
  }

  @Override
  public boolean compareAndSet(T expected, T value) {
    Objects.requireNonNull(expected, "expected");
    Objects.requireNonNull(value, "value");
    while (true) {
      T now = value();
      if (!now.equals(expected)) return false;
      if (change(now, value)) return true;
    }
  }

  @Override
  public T update(UnaryOperator<T> change) {
    Objects.requireNonNull(change, "change");
    while (true) {
      T now = value();
      T next = Objects.requireNonNull(change.apply(now), "the changed value is null");
      if (change(now, next)) return next;
    }
  }

  /** Compares {@code now} by identity; true also if both are equal. */
  private boolean change(T now, T next) {
    if (next.equals(now)) return true;
    if (!value.compareAndSet(now, next)) return false;
    for (var follower : followers) follower.notifyChange();
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
    private T lastSent; // of the holder of the right

    ValueSubscription(Handler<T> handler) {
      super(builder, made.incrementAndGet(), handler);
    }

    @Override
    T nextChange() {
      T now = value();
      // no `equals`: if it threw, followers would hear of no further change
      return now == lastSent ? null : (lastSent = now);
    }

    @Override
    void leave() {
      followers.remove(this);
    }
  }
}
