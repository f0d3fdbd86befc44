package io.fibry.cluster.remote;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ExitReason;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.membership.InternalActors;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.pubsub.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Watches the exit of an actor that nodes offer by a name. The actor has exited when no node offers
 * the name any more. The entries of nodes list their offers. Until an entry with the name has
 * arrived, the watch also sends queries to the subject of the name, because the entry may be late.
 * Fields are used by the thread of the watch's actor.
 */
public final class RemoteExitWatch {
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(2); // of a query; also the pause between queries

  private record MembersChanged(List<Member> members) {}

  private record ExitQuery() {}

  private record ExitQueryResult(Optional<Throwable> failure) {}

  private final String name;
  private final NodeContext nodeContext;
  private final CompletableFuture<ExitReason> exitFuture = new CompletableFuture<>();
  private Optional<Member> lastOwner = Optional.empty(); // offers the name, or was the last to offer it

  private RemoteExitWatch(String name, NodeContext nodeContext) {
    this.name = name;
    this.nodeContext = nodeContext;
  }

  /** Returns the exit of the actor; it is completed on a thread of the node. */
  public static CompletableFuture<ExitReason> of(String name, NodeContext nodeContext) {
    var watch = new RemoteExitWatch(name, nodeContext);
    watch.onMembers(nodeContext.membership().members()); // an offer may end before the subscription begins
    Actor<Object> actor = InternalActors.newEventBuilder(nodeContext.scope()).newActor(watch::handle);
    actor.closeOnExit(() -> watch.exitFuture.complete(noReceiver("this node has left its app")));
    Subscription subscription =
        nodeContext.membership().onEachChange(members -> actor.sendMessage(new MembersChanged(members)));
    watch.exitFuture.thenRun(() -> {
      subscription.close();
      actor.sendPoisonPill();
    });
    actor.sendMessage(new ExitQuery());
    return watch.exitFuture;
  }

  private static ExitReason noReceiver(String text) {
    return new ExitReason.Failed(new TransportException(Failure.NO_RECEIVER, text));
  }

  private void handle(Object message, ActorContext<Object> context) {
    switch (message) {
      case MembersChanged change -> onMembers(change.members);
      case ExitQuery query -> {
        if (lastOwner.isEmpty()) queryOwner(context.self());
      }
      case ExitQueryResult result -> {
        if (lastOwner.isPresent()) break;
        if (result.failure
            .filter(failure -> failure instanceof TransportException loss && loss.failure() == Failure.NO_RECEIVER)
            .isPresent())
          exitFuture.complete(noReceiver("no node offers an actor '" + name + "'"));
        else context.self().sendMessageLater(new ExitQuery(), ANSWER_TIMEOUT);
      }
      default -> throw new AssertionError(message);
    }
  }

  private void onMembers(List<Member> members) {
    var owner = members.stream().filter(member -> member.offers().contains(name)).findFirst();
    if (owner.isPresent()) lastOwner = owner;
    else lastOwner.ifPresent(previousOwner -> exitFuture.complete(exitReason(members, previousOwner)));
  }

  private ExitReason exitReason(List<Member> members, Member previousOwner) {
    if (members.stream().noneMatch(member -> member.id().equals(previousOwner.id())))
      return noReceiver("node '" + previousOwner.name() + "', which had actor '" + name + "', is dead or has left");
    return nodeContext.membership().endReason(previousOwner.name(), name).map(ReplyCodec::reason)
        .orElseGet(ExitReason.Stopped::new);
  }

  /** Asks whether a node offers the name although its entry has not arrived yet. */
  private void queryOwner(Actor<Object> self) {
    var question =
        WireMessage.oneWay(nodeContext.subjects().ofActor(name), Map.of(Destination.PRESENCE_QUERY, ""), new byte[0]);
    nodeContext.transport().request(question, ANSWER_TIMEOUT)
        .whenComplete((answer, failure) -> self.sendMessage(new ExitQueryResult(Optional.ofNullable(failure))));
  }
}
