package io.fibry.spi;

import io.fibry.Actor;
import io.fibry.ContextPropagator;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A context propagator that measures messages: the wait from the send until the handler begins, and
 * the handling until the handler ends. A library of metrics extends this class. Thread-safe.
 * {@snippet class="io.fibry.spi.MessageTimerTest" region="timer"}
 *
 * <p>The messages of one periodic timer, and the messages of one {@code sendMessages}, share one
 * capture. Only the first of them records a wait, which includes a timer's delay. A
 * {@link MultiStepMessage} records its wait and each of its steps, but not the whole message. The
 * wait of a message that the timer of an entity sends does not include the timer's delay.
 */
@SuppressWarnings("exports") // nullness annotations
public abstract class MessageTimer implements ContextPropagator<MessageTimer.@Nullable SendTime> {

  /** The time at which a message was sent. */
  public static final class SendTime {
    private final long sentNanos = System.nanoTime();
    // read and written by handlers' threads, without a lock: two workers of a pool may both record
    // the wait
    private boolean isWaitRecorded;

    private SendTime() {}
  }

  private static final String OTHER = "other";
  private static final List<Duration> BOUNDS = Stream.of(50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000,
      100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000)
      .map(micros -> Duration.of(micros, ChronoUnit.MICROS)).toList();

  private final @Nullable ActorNames actors; // null: all actors are one group
  private final List<String> groups;

  /** For subclasses that measure all actors together. */
  protected MessageTimer() {
    this.actors = null;
    this.groups = List.of("");
  }

  /**
   * For subclasses that measure groups of actors separately.
   *
   * @param actors each name is a group; all other actors are one more group
   */
  protected MessageTimer(ActorNames actors) {
    this.actors = actors;
    this.groups = Stream.concat(actors.list().stream(), Stream.of(OTHER)).toList();
  }

  /**
   * {@return the upper bounds of the buckets for durations, from 50 µs to 10 s, in ascending order}
   * All libraries of metrics and the HTTP servers use these bounds, so that a monitoring system can
   * add the histograms of several processes.
   */
  public static List<Duration> bounds() {
    return BOUNDS;
  }

  /**
   * {@return the groups of actors that are measured separately: the names, and {@code other} for
   * all other actors; without names an empty text for all actors}
   */
  protected final List<String> groups() {
    return groups;
  }

  private int groupOf(Actor<?> actor) {
    int index = actors == null ? 0 : actors.indexOf(actor.name());
    return index < 0 ? groups.size() - 1 : index;
  }

  /** {@return whether the messages that are sent now are measured} Called on senders' threads. */
  protected abstract boolean isActive();

  /**
   * Records the wait of a message. Called on the handler's thread, before the handler.
   *
   * @param group the index of the actor's group in {@link #groups}
   * @param wait the time since the message was sent
   */
  protected abstract void recordWait(int group, Duration wait);

  /**
   * Records the handling of a message or step. Called on the handler's thread, after the handler,
   * also if it failed.
   *
   * @param group the index of the actor's group in {@link #groups}
   * @param handling how long the handler has worked
   */
  protected abstract void recordHandling(int group, Duration handling);

  @Override
  public final @Nullable SendTime capture() {
    return isActive() ? new SendTime() : null;
  }

  /** Sets nothing, because a message is measured only in its own handler. */
  @Override
  public final AutoCloseable restore(@Nullable SendTime sent) {
    return () -> {};
  }

  @Override
  public final AutoCloseable restore(@Nullable SendTime sent, Actor<?> actor, Object message) {
    if (sent == null) return () -> {}; // not called with null, because null means that nothing was captured
    int group = groupOf(actor);
    long startNanos = System.nanoTime();
    if (!sent.isWaitRecorded) recordWait(group, Duration.ofNanos(startNanos - sent.sentNanos));
    sent.isWaitRecorded = true;
    return message instanceof MultiStepMessage steps ? steps.onStepEnd(handling -> recordHandling(group, handling))
        : () -> recordHandling(group, Duration.ofNanos(System.nanoTime() - startNanos));
  }

  /** Sets nothing, because the sending of a message is not its handling. */
  @Override
  public final AutoCloseable restoreForSend(@Nullable SendTime sent, Actor<?> recipient, Object message) {
    return () -> {};
  }
}
