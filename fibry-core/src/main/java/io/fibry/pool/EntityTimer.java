package io.fibry.pool;

import io.fibry.Strategy;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A timer set through an address. When it is due its message is sent there, on a thread of its own:
 * that may give birth, or wait.
 */
final class EntityTimer<K, M> implements Scheduler.Timer, Runnable {
  /** A timer with a key, of one address. */
  private record Named(Object entity, Object timer) {}

  private final EntityAddress<K, M> address;
  private final Object name;
  private final M message;
  private final boolean repeats;
  // false -> true when it is due, back when it was sent
  private final AtomicBoolean onItsWay = new AtomicBoolean();
  private volatile Scheduler.Timer timer; // written at the start, before anybody else knows this
  private volatile boolean ran; // and will not again

  private EntityTimer(EntityAddress<K, M> address, Object key, M message, boolean repeats) {
    this.address = address;
    this.name = key == null ? this : new Named(address.key(), key);
    this.message = Objects.requireNonNull(message, "message");
    this.repeats = repeats;
  }

  /** Starts one; where the entities have ended, the message is a dead letter at once. */
  static <K, M> Scheduler.Timer start(EntityAddress<K, M> address, Object key, M message, Duration time,
      boolean repeats) {
    Objects.requireNonNull(time, repeats ? "period" : "delay");
    var later = new EntityTimer<>(address, key, message, repeats);
    var clock = address.entities().clock();
    var timers = address.entities().timers();
    later.timer = repeats ? clock.atFixedRate(time, time, later) : clock.after(time, later);
    var before = timers.put(later.name, later);
    if (before != null) before.cancel();
    if (later.ran) timers.remove(later.name, later);
    if (address.entities().isEnding() && later.cancel()) address.sendMessage(message);
    return later;
  }

  /** On the clock's thread. */
  @Override
  public void run() {
    if (!repeats) {
      ran = true;
      address.entities().timers().remove(name, this);
    }
    if (onItsWay.compareAndSet(false, true)) Strategy.FIBER.activate(this::send);
  }

  private void send() {
    try {
      address.sendMessage(message);
    } catch (Throwable failure) {
      LiveEntities.LOG.error("a timer could not send {} to {}", message, address, failure);
      address.ended().sendMessage(message); // a dead letter
    } finally {
      onItsWay.set(false);
    }
  }

  @Override
  public boolean cancel() {
    address.entities().timers().remove(name, this);
    return timer.cancel();
  }
}
