package io.fibry.micrometer;

import io.fibry.spi.MessageTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

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
public final class MessageMeters extends MessageTimer implements MeterBinder, AutoCloseable {
  private final Tags tags;
  // written by threads that bind and close, read by senders and handlers; may be empty
  private volatile List<MessageTimers> timers = List.of();

  private record MessageTimers(MeterRegistry registry, Timer waiting, Timer handling) {}

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
  protected boolean isActive() {
    return !timers.isEmpty();
  }

  @Override
  protected void recordWait(Duration wait) {
    for (var pair : timers) pair.waiting().record(wait);
  }

  @Override
  protected void recordHandling(Duration handling) {
    for (var pair : timers) pair.handling().record(handling);
  }

  /** Removes the timers from their registries. Messages that end later are not timed. */
  @Override
  public synchronized void close() {
    for (var pair : timers) {
      pair.registry.remove(pair.waiting);
      pair.registry.remove(pair.handling);
    }
    timers = List.of();
  }
}
