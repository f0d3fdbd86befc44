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
 * The one shared value. Followers are told that it changed, and look themselves what it is: so they
 * cannot see changes out of order, however those who make them race.
 */
final class AtomicSharedValue<T> implements SharedValue<T> {
  private final ActorBuilder<?> how;
  private final AtomicReference<T> value;
  private final AtomicInteger made = new AtomicInteger();
  private final List<ValueFollower> followers = new CopyOnWriteArrayList<>();

  AtomicSharedValue(ActorBuilder<?> how, T initial) {
    this.how = how;
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
      T next = Objects.requireNonNull(change.apply(now), "the changed value");
      if (change(now, next)) return next;
    }
  }

  /** From this very object. True also where there was nothing to change. */
  private boolean change(T now, T next) {
    if (next.equals(now)) return true;
    if (!value.compareAndSet(now, next)) return false;
    for (var follower : followers) follower.tell();
    return true;
  }

  @Override
  public Subscription subscribe(Handler<T> follower) {
    var one = new ValueFollower(Objects.requireNonNull(follower, "follower"));
    followers.add(one);
    one.begin();
    return one;
  }

  private final class ValueFollower extends Follower<T> {
    private T told; // null: nothing yet; whose turn it is

    ValueFollower(Handler<T> handler) {
      super(how, made.incrementAndGet(), handler);
    }

    @Override
    T news() {
      T now = value();
      // not by `equals`, which may fail: then nobody would be told any more
      return now == told ? null : (told = now);
    }

    @Override
    void leave() {
      followers.remove(this);
    }
  }
}
