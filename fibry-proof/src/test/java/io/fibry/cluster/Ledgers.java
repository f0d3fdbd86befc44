package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import io.fibry.durable.Idempotent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The actors of a node: entities without a store, durable entities with a ledger each, and an actor
 * with a name. Thread-safe.
 */
record Ledgers(String node, History history) {
  sealed interface Message {}
  record Add(long id) implements Message, Request<Add, Long> {}
  record AddOnce(String idempotencyKey, long id) implements Message, Idempotent, Request<AddOnce, Long> {}
  record Tell(long id) implements Message {}
  record Move(long id, String to, long other) implements Message, Request<Move, Long> {}
  record Remind(long id, long other) implements Message, Request<Remind, Long> {}
  record Read() implements Message, Request<Read, Long> {}
  record All() implements Message, Request<All, Ledger> {}
  record Ledger(List<Long> ids) {
    Ledger with(long id) {
      var newIds = new ArrayList<>(ids);
      newIds.add(id);
      return new Ledger(newIds);
    }
  }

  static final Durable<Message> LEDGER = Durable.kind("kept", Message.class).storeMessages(1_000)
      .state(new Ledger(List.of())).handler(Ledgers::handleDurable);
  static final Duration REMINDER_DELAY = Duration.ofSeconds(3);
  // Short, so that actors are also passivated and loaded again
  private static final Duration IDLE = Duration.ofSeconds(2);

  void host(Cluster cluster, ActorScope scope) {
    cluster.host("plain", Message.class, scope.anonymous(), IDLE, this::create);
    cluster.host(LEDGER, scope.anonymous(), IDLE);
    Actor<Message> actor = scope.anonymous()
        .newActor((Message message, ActorContext<Message> context) -> handle("named", message, context));
    cluster.expose("named", Message.class, actor);
  }

  private Actor<Message> create(ActorBuilder<Object> builder, String key) {
    history.entityActivated(key, node);
    return builder.initialState(() -> key).onStop(state -> history.entityEnded(key, node)).newActor(
        (String state, Message message, ActorContext<Message> context) -> handle(key, message, context));
  }

  private void handle(String key, Message message, ActorContext<Message> context) {
    switch (message) {
      case Add add -> {
        history.handled(key, add.id);
        context.reply(add, 1L);
      }
      case Tell tell -> history.handled(key, tell.id);
      case Read read -> context.reply(read, 0L);
      default -> throw new IllegalStateException(message + " is not for these actors");
    }
  }

  private static Ledger handleDurable(Ledger ledger, Message message, DurableContext<Message> context) {
    return switch (message) {
      case Add add -> {
        context.reply(add, ledger.ids.size() + 1L);
        yield ledger.with(add.id);
      }
      case AddOnce add -> {
        context.reply(add, ledger.ids.size() + 1L);
        yield ledger.with(add.id);
      }
      case Tell tell -> ledger.with(tell.id);
      case Move move -> {
        context.sendMessage(LEDGER, move.to, new Tell(move.other));
        context.reply(move, ledger.ids.size() + 1L);
        yield ledger.with(move.id);
      }
      case Remind remind -> {
        context.setReminder("of " + remind.id, new Tell(remind.other), REMINDER_DELAY);
        context.reply(remind, ledger.ids.size() + 1L);
        yield ledger.with(remind.id);
      }
      case Read read -> {
        context.reply(read, (long) ledger.ids.size());
        yield ledger;
      }
      case All request -> {
        context.reply(request, ledger);
        yield ledger;
      }
    };
  }
}
