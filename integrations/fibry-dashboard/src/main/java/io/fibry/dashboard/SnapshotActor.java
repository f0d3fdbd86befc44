package io.fibry.dashboard;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.Request;
import io.fibry.pubsub.Topic;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.Optional;

/**
 * An actor that takes snapshots of a scope: on request, and once a second while viewers are
 * connected. All viewers get the same text. Without viewers it takes samples, from which the first
 * snapshot of a later viewer has its rates, waits and curves. A pause is 200 times as long as the
 * shortest of the last three samples, so samples use about a two-hundredth of one processor. The
 * length of a sample has the time for which the actor had no processor. So the shortest counts, and
 * a stall of the process or the machine does not let the next samples wait. No pause is longer than
 * half a minute, because marks and rates of the page are of the last minute. The last sample is
 * that of a closed scope without actors. Only the actor uses the fields.
 */
final class SnapshotActor {
  private static final Duration PERIOD = Duration.ofSeconds(1);
  static final Duration MIN_PAUSE = Duration.ofSeconds(10); // between two samples
  static final Duration MAX_PAUSE = Duration.ofSeconds(30); // so that each minute has two samples
  private static final int PAUSE_FACTOR = 200; // how many times as long as the shortest sample a pause is
  private static final int MEASURED_SAMPLES = 3; // the last samples, the shortest of which determines the pause
  private static final long MIN_DISTANCE_NANOS = PERIOD.toNanos() / 2; // between two snapshots that are compared

  sealed interface SnapshotMessage {}

  /**
   * Asks for a snapshot as JSON. If the filter is empty, the reply describes the whole scope;
   * otherwise only the matching actors.
   */
  record SnapshotRequest(String filter) implements SnapshotMessage, Request<SnapshotRequest, String> {}

  /** Asks for an actor with the stack of its handler, as JSON. */
  record ActorRequest(String scopeNames, String name) implements SnapshotMessage, Request<ActorRequest, String> {}

  /** Asks for the exchanges of a route at work and for its last failures, as JSON. */
  record RouteRequest(String panel, String route) implements SnapshotMessage, Request<RouteRequest, String> {}

  record ViewerJoined(Actor<String> viewer) implements SnapshotMessage {}

  enum SnapshotSignal implements SnapshotMessage {
    TICK, VIEWER_LEFT
  }

  private final ActorScope scope;
  private final DashboardOptions options;
  private final Scheduler clock;
  private final Topic<String> topic;
  private final ProcessPauses pauses;
  private final TotalsHistory history = new TotalsHistory();
  private final ActorHistories histories = new ActorHistories();
  private final RouteExchanges exchanges = new RouteExchanges();
  private final Deque<Long> sampleNanos = new ArrayDeque<>(); // how long the last samples took
  private int viewers;
  private Optional<ScopeSnapshot> lastSnapshot = Optional.empty();
  private Optional<ScopeSnapshot> comparedSnapshot = Optional.empty(); // the last snapshot was compared with it

  private SnapshotActor(ActorScope scope, DashboardOptions options, Scheduler clock, Topic<String> topic,
      ProcessPauses pauses) {
    this.scope = scope;
    this.options = options;
    this.clock = clock;
    this.topic = topic;
    this.pauses = pauses;
  }

  static Actor<SnapshotMessage> start(ActorScope ownScope, ActorScope scope, DashboardOptions options,
      Scheduler clock) {
    var pauses = new ProcessPauses(clock);
    var pulse = new SnapshotActor(scope, options, clock, Topic.open(ownScope.named("viewers")), pauses);
    var actor = ownScope.named("pulse").newActor(pulse::handle);
    var beats = pauses.start();
    actor.onExit().thenRun(beats::cancel);
    actor.sendMessage(SnapshotSignal.TICK);
    return actor;
  }

  private void handle(SnapshotMessage message, ActorContext<SnapshotMessage> context) {
    switch (message) {
      case SnapshotRequest request -> context.reply(request,
          request.filter.isEmpty() ? snapshot().fullJson() : snapshot().filteredJson(request.filter));
      case ActorRequest request -> context.reply(request,
          snapshot().actorJson(request.scopeNames, request.name, histories));
      case RouteRequest request -> context.reply(request, routeJson(request.panel, request.route));
      case ViewerJoined(var viewer) -> join(viewer, context);
      case SnapshotSignal.TICK -> tick(context);
      case SnapshotSignal.VIEWER_LEFT -> viewers--;
    }
  }

  private String routeJson(String panel, String route) {
    var snapshot = snapshot();
    return RoutesPanel.detailsJson(options.panels, panel, route, options.messageTexts,
        server -> JsonText.object("atWork", snapshot.exchangesAtWork(server, route), "seen",
            exchanges.seen(server, route, snapshot.nanos())));
  }

  private void join(Actor<String> viewer, ActorContext<SnapshotMessage> context) {
    context.watch(viewer, reason -> SnapshotSignal.VIEWER_LEFT);
    topic.subscribe(viewer);
    if (viewers++ == 0) scheduleTick(context, PERIOD);
    viewer.sendMessage(snapshot().fullJson(history));
  }

  private void tick(ActorContext<SnapshotMessage> context) {
    if (viewers > 0) {
      scheduleTick(context, PERIOD);
      topic.publish(snapshot().fullJson());
      return;
    }
    long start = clock.nanoTime();
    try {
      take(start, true);
    } finally {
      var pause = pauseAfter(clock.nanoTime() - start);
      if (lastSnapshot.filter(ScopeSnapshot::hasEnded).isEmpty()) scheduleTick(context, pause);
    }
  }

  private Duration pauseAfter(long nanos) {
    sampleNanos.add(nanos);
    if (sampleNanos.size() > MEASURED_SAMPLES) sampleNanos.removeFirst();
    return Duration.ofNanos(Math.clamp(PAUSE_FACTOR * Collections.min(sampleNanos), MIN_PAUSE.toNanos(),
        MAX_PAUSE.toNanos()));
  }

  /**
   * Schedules the next tick under the key {@code TICK}, so that it replaces a tick that is already
   * scheduled.
   */
  private static void scheduleTick(ActorContext<SnapshotMessage> context, Duration delay) {
    context.self().sendMessageLater(SnapshotSignal.TICK, SnapshotSignal.TICK, delay);
  }

  /** Returns a snapshot for a page, at most half a second old. */
  private ScopeSnapshot snapshot() {
    long now = clock.nanoTime();
    if (lastSnapshot.filter(snapshot -> !snapshot.isSample() && !isOld(snapshot, now)).isEmpty()) take(now, false);
    return lastSnapshot.orElseThrow();
  }

  private static boolean isOld(ScopeSnapshot snapshot, long now) {
    return now - snapshot.nanos() >= MIN_DISTANCE_NANOS;
  }

  /**
   * Takes a snapshot or sample. If the last sample is too new for a rate, the new snapshot replaces
   * it, and is compared with the snapshot before. But the first sample is never replaced, so that
   * all later failures are seen.
   */
  private void take(long now, boolean isSample) {
    if (lastSnapshot.isPresent() && (comparedSnapshot.isEmpty() || isOld(lastSnapshot.get(), now))) {
      comparedSnapshot = lastSnapshot;
      comparedSnapshot.get().forgetRows();
    }
    var snapshot = isSample ? ScopeSnapshot.sample(scope, now, options, comparedSnapshot, pauses)
        : ScopeSnapshot.take(scope, now, options, comparedSnapshot, pauses);
    lastSnapshot = Optional.of(snapshot);
    history.add(now, snapshot.report());
    histories.add(now, snapshot.problemRows());
    snapshot.addTo(exchanges);
  }
}
