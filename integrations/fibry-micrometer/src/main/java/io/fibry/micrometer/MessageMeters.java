package io.fibry.micrometer;

import io.fibry.ContextPropagator;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The timers {@code fibry.wait}, until the handler begins, and {@code fibry.handling}, until it
 * ends. It is a carrier, for the options of a scope; it times those inside, too. Thread-safe.
 * {@snippet class="io.fibry.micrometer.Shop" region="shop"}
 *
 * <p>No message is timed before it is bound. Inline requests bypass carriers and are not timed.
 * Messages of one periodic timer or block share one capture: only the first records a wait, which
 * includes a timer's delay.
 */
public final class MessageMeters implements MeterBinder, ContextPropagator<@Nullable SendTime>, AutoCloseable {
  private final Tags tags;
  // written by threads that bind and close, read by senders; while it is empty, no time is captured
  private volatile List<MessageTimers> bound = List.of();

  record MessageTimers(MeterRegistry registry, Timer waiting, Timer handling) {}

  /**
   * Timers with the tag {@code scope}.
   *
   * @param scope the tag's value
   */
  public MessageMeters(String scope) {
    this(scope, Tags.empty());
  }

  /**
   * Timers with the tag {@code scope} and more.
   *
   * @param scope the tag's value
   * @param tags on both timers
   */
  public MessageMeters(String scope, Iterable<Tag> tags) {
    this.tags = Tags.of("scope", scope).and(tags);
  }

  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    var more = new MessageTimers(registry, timer(registry, "fibry.wait", "Time in mailboxes"),
        timer(registry, "fibry.handling", "Time in handlers"));
    bound = Stream.concat(bound.stream(), Stream.of(more)).toList();
  }

  private Timer timer(MeterRegistry registry, String name, String description) {
    return Timer.builder(name).tags(tags).description(description).register(registry);
  }

  @Override
  public @Nullable SendTime capture() {
    var now = bound;
    return now.isEmpty() ? null : new SendTime(now, System.nanoTime());
  }

  @Override
  public AutoCloseable restore(@Nullable SendTime sent) {
    return sent == null ? () -> {} : sent.begin(); // never null: no capture, no set
  }

  /** Removes the timers from their registries; messages sent from now on are not timed. */
  @Override
  public synchronized void close() {
    for (var each : bound) {
      each.registry.remove(each.waiting);
      each.registry.remove(each.handling);
    }
    bound = List.of();
  }
}
