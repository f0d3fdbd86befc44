package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.Strategy;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The timers of addresses. */
final class EntityTimers {
  private static final Logger LOG = LoggerFactory.getLogger("io.fibry.pool.Entities");

  private record TimerKey(Actor<?> address, Object key) {}

  private final Scheduler clock;
  private final ConcurrentHashMap<Object, EntityTimer<?>> pending = new ConcurrentHashMap<>();
  private volatile boolean ended;

  EntityTimers(Scheduler clock) {
    this.clock = clock;
  }

  /** After the end of the entities the message is a dead letter at once. */
  <M> Scheduler.Timer start(Actor<M> address, Object key, M message, Duration time, boolean repeats) {
    Objects.requireNonNull(time, repeats ? "period" : "delay");
    var timer = new EntityTimer<>(address, key, message, repeats);
    timer.tick = repeats ? clock.atFixedRate(time, time, timer) : clock.after(time, timer);
    var before = pending.put(timer.key, timer);
    if (before != null) before.cancel();
    if (timer.ran) pending.remove(timer.key, timer);
    if (ended && timer.cancel()) address.sendMessage(message);
    return timer;
  }

  void end() {
    ended = true;
    for (var timer : pending.values()) timer.cancel();
  }

  /** Sends on a thread of its own, since that may make the actor, or wait. */
  private final class EntityTimer<M> implements Scheduler.Timer, Runnable {
    private final Actor<M> address;
    private final Object key;
    private final M message;
    private final boolean repeats;
    // false -> true by the clock, true -> false by the sending thread
    private final AtomicBoolean sending = new AtomicBoolean();
    private volatile Scheduler.Timer tick; // written by `start`
    private volatile boolean ran; // written by the clock: will not run again

    EntityTimer(Actor<M> address, Object key, M message, boolean repeats) {
      this.address = address;
      this.key = key == null ? this : new TimerKey(address, key);
      this.message = Objects.requireNonNull(message, "message");
      this.repeats = repeats;
    }

    @Override
    public void run() {
      if (!repeats) {
        ran = true;
        pending.remove(key, this);
      }
      if (sending.compareAndSet(false, true)) Strategy.FIBER.activate(this::send);
    }

    private void send() {
      try {
        address.sendMessage(message);
      } catch (Throwable failure) {
        LOG.error("a timer could not send {} to {}", message, address, failure);
        Entity.ended(address.name()).sendMessage(message);
      } finally {
        sending.set(false);
      }
    }

    @Override
    public boolean cancel() {
      pending.remove(key, this);
      return tick.cancel();
    }
  }
}
