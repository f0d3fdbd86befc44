package io.fibry.opentelemetry;

import io.fibry.ActorScope;
import io.fibry.DeadLetter;
import io.fibry.flow.CircuitBreaker;
import io.fibry.flow.CircuitBreaker.BreakerStats;
import io.fibry.net.HttpServer;
import io.fibry.net.HttpServer.ServerLoad;
import io.fibry.pubsub.SubscriberTotals;
import io.fibry.pubsub.Topic;
import io.fibry.pubsub.Topic.SubscriberStats;
import io.fibry.pubsub.Topic.TopicStats;
import io.fibry.spi.ActorNames;
import io.fibry.spi.ActorTotals;
import io.fibry.spi.ActorTotals.Worst;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableDoubleMeasurement;
import io.opentelemetry.api.metrics.ObservableLongMeasurement;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Publishes metrics of scopes, actors, servers, topics, circuit breakers and the scheduler of
 * virtual threads. {@link StoreMetrics} and {@link NodeMetrics} add stores and nodes, and
 * {@link MessageDurations} measures messages. Thread-safe.
 * {@snippet class="io.fibry.opentelemetry.Shop" region="shop"}
 *
 * <p>The library counts anyway. So a metric only costs a read of the counts whenever the SDK
 * collects; the durations of HTTP exchanges are recorded at the end of each exchange. After a scope
 * or server has ended, its metrics keep their last values until {@link #close()}. Give two objects
 * of one kind different names, or attributes of their own, because otherwise they share a metric.
 */
public final class OpenTelemetryMetrics implements AutoCloseable {
  static final String INSTRUMENTATION = "io.fibry";
  static final String MESSAGES = "{message}";
  private static final String ACTORS = "{actor}";
  private static final String DELIVERIES = "{delivery}";
  private static final Duration MIN_NAMED = Duration.ofSeconds(10);
  private static final int MAX_SUBSCRIBERS = 20; // a topic with a subscriber for each client has few metrics
  private static final String SCHEDULER = "jdk.management:type=VirtualThreadScheduler";

  private final Meter meter;
  private final Attributes attributes;
  private final List<AutoCloseable> registrations = new ArrayList<>(); // guarded by the monitor

  private OpenTelemetryMetrics(Meter meter, Attributes attributes) {
    this.meter = meter;
    this.attributes = attributes;
  }

  /**
   * Makes an object without metrics.
   *
   * @param openTelemetry has the meter
   * @return the object, to which scopes, servers and blocks are added
   */
  public static OpenTelemetryMetrics of(OpenTelemetry openTelemetry) {
    return of(openTelemetry, Attributes.empty());
  }

  /**
   * Makes an object without metrics.
   *
   * @param openTelemetry has the meter
   * @param attributes further attributes of all its metrics
   * @return the object, to which scopes, servers and blocks are added
   */
  public static OpenTelemetryMetrics of(OpenTelemetry openTelemetry, Attributes attributes) {
    return new OpenTelemetryMetrics(openTelemetry.getMeter(INSTRUMENTATION), attributes);
  }

  /** Returns the attributes of all metrics, and another attribute. */
  Attributes attributesWith(String key, String value) {
    return attributes.toBuilder().put(key, Objects.requireNonNull(value, key)).build();
  }

  <S> SampledInstruments<S> sampled(Attributes ownAttributes, Supplier<S> source) {
    return new SampledInstruments<>(meter, ownAttributes, source);
  }

  synchronized OpenTelemetryMetrics add(AutoCloseable... added) {
    registrations.addAll(List.of(added));
    return this;
  }

  /**
   * Adds the messages and actors of a scope and the scopes inside it. The messages have
   * {@code fibry.messages} by outcome, {@code fibry.messages.waiting} and
   * {@code fibry.messages.handling}. The lost messages have {@code fibry.dead.letters} by reason,
   * and {@code fibry.dead.letters.last.timestamp} in seconds since 1970, or 0. The actors have
   * {@code fibry.scope.restarted} and {@code fibry.scope.suspended}.
   *
   * @param scope its name is the attribute {@code scope}
   * @return this object
   */
  public OpenTelemetryMetrics addScope(ActorScope scope) {
    var own = attributesWith("scope", scope.name());
    var outcomes = Stream.of(DeadLetter.Reason.values()).collect(Collectors.toMap(reason -> reason,
        reason -> own.toBuilder().put("outcome", reason.name().toLowerCase(Locale.ROOT)).build()));
    var handled = own.toBuilder().put("outcome", "handled").build();
    var reasons = Stream.of(DeadLetter.Reason.values()).collect(Collectors.toMap(reason -> reason,
        reason -> own.toBuilder().put("reason", reason.name().toLowerCase(Locale.ROOT)).build()));
    return add(sampled(own, scope::report)
        .counters("fibry.messages", MESSAGES, "Messages by their outcome", (report, counter) -> {
          counter.record(report.handled(), handled);
          outcomes.forEach(
              (reason, withOutcome) -> counter.record(report.unhandled().getOrDefault(reason, 0L), withOutcome));
        })
        .level("fibry.messages.waiting", MESSAGES, "Messages in mailboxes", ActorScope.Report::queued)
        .level("fibry.messages.handling", MESSAGES, "Messages in handlers", ActorScope.Report::handling)
        .counters("fibry.dead.letters", MESSAGES, "Messages that were lost, by reason",
            (report, counter) -> reasons.forEach((reason, withReason) -> counter.record(
                report.deadLetterCounts().getOrDefault(reason, 0L), withReason)))
        .secondGauges("fibry.dead.letters.last.timestamp", "When the last message was lost; 0: none",
            (report, gauge) -> gauge.record(report.lastDeadLetter().map(Instant::toEpochMilli).orElse(0L) / 1e3, own))
        .counter("fibry.scope.restarted", "{restart}", "Restarts of actors", ActorScope.Report::restarted)
        .level("fibry.scope.suspended", ACTORS, "Actors that are suspended after a failure",
            ActorScope.Report::suspended)
        .register());
  }

  /**
   * Adds chosen actors: {@code fibry.actor.handled}, {@code fibry.actor.failed}, {@code
   * fibry.actor.refused}, {@code fibry.actor.dropped}, {@code fibry.actor.restarted}, {@code
   * fibry.actor.living}, {@code fibry.actor.suspended}, {@code fibry.actor.waiting}, {@code
   * fibry.actor.oldest.waiting} and {@code fibry.actor.busy}. A name that ends in {@code *} sums
   * all actors whose name begins so.
   * An actor belongs to the first name that matches. Thus the number of metrics does not grow with
   * the number of actors. The counters include actors that have ended since this call, and never
   * shrink. A name without an actor has zeros.
   *
   * <p>The gauges {@code fibry.actor.max.busy} and {@code fibry.actor.max.waiting} have the further
   * attribute {@code name}: the actor that has been busy for longest, and the actor whose message
   * has waited for longest. They have a value only while that time is at least ten seconds. The
   * gauges {@code fibry.actor.max.failed}, {@code fibry.actor.max.refused},
   * {@code fibry.actor.max.restarted} and {@code fibry.actor.max.expired} (requests that expire in
   * its mailbox) name the actor with the most of these problems in five minutes. They have a value
   * until the end of the next five minutes. The gauge {@code fibry.actor.max.grown} names the actor
   * whose mailbox has grown most in five minutes, while it grows, and
   * {@code fibry.actor.max.queued} the actor for which most messages wait; both from 100 messages
   * on. The gauge {@code fibry.actor.max.suspended} names a suspended actor.
   *
   * @param scope the scope of the actors, whose name is the attribute {@code scope}; actors in
   * scopes inside it are found, too
   * @param actors names of actors, or beginnings of names that end in {@code *}; they are the
   * attribute {@code actor}
   * @return this object
   * @throws IllegalArgumentException if there is no name, or a name can match no actor, because it
   * is given twice or an earlier name matches all its actors
   */
  public OpenTelemetryMetrics addActors(ActorScope scope, String... actors) {
    var own = attributesWith("scope", scope.name());
    var totals = ActorTotals.of(scope, ActorNames.of(List.of(actors)));
    var byName = Stream.of(actors)
        .collect(Collectors.toMap(name -> name, name -> own.toBuilder().put("actor", name).build()));
    return add(sampled(own, totals::read)
        .counters("fibry.actor.handled", MESSAGES, "Messages and steps that these actors have handled",
            (sums, counter) -> sums.forEach(sum -> counter.record(sum.handled(), byName.get(sum.name()))))
        .counters("fibry.actor.failed", MESSAGES, "Messages at which these actors have failed",
            (sums, counter) -> sums.forEach(sum -> counter.record(sum.failed(), byName.get(sum.name()))))
        .counters("fibry.actor.refused", MESSAGES, "Messages that full mailboxes have not taken",
            (sums, counter) -> sums.forEach(sum -> counter.record(sum.refused(), byName.get(sum.name()))))
        .counters("fibry.actor.dropped", MESSAGES, "Messages that full mailboxes have taken, and dropped later",
            (sums, counter) -> sums.forEach(sum -> counter.record(sum.dropped(), byName.get(sum.name()))))
        .counters("fibry.actor.restarted", "{restart}", "Restarts of these actors",
            (sums, counter) -> sums.forEach(sum -> counter.record(sum.restarted(), byName.get(sum.name()))))
        .levels("fibry.actor.suspended", ACTORS, "Actors that are suspended after a failure",
            (sums, level) -> sums.forEach(sum -> level.record(sum.suspended(), byName.get(sum.name()))))
        .levels("fibry.actor.living", ACTORS, "Actors that have not ended",
            (sums, level) -> sums.forEach(sum -> level.record(sum.living(), byName.get(sum.name()))))
        .levels("fibry.actor.waiting", MESSAGES, "Messages that wait for these actors",
            (sums, level) -> sums.forEach(sum -> level.record(sum.queued(), byName.get(sum.name()))))
        .secondGauges("fibry.actor.oldest.waiting", "How long at least the oldest of these messages has waited",
            (sums, gauge) -> sums.forEach(sum -> gauge.record(seconds(sum.oldestWaiting()), byName.get(sum.name()))))
        .secondGauges("fibry.actor.busy",
            "The longest time of one of these actors on its message or step, without waits for another busy actor",
            (sums, gauge) -> sums.forEach(sum -> gauge.record(seconds(sum.busyFor()), byName.get(sum.name()))))
        .secondGauges("fibry.actor.max.busy",
            "How long the actor of this name has handled its message or step, from 10 s on",
            (sums, gauge) -> sums.forEach(
                sum -> recordNamed(gauge, sum.busiestActor(), sum.busyFor(), byName.get(sum.name()))))
        .secondGauges("fibry.actor.max.waiting",
            "How long at least a message has waited for the actor of this name, from 10 s on",
            (sums, gauge) -> sums.forEach(
                sum -> recordNamed(gauge, sum.oldestWaitingActor(), sum.oldestWaiting(), byName.get(sum.name()))))
        .gauges("fibry.actor.max.failed", MESSAGES, "Messages at which the actor of this name has failed lately",
            (sums, gauge) -> sums.forEach(sum -> recordWorst(gauge, sum.worstFailing(), byName.get(sum.name()))))
        .gauges("fibry.actor.max.refused", MESSAGES,
            "Messages that the full mailbox of the actor of this name has refused lately",
            (sums, gauge) -> sums.forEach(sum -> recordWorst(gauge, sum.worstRefusing(), byName.get(sum.name()))))
        .gauges("fibry.actor.max.restarted", "{restart}", "Restarts of the actor of this name lately",
            (sums, gauge) -> sums.forEach(sum -> recordWorst(gauge, sum.worstRestarting(), byName.get(sum.name()))))
        .gauges("fibry.actor.max.expired", MESSAGES,
            "Requests that have expired lately in the mailbox of the actor of this name",
            (sums, gauge) -> sums.forEach(sum -> recordWorst(gauge, sum.worstExpiring(), byName.get(sum.name()))))
        .gauges("fibry.actor.max.grown", MESSAGES,
            "How many more messages wait for the actor of this name than five minutes ago, from 100 on",
            (sums, gauge) -> sums.forEach(sum -> recordWorst(gauge, sum.worstGrowing(), byName.get(sum.name()))))
        .gauges("fibry.actor.max.queued", MESSAGES, "Messages that wait for the actor of this name, from 100 on",
            (sums, gauge) -> sums.forEach(sum -> recordWorst(gauge, sum.longestQueue(), byName.get(sum.name()))))
        .gauges("fibry.actor.max.suspended", ACTORS,
            "1, or the number of its workers, while the actor of this name is suspended",
            (sums, gauge) -> sums.forEach(sum -> recordWorst(gauge, sum.suspendedActor(), byName.get(sum.name()))))
        .register(), totals);
  }

  private static void recordWorst(ObservableLongMeasurement gauge, Optional<Worst> worst, Attributes attributes) {
    worst.ifPresent(
        actor -> gauge.record(actor.count(), attributes.toBuilder().put("name", actor.actor()).build()));
  }

  private static void recordNamed(ObservableDoubleMeasurement gauge, Optional<String> actor, Duration time,
      Attributes attributes) {
    if (actor.isPresent() && time.compareTo(MIN_NAMED) >= 0)
      gauge.record(seconds(time), attributes.toBuilder().put("name", actor.get()).build());
  }

  /**
   * Adds an HTTP server: its open WebSockets, {@code fibry.http.websockets}, its responses by
   * outcome, {@code fibry.http.responses}, and the histogram {@code http.server.request.duration}.
   * The histogram follows the semantic conventions for HTTP.
   * It has the attributes {@code http.request.method}, {@code url.scheme}, {@code http.route},
   * {@code http.response.status_code}, and for a status of 500 or above {@code error.type}. An
   * unknown method is {@code _OTHER}. Requests without a route have no {@code http.route}.
   * Exchanges are recorded from now on. The load of {@link HttpServer#load} is in
   * {@code fibry.server.working}, {@code fibry.server.waiting}, {@code fibry.server.max.exchanges},
   * {@code fibry.server.connections} and {@code fibry.server.cut.off}.
   *
   * @param name the attribute {@code server}
   * @param server the server
   * @return this object
   */
  public OpenTelemetryMetrics addServer(String name, HttpServer server) {
    var own = attributesWith("server", name);
    var routes = new HttpRouteAttributes(own);
    var durations = meter.histogramBuilder("http.server.request.duration").setUnit("s")
        .setDescription("Duration of HTTP server requests")
        .setExplicitBucketBoundariesAdvice(HttpRouteAttributes.BOUNDS).build();
    var counts = sampled(own, server::stats)
        .levels("fibry.http.websockets", "{connection}", "Open WebSockets",
            (stats, level) -> stats.forEach(route -> level.record(route.openWebSockets(), routes.of(route.route()))))
        .counters("fibry.http.responses", "{response}", "Exchanges by the status of their response",
            (stats, counter) -> stats.forEach(route -> route.timesByOutcome().forEach(
                (outcome, times) -> counter.record(times.count(), routes.of(route.route(), outcome)))));
    var load = sampled(own, server::load)
        .level("fibry.server.working", "{request}", "Exchanges whose handlers are at work", ServerLoad::working)
        .level("fibry.server.waiting", "{request}", "Exchanges that wait for their clients", ServerLoad::waiting)
        .level("fibry.server.max.exchanges", "{request}", "Exchanges whose handlers may be at work",
            ServerLoad::maxExchanges)
        .level("fibry.server.connections", "{connection}", "Open connections", ServerLoad::connections)
        .counter("fibry.server.cut.off", "{client}", "Clients that were cut off because they exceeded a limit",
            ServerLoad::cutOffClients);
    return add(counts.register(), load.register(), server.onExchangeEnd(
        exchange -> durations.record(seconds(exchange.duration()), routes.of(exchange))));
  }

  /**
   * Adds a topic: {@code fibry.topic.published}, {@code fibry.topic.delivered},
   * {@code fibry.topic.refused}, {@code fibry.topic.dropped} and {@code fibry.topic.subscribers}.
   * The oldest 20 open subscriptions also have {@code fibry.topic.subscriber.delivered},
   * {@code fibry.topic.subscriber.refused} and {@code fibry.topic.subscriber.dropped}, with the
   * attribute {@code subscriber}.
   *
   * @param topic its name is the attribute {@code topic}
   * @return this object
   */
  public OpenTelemetryMetrics addTopic(Topic<?> topic) {
    var own = attributesWith("topic", topic.name());
    var totals = SubscriberTotals.of(topic, MAX_SUBSCRIBERS);
    return add(sampled(own, () -> new TopicReading(own, topic.stats(), totals.read()))
        .counter("fibry.topic.published", MESSAGES, "Messages that were published",
            sample -> sample.stats.published())
        .counter("fibry.topic.delivered", DELIVERIES, "Deliveries that subscribers have accepted",
            sample -> sample.stats.delivered())
        .counter("fibry.topic.refused", DELIVERIES, "Deliveries that subscribers have refused",
            sample -> sample.stats.refused())
        .counter("fibry.topic.dropped", MESSAGES, "Delivered messages that full mailboxes of subscribers have dropped",
            sample -> sample.stats.dropped())
        .level("fibry.topic.subscribers", "{subscriber}", "Open subscriptions", sample -> sample.stats.subscribers())
        .counters("fibry.topic.subscriber.delivered", DELIVERIES, "Deliveries that this subscriber has accepted",
            (sample, counter) -> sample.record(counter, SubscriberStats::delivered))
        .counters("fibry.topic.subscriber.refused", DELIVERIES, "Deliveries that this subscriber has refused",
            (sample, counter) -> sample.record(counter, SubscriberStats::refused))
        .counters("fibry.topic.subscriber.dropped", MESSAGES,
            "Delivered messages that the full mailbox of this subscriber dropped",
            (sample, counter) -> sample.record(counter, SubscriberStats::dropped))
        .register());
  }

  /**
   * A topic at one moment.
   *
   * @param attributes the attributes of the topic
   * @param subscribers the sums of the oldest subscriptions by their names
   */
  private record TopicReading(Attributes attributes, TopicStats stats, List<SubscriberStats> subscribers) {
    void record(ObservableLongMeasurement counter, ToLongFunction<SubscriberStats> count) {
      for (var subscriber : subscribers)
        counter.record(count.applyAsLong(subscriber),
            attributes.toBuilder().put("subscriber", subscriber.name()).build());
    }
  }

  /**
   * Adds a circuit breaker: {@code fibry.breaker.permitted}, {@code fibry.breaker.failed},
   * {@code fibry.breaker.refused} and {@code fibry.breaker.open}.
   *
   * @param name the attribute {@code breaker}
   * @param breaker the breaker
   * @return this object
   */
  public OpenTelemetryMetrics addBreaker(String name, CircuitBreaker breaker) {
    return add(sampled(attributesWith("breaker", name), () -> new BreakerReading(breaker.stats(), breaker.state()))
        .counter("fibry.breaker.permitted", "{call}", "Calls that have begun", sample -> sample.stats.permitted())
        .counter("fibry.breaker.failed", "{call}", "Calls that have failed", sample -> sample.stats.failed())
        .counter("fibry.breaker.refused", "{call}", "Calls that the breaker has refused",
            sample -> sample.stats.refused())
        .flag("fibry.breaker.open", "1: the breaker is open or half open, and refuses calls",
            sample -> sample.state != CircuitBreaker.State.CLOSED)
        .register());
  }

  /** A circuit breaker at one moment. */
  private record BreakerReading(BreakerStats stats, CircuitBreaker.State state) {}

  /**
   * Adds the JDK's scheduler of virtual threads: {@code fibry.scheduler.parallelism},
   * {@code fibry.scheduler.carriers}, {@code fibry.scheduler.mounted} and
   * {@code fibry.scheduler.queued}. Needs Java 24 or newer, and the module {@code jdk.management};
   * otherwise nothing is added. The threads of {@code fibry-carriers} are not counted.
   *
   * @return this object
   */
  public OpenTelemetryMetrics addScheduler() {
    return addScheduler(SCHEDULER);
  }

  OpenTelemetryMetrics addScheduler(String bean) {
    if (readBean(bean).isEmpty()) return this;
    var scheduler = sampled(attributes, () -> readBean(bean));
    BiConsumer<String, String> adder = (suffix, description) -> scheduler.levels("fibry.scheduler." + suffix,
        "{thread}", description, (values, level) -> {
          var value = values.get(suffix);
          if (value != null) level.record(value, attributes);
        });
    adder.accept("parallelism", "Carriers that may run virtual threads at once");
    adder.accept("carriers", "Carriers that exist, also the blocked carriers");
    adder.accept("mounted", "Virtual threads that run on a carrier");
    adder.accept("queued", "Virtual threads that wait for a carrier");
    return add(scheduler.register());
  }

  /** Returns the known values of the bean; empty if there is no such bean. */
  private static Map<String, Long> readBean(String bean) {
    var attributeNames = Map.of("parallelism", "Parallelism", "carriers", "PoolSize", "mounted",
        "MountedVirtualThreadCount", "queued", "QueuedVirtualThreadCount");
    var values = new HashMap<String, Long>();
    attributeNames.forEach((suffix, attribute) -> {
      try {
        if (ManagementFactory.getPlatformMBeanServer()
            .getAttribute(new ObjectName(bean), attribute) instanceof Number number && number.longValue() >= 0)
          values.put(suffix, number.longValue());
      } catch (JMException | RuntimeException unknown) { // an older JVM, or a scheduler without such a count
      }
    });
    return values;
  }

  static double seconds(Duration duration) {
    return duration.toNanos() / 1e9;
  }

  /** Removes the metrics. The SDK keeps the durations of HTTP exchanges that were recorded. */
  @Override
  public synchronized void close() {
    for (var registration : registrations) {
      try {
        registration.close();
      } catch (Exception impossible) { // neither a callback nor a listener throws at its removal
        throw new AssertionError(impossible);
      }
    }
    registrations.clear();
  }
}
