package io.fibry.micrometer;

import io.fibry.spi.ActorNames;
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
 * {@code fibry.handling} until the handler ends. Both have the same buckets in all processes, which
 * a monitoring system such as Prometheus can add. Give this context propagator to the options of a
 * scope; it also times the scopes inside that scope. Thread-safe.
 * {@snippet class="io.fibry.micrometer.Shop" region="shop"}
 *
 * <p>Messages are timed if they were sent after {@link #bindTo}. Inline requests bypass context
 * propagators and are not timed. The messages of one periodic timer, and the messages of one
 * {@code sendMessages}, share one capture. Only the first of them records a wait, which includes
 * a timer's delay.
 *
 * <p>Each connection of a server is an actor, named by the server and a number, such as
 * {@code web/17}, and a message with many steps. So {@code fibry.handling} records each exchange,
 * line, frame and WebSocket message, without the time in which the handler waits for its client,
 * and not the connection. The wait is recorded once for a connection: how long the accepted
 * connection waited for a thread, and not how long its requests waited.
 */
public final class MessageMeters extends MessageTimer implements MeterBinder, AutoCloseable {
  private final Tags tags;
  // written by threads that bind and close, read by senders and handlers; may be empty
  private volatile List<MessageTimers> timers = List.of();

  /** The timers of one registry, by the index of the group of actors. */
  private record MessageTimers(MeterRegistry registry, List<Timer> waiting, List<Timer> handling) {}

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

  private MessageMeters(Tags tags, ActorNames actors) {
    super(actors);
    this.tags = tags;
  }

  /**
   * {@return a copy whose timers also have the tag {@code actor}} Its value is the first name that
   * matches the name of the actor, or {@code other}. The copy is bound to no registry.
   *
   * @param actors names of actors, or beginnings of names that end in {@code *}
   * @throws IllegalArgumentException if there is no name, or a name can match no actor, because it
   * is given twice or an earlier name matches all its actors
   */
  public MessageMeters withActors(String... actors) {
    return new MessageMeters(tags, ActorNames.of(List.of(actors)));
  }

  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    var added = new MessageTimers(registry, timers(registry, "fibry.wait", "Time in mailboxes"),
        timers(registry, "fibry.handling", "Time in handlers"));
    timers = Stream.concat(timers.stream(), Stream.of(added)).toList();
  }

  private List<Timer> timers(MeterRegistry registry, String name, String description) {
    return groups().stream().map(group -> Timer.builder(name)
        .tags(group.isEmpty() ? tags : tags.and("actor", group)).description(description)
        .serviceLevelObjectives(bounds().toArray(Duration[]::new)).register(registry)).toList();
  }

  @Override
  protected boolean isActive() {
    return !timers.isEmpty();
  }

  @Override
  protected void recordWait(int group, Duration wait) {
    for (var ofRegistry : timers) ofRegistry.waiting.get(group).record(wait);
  }

  @Override
  protected void recordHandling(int group, Duration handling) {
    for (var ofRegistry : timers) ofRegistry.handling.get(group).record(handling);
  }

  /** Removes the timers from their registries. Messages that end later are not timed. */
  @Override
  public synchronized void close() {
    for (var ofRegistry : timers) {
      ofRegistry.waiting.forEach(ofRegistry.registry::remove);
      ofRegistry.handling.forEach(ofRegistry.registry::remove);
    }
    timers = List.of();
  }
}
