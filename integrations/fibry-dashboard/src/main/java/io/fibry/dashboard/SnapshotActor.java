package io.fibry.dashboard;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.Request;
import io.fibry.pubsub.Topic;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Optional;

/**
 * An actor that takes snapshots of a scope: on request, and once a second while viewers are
 * connected. All viewers get the same text. Only the actor uses the fields.
 */
final class SnapshotActor {
  private static final Duration PERIOD = Duration.ofSeconds(1);
  private static final long CACHE_NANOS = PERIOD.toNanos() / 2;

  sealed interface SnapshotMessage {}

  /**
   * Asks for a snapshot as JSON. If the filter is empty, the reply describes the whole scope;
   * otherwise only the matching actors.
   */
  record SnapshotRequest(String filter) implements SnapshotMessage, Request<SnapshotRequest, String> {}

  /** Asks for an actor with the stack of its handler, as JSON. */
  record ActorRequest(String scopeNames, String name) implements SnapshotMessage, Request<ActorRequest, String> {}

  record ViewerJoined(Actor<String> viewer) implements SnapshotMessage {}

  enum SnapshotSignal implements SnapshotMessage {
    TICK, VIEWER_LEFT
  }

  private final ActorScope scope;
  private final DashboardOptions options;
  private final Scheduler clock;
  private final Topic<String> topic;
  private int viewers;
  private Optional<ScopeSnapshot> lastSnapshot = Optional.empty();

  private SnapshotActor(ActorScope scope, DashboardOptions options, Scheduler clock, Topic<String> topic) {
    this.scope = scope;
    this.options = options;
    this.clock = clock;
    this.topic = topic;
  }

  static Actor<SnapshotMessage> start(ActorScope ownScope, ActorScope scope, DashboardOptions options,
      Scheduler clock) {
    var pulse = new SnapshotActor(scope, options, clock, Topic.open(ownScope.named("viewers")));
    return ownScope.named("pulse").newActor(pulse::handle);
  }

  private void handle(SnapshotMessage message, ActorContext<SnapshotMessage> context) {
    switch (message) {
      case SnapshotRequest request -> context.reply(request,
          request.filter.isEmpty() ? snapshot().fullJson() : snapshot().filteredJson(request.filter));
      case ActorRequest request -> context.reply(request, snapshot().actorJson(request.scopeNames, request.name));
      case ViewerJoined(var viewer) -> join(viewer, context);
      case SnapshotSignal.TICK -> tick(context);
      case SnapshotSignal.VIEWER_LEFT -> viewers--;
    }
  }

  private void join(Actor<String> viewer, ActorContext<SnapshotMessage> context) {
    context.watch(viewer, reason -> SnapshotSignal.VIEWER_LEFT);
    topic.subscribe(viewer);
    if (viewers++ == 0) scheduleTick(context);
    viewer.sendMessage(snapshot().fullJson());
  }

  private void tick(ActorContext<SnapshotMessage> context) {
    if (viewers == 0) return;
    scheduleTick(context);
    topic.publish(snapshot().fullJson());
  }

  /**
   * Schedules the next tick under the key {@code TICK}, so that it replaces a tick that is already
   * scheduled.
   */
  private static void scheduleTick(ActorContext<SnapshotMessage> context) {
    context.self().sendMessageLater(SnapshotSignal.TICK, SnapshotSignal.TICK, PERIOD);
  }

  private ScopeSnapshot snapshot() {
    long now = clock.nanoTime();
    if (lastSnapshot.isEmpty() || now - lastSnapshot.get().nanos() >= CACHE_NANOS)
      lastSnapshot = Optional.of(ScopeSnapshot.take(scope, now, options, lastSnapshot));
    return lastSnapshot.get();
  }
}
