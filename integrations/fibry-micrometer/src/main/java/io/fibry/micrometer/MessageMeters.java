package io.fibry.micrometer;

import io.fibry.Actor;
import io.fibry.ContextPropagator;
import io.fibry.spi.MultiStepMessage;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Two timers of messages: {@code fibry.wait} from the send until the handler begins, and
 * {@code fibry.handling} until the handler ends. Give this context propagator to the options of a
 * scope; it also times the scopes inside that scope. Thread-safe.
 * {@snippet class="io.fibry.micrometer.Shop" region="shop"}
 *
 * <p>Messages are timed if they were sent after {@link #bindTo}. Inline requests bypass context
 * propagators and are not timed. The messages of one periodic timer, and the messages of one
 * {@code sendMessages}, share one capture. Only the first of them records a wait, which includes
 * a timer's delay.
 *
 * <p>The connections of servers are messages with many steps. So {@code fibry.handling} records
 * each exchange, line, frame and WebSocket message, without the time in which the handler waits for
 * its client, and not the connection. The wait is recorded once for a connection.
 */
public final class MessageMeters implements MeterBinder, ContextPropagator<@Nullable SendTime>, AutoCloseable {
  private final Tags tags;
  // written by threads that bind and close, read by senders; if empty, no send time is captured
  private volatile List<MessageTimers> timers = List.of();

  record MessageTimers(MeterRegistry registry, Timer waiting, Timer handling) {}

  /**
   * Makes timers with the tag {@code scope}.
   *
   * @param scope the tag's value
   */
  public MessageMeters(String scope) {
    this(scope, Tags.empty());
  }

  /**
   * Makes timers with the tag {@code scope} and the given tags.
   *
   * @param scope the tag's value
   * @param tags more tags of both timers
   */
  public MessageMeters(String scope, Iterable<Tag> tags) {
    this.tags = Tags.of("scope", scope).and(tags);
  }

  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    var added = new MessageTimers(registry, timer(registry, "fibry.wait", "Time in mailboxes"),
        timer(registry, "fibry.handling", "Time in handlers"));
    timers = Stream.concat(timers.stream(), Stream.of(added)).toList();
  }

  private Timer timer(MeterRegistry registry, String name, String description) {
    return Timer.builder(name).tags(tags).description(description).register(registry);
  }

  @Override
  public @Nullable SendTime capture() {
    var current = timers;
    return current.isEmpty() ? null : new SendTime(current, System.nanoTime());
  }

  @Override
  public AutoCloseable restore(@Nullable SendTime sent) {
    return sent == null ? () -> {} : sent.begin(); // not called with null, because null means that nothing was captured
  }

  @Override
  public AutoCloseable restore(@Nullable SendTime sent, Actor<?> actor, Object message) {
    return sent != null && message instanceof MultiStepMessage steps ? sent.beginSteps(steps) : restore(sent);
  }

  /** Removes the timers from their registries. Messages that are sent later are not timed. */
  @Override
  public synchronized void close() {
    for (var pair : timers) {
      pair.registry.remove(pair.waiting);
      pair.registry.remove(pair.handling);
    }
    timers = List.of();
  }
}
