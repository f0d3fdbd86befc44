package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The timers of addresses. */
final class EntityTimers {
  private static final Logger LOG = LoggerFactory.getLogger("io.fibry.pool.Entities");
  private static final Duration NO_THREAD = Duration.ofMillis(50); // until it tries to get one again

  interface NotifyingAddress<M> extends Actor<M> {
    /** Runs {@code onFound} when the actor has been found or made, before the message is offered. */
    boolean sendMessage(M message, Runnable onFound);
  }

  private record TimerKey(Actor<?> address, Object key) {}

  /** {@code IDLE -> FINDING -> OFFERING -> IDLE}, or from OFFERING to AGAIN and then to FINDING. */
  private enum SendPhase {
    IDLE,
    /** The actor is found, or made: a period that passes now is left out. */
    FINDING,
    /** The message may be handled already, so a period that passes now is not left out. */
    OFFERING,
    /** A period passed during OFFERING; further ones are left out. */
    AGAIN
  }

  private final EntityHelpers helpers;
  private final ConcurrentHashMap<Object, EntityTimer<?>> pending = new ConcurrentHashMap<>();
  private final AtomicLong numbers = new AtomicLong();
  private volatile boolean ended;

  EntityTimers(EntityHelpers helpers) {
    this.helpers = helpers;
  }

  /** After the end of the entities the message is a dead letter at once. */
  <M> Scheduler.Timer start(NotifyingAddress<M> address, Object key, M message, Duration time, boolean repeats) {
    Objects.requireNonNull(time, repeats ? "period" : "delay");
    var timer = new EntityTimer<>(address, key, message, repeats);
    timer.key.hashCode(); // if it throws, no timer is set
    var clock = helpers.clock();
    timer.tick = repeats ? clock.scheduleAtFixedRate(time, time, timer) : clock.schedule(time, timer);
    var before = pending.put(timer.key, timer);
    if (before != null) before.cancel();
    if (timer.ran) pending.remove(timer.key, timer);
    if (ended && timer.cancel()) address.sendMessage(message);
    return timer;
  }

  /**
   * Does the same as the end of an actor: a message without a key that was to be sent becomes a
   * dead letter. Only the first call does so: a timer that is set later ends on the thread that
   * sets it, before that thread goes on.
   */
  void end() {
    if (ended) return;
    ended = true;
    for (var timer : oldestFirst())
      if (timer.cancel() && timer.isMessage()) timer.sendToDeadLetters();
  }

  private List<EntityTimer<?>> oldestFirst() {
    var all = new ArrayList<EntityTimer<?>>(pending.values());
    all.sort(Comparator.comparingLong(timer -> timer.number));
    return all;
  }

  /**
   * Sends on a fiber of its own, since that may make the actor, or wait. Carriers capture when the
   * timer is started, as for timers of actors.
   */
  private final class EntityTimer<M> implements Scheduler.Timer, Runnable {
    private final long number = numbers.incrementAndGet();
    private final NotifyingAddress<M> address;
    private final Object key;
    private final M message;
    private final boolean repeats;
    private final Executor capturedContext;
    // the clock leaves IDLE and OFFERING, the sending thread the others
    private final AtomicReference<SendPhase> sending = new AtomicReference<>(SendPhase.IDLE);
    private volatile Scheduler.Timer tick; // written by `start`
    private volatile boolean ran; // written by the clock: will not run again

    EntityTimer(NotifyingAddress<M> address, Object key, M message, boolean repeats) {
      this.address = address;
      this.key = key == null ? this : new TimerKey(address, key);
      this.message = Objects.requireNonNull(message, "message");
      this.repeats = repeats;
      this.capturedContext = helpers.capturedContext(address, message);
    }

    boolean isMessage() {
      return !repeats && key == this;
    }

    @Override
    public void run() {
      if (!repeats) {
        ran = true;
        pending.remove(key, this);
      }
      var before = sending.getAndUpdate(now -> switch (now) {
        case IDLE -> SendPhase.FINDING;
        case OFFERING -> SendPhase.AGAIN;
        case FINDING, AGAIN -> now;
      });
      if (before == SendPhase.IDLE) begin();
    }

    private void begin() {
      try {
        helpers.run(this::send);
      } catch (IllegalStateException closed) {
        sendToDeadLetters();
      } catch (Throwable noThread) { // its message must not be lost
        helpers.clock().schedule(NO_THREAD, this::begin);
      }
    }

    private void send() {
      do sendOnce();
      while (sending.updateAndGet(now -> now == SendPhase.AGAIN ? SendPhase.FINDING : SendPhase.IDLE)
          == SendPhase.FINDING);
    }

    private void sendOnce() {
      try {
        capturedContext.execute(() -> address.sendMessage(message, () -> sending.set(SendPhase.OFFERING)));
      } catch (Throwable failure) {
        LOG.error("a timer could not send {} to {}", helpers.describe(message), address, failure);
        sendToDeadLetters();
      }
    }

    /** Makes its message a dead letter. */
    void sendToDeadLetters() {
      capturedContext.execute(() -> helpers.ended(address.name()).sendMessage(message));
    }

    @Override
    public boolean cancel() {
      pending.remove(key, this);
      return tick.cancel();
    }
  }
}
