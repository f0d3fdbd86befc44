package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.text.SafeLogger;
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

/** The timers of the addresses of entities. */
final class EntityTimers {
  private static final Logger LOG = SafeLogger.of("io.fibry.pool.Entities");
  // pause before the next attempt to start a fiber
  private static final Duration THREAD_RETRY_DELAY = Duration.ofMillis(50);

  interface NotifyingAddress<M> extends Actor<M> {
    /**
     * Sends a message. Runs {@code onFound} when the actor was found or made, before the message is
     * offered to the actor.
     */
    boolean sendMessage(M message, Runnable onFound);
  }

  private record TimerKey(Actor<?> address, Object key) {}

  /** The send of a timer: {@code IDLE -> FINDING -> OFFERING -> (IDLE | REPEAT -> FINDING)}. */
  private enum SendPhase {
    IDLE,
    /** The actor is being found or made. A period that passes in this phase is skipped. */
    FINDING,
    /** The message may have been handled, so a period that passes in this phase is not skipped. */
    OFFERING,
    /** A period passed during OFFERING; further periods are skipped. */
    REPEAT
  }

  private final EntityHelpers helperActors;
  private final ConcurrentHashMap<Object, EntityTimer<?>> pendingTimers = new ConcurrentHashMap<>();
  private final AtomicLong numbers = new AtomicLong();
  private volatile boolean hasEnded;

  EntityTimers(EntityHelpers helperActors) {
    this.helperActors = helperActors;
  }

  /** Starts a timer. If the entities have ended, its message becomes a dead letter at once. */
  <M> Scheduler.Timer start(NotifyingAddress<M> address, Object key, M message, Duration time, boolean repeats) {
    Objects.requireNonNull(time, repeats ? "period" : "delay");
    var timer = new EntityTimer<>(address, key, message, repeats);
    timer.key.hashCode(); // if `hashCode` throws, no timer is set
    var clock = helperActors.clock();
    timer.clockTimer = repeats ? clock.scheduleAtFixedRate(time, time, timer) : clock.schedule(time, timer);
    var previous = pendingTimers.put(timer.key, timer);
    if (previous != null) previous.cancel();
    if (timer.hasRun) pendingTimers.remove(timer.key, timer);
    if (hasEnded && timer.cancel()) address.sendMessage(message);
    return timer;
  }

  /**
   * Ends all timers. If a timer has no key and does not repeat, its message becomes a dead letter,
   * as at the end of an actor. Only the first call has an effect. A timer that is set later is
   * ended by the thread that sets it, before {@link #start} returns.
   */
  void end() {
    if (hasEnded) return;
    hasEnded = true;
    for (var timer : oldestFirst())
      if (timer.cancel() && timer.isDelayedMessage()) timer.sendToDeadLetters();
  }

  private List<EntityTimer<?>> oldestFirst() {
    var timers = new ArrayList<EntityTimer<?>>(pendingTimers.values());
    timers.sort(Comparator.comparingLong(timer -> timer.number));
    return timers;
  }

  /**
   * A timer. It sends on a fiber of its own, because a send may make the actor, or wait. Context
   * propagators capture the context when the timer is started, as they do for a timer of an actor.
   */
  private final class EntityTimer<M> implements Scheduler.Timer, Runnable {
    private final long number = numbers.incrementAndGet();
    private final NotifyingAddress<M> address;
    private final Object key;
    private final M message;
    private final boolean repeats;
    private final Executor capturedContext;
    // changed by the clock from IDLE and OFFERING, and by the sending thread
    private final AtomicReference<SendPhase> phase = new AtomicReference<>(SendPhase.IDLE);
    private volatile Scheduler.Timer clockTimer; // written by `start`
    private volatile boolean hasRun; // set by the clock; false if this timer repeats

    EntityTimer(NotifyingAddress<M> address, Object key, M message, boolean repeats) {
      this.address = address;
      this.key = key == null ? this : new TimerKey(address, key);
      this.message = Objects.requireNonNull(message, "message");
      this.repeats = repeats;
      this.capturedContext = helperActors.capturedContext(address, message);
    }

    boolean isDelayedMessage() {
      return !repeats && key == this;
    }

    @Override
    public void run() {
      if (!repeats) {
        hasRun = true;
        pendingTimers.remove(key, this);
      }
      var previous = phase.getAndUpdate(current -> switch (current) {
        case IDLE -> SendPhase.FINDING;
        case OFFERING -> SendPhase.REPEAT;
        case FINDING, REPEAT -> current;
      });
      if (previous == SendPhase.IDLE) startSending();
    }

    private void startSending() {
      try {
        helperActors.run(this::send);
      } catch (IllegalStateException entitiesEnded) {
        sendToDeadLetters();
      } catch (Throwable failure) { // no fiber could be started, but the message must not be lost
        retrySending();
      }
    }

    private void retrySending() {
      try {
        helperActors.clock().schedule(THREAD_RETRY_DELAY, this::startSending);
      } catch (Throwable noTimer) { // thrown by the user's scheduler, or because memory is exhausted
        phase.set(SendPhase.IDLE); // the next period tries again
        sendToDeadLetters();
      }
    }

    private void send() {
      do sendOnce();
      while (phase.updateAndGet(current -> current == SendPhase.REPEAT ? SendPhase.FINDING : SendPhase.IDLE)
          == SendPhase.FINDING);
    }

    private void sendOnce() {
      try {
        capturedContext.execute(() -> address.sendMessage(message, () -> phase.set(SendPhase.OFFERING)));
      } catch (Throwable failure) {
        LOG.error("a timer could not send {} to {}", helperActors.describe(message), address, failure);
        sendToDeadLetters();
      }
    }

    /**
     * Makes the message of this timer a dead letter. Logs a failure, so that the caller continues.
     */
    void sendToDeadLetters() {
      try {
        capturedContext.execute(() -> helperActors.endedActor(address.name()).sendMessage(message));
      } catch (Throwable failure) { // memory is exhausted, or `toString` of the key threw
        LOG.error("the message of a timer could not become a dead letter", failure);
      }
    }

    @Override
    public boolean cancel() {
      pendingTimers.remove(key, this);
      return clockTimer.cancel();
    }
  }
}
