package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.pubsub.Subscription;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/** A scope with an actor for each name that this node sends to or offers, and for its lease. */
final class Node implements Cluster {
  private final Engine engine;
  private final Options options;
  private final Subjects subjects;
  private final ActorScope scope;
  private final Membership membership;
  private final Map<String, Actor<Object>> relays = new ConcurrentHashMap<>(); // by name
  private final Map<String, Offer<?>> offers = new ConcurrentHashMap<>(); // likewise

  private Node(Engine engine, Options options, Subjects subjects, ActorScope scope, Membership membership) {
    this.engine = engine;
    this.options = options;
    this.subjects = subjects;
    this.scope = scope;
    this.membership = membership;
  }

  static Node join(String app, Network network, Options options) {
    Objects.requireNonNull(network, "network");
    var subjects = new Subjects(app);
    var engine = network.connect(app, options.node());
    ActorScope scope = null;
    Node joined = null;
    try {
      scope = options.scope().openScope(app + "-" + options.node(), own -> own.withAskLimit(options.askLimit()));
      joined = new Node(engine, options, subjects, scope, Membership.begin(scope, engine, subjects, options));
      return joined;
    } finally {
      if (joined == null) {
        if (scope != null) scope.close();
        engine.close();
      }
    }
  }

  @Override
  public Member self() {
    return membership.self();
  }

  @Override
  public List<Member> members() {
    return membership.all().value();
  }

  @Override
  public Subscription followMembers(Handler<List<Member>> follower) {
    return membership.all().subscribe(follower);
  }

  @Override
  public <M> Actor<M> actor(String name, Class<M> messages) {
    String subject = subjects.ofName(name);
    var protocol = Protocol.of(messages);
    var relay = relays.computeIfAbsent(name, none -> relay(name, subject));
    return new Far<>(name, protocol, relay, options.askLimit());
  }

  private Actor<Object> relay(String name, String subject) {
    return scope.anonymous().onFailure(FailurePolicy.goOn())
        .newActor(new Relay(engine, name, subject, options.askLimit())::handle);
  }

  @Override
  public <M> Exitable offer(String name, Class<M> messages, Actor<? super M> actor) {
    String subject = subjects.ofName(name);
    var protocol = Protocol.of(messages);
    Objects.requireNonNull(actor, "actor");
    var made = offers.compute(name, (same, before) -> {
      if (before != null && !before.onExit().isDone())
        throw new IllegalStateException(
            "node '" + options.node() + "' offers '" + name + "' already; close that offer");
      return Offer.begin(scope.anonymous(), engine, subject, name, protocol, actor);
    });
    return made;
  }

  @Override
  public void close() {
    offers.values().forEach(Offer::close);
    scope.close();
    engine.close();
  }

  @Override
  public String toString() {
    return "node '" + options.node() + "' of app '" + subjects.app() + "'";
  }
}
