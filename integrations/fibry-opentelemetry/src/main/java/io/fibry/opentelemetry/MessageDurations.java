package io.fibry.opentelemetry;

import io.fibry.spi.ActorNames;
import io.fibry.spi.MessageTimer;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.Meter;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * Two histograms of messages, in seconds: {@code fibry.wait} from the send until the handler
 * begins, and {@code fibry.handling} until the handler ends. Give this context propagator to the
 * options of a scope; it also measures the scopes inside that scope. Thread-safe.
 * {@snippet class="io.fibry.opentelemetry.Shop" region="shop"}
 *
 * <p>The connections of servers are messages with many steps. So {@code fibry.handling} records
 * each exchange, line, frame and WebSocket message, without the time in which the handler waits for
 * its client. Inline requests are not measured.
 */
public final class MessageDurations extends MessageTimer {
  private final Attributes attributes;
  private final List<Attributes> ofGroups; // by the index of the group of actors
  private final DoubleHistogram waiting;
  private final DoubleHistogram handling;

  private MessageDurations(Meter meter, Attributes attributes) {
    this.attributes = attributes;
    this.ofGroups = List.of(attributes);
    this.waiting = histogram(meter, "fibry.wait", "Time in mailboxes");
    this.handling = histogram(meter, "fibry.handling", "Time in handlers");
  }

  private MessageDurations(MessageDurations original, ActorNames actors) {
    super(actors);
    this.attributes = original.attributes;
    this.ofGroups = groups().stream().map(group -> attributes.toBuilder().put("actor", group).build()).toList();
    this.waiting = original.waiting;
    this.handling = original.handling;
  }

  /**
   * {@return a copy whose histograms also have the attribute {@code actor}} Its value is the first
   * name that matches the name of the actor, or {@code other}.
   *
   * @param actors names of actors, or beginnings of names that end in {@code *}
   * @throws IllegalArgumentException if there is no name, or a name can match no actor, because it
   * is given twice or an earlier name matches all its actors
   */
  public MessageDurations withActors(String... actors) {
    return new MessageDurations(this, ActorNames.of(List.of(actors)));
  }

  private static DoubleHistogram histogram(Meter meter, String name, String description) {
    return meter.histogramBuilder(name).setUnit("s").setDescription(description)
        .setExplicitBucketBoundariesAdvice(bounds().stream().map(OpenTelemetryMetrics::seconds).toList()).build();
  }

  /**
   * Makes a context propagator for the options of a scope.
   *
   * @param openTelemetry has the meter
   * @param scope the attribute {@code scope}
   * @return a propagator that measures messages
   */
  public static MessageDurations of(OpenTelemetry openTelemetry, String scope) {
    return of(openTelemetry, scope, Attributes.empty());
  }

  /**
   * Makes a context propagator for the options of a scope.
   *
   * @param openTelemetry has the meter
   * @param scope the attribute {@code scope}
   * @param attributes further attributes of both histograms
   * @return a propagator that measures messages
   */
  public static MessageDurations of(OpenTelemetry openTelemetry, String scope, Attributes attributes) {
    return new MessageDurations(openTelemetry.getMeter(OpenTelemetryMetrics.INSTRUMENTATION),
        attributes.toBuilder().put("scope", Objects.requireNonNull(scope, "scope")).build());
  }

  @Override
  protected boolean isActive() {
    return true;
  }

  @Override
  protected void recordWait(int group, Duration wait) {
    waiting.record(OpenTelemetryMetrics.seconds(wait), ofGroups.get(group));
  }

  @Override
  protected void recordHandling(int group, Duration duration) {
    handling.record(OpenTelemetryMetrics.seconds(duration), ofGroups.get(group));
  }
}
