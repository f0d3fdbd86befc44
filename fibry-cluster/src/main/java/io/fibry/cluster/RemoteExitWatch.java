package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ExitReason;
import io.fibry.cluster.Cluster.Member;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pubsub.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * That no node offers a name any more: the end of an actor, as those know it who are on other
 * nodes. Members say what they offer. Until an entry with the name has been seen, it asks for the
 * name itself, because news may not have arrived. Fields are of its actor.
 */
final class RemoteExitWatch {
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(2); // with an answer, and with news

  private record MembersChanged(List<Member> members) {}

  private record ExitQuery() {}

  private record ExitQueryResult(Optional<Throwable> failure) {}

  private final String name;
  private final NodeContext nodeContext;
  private final CompletableFuture<ExitReason> exitFuture = new CompletableFuture<>();
  private Optional<Member> lastOwner = Optional.empty(); // that offers it, or was the last one to do so

  private RemoteExitWatch(String name, NodeContext nodeContext) {
    this.name = name;
    this.nodeContext = nodeContext;
  }

  /** Completed on a thread of the node. */
  static CompletableFuture<ExitReason> of(String name, NodeContext nodeContext) {
    var absence = new RemoteExitWatch(name, nodeContext);
    absence.onMembers(nodeContext.membership().members()); // before it ends, which may be soon
    Actor<Object> actor = nodeContext.newInternalBuilder().newActor(absence::handle);
    actor.closeOnExit(() -> absence.exitFuture.complete(connectionLost("this node has left its app")));
    Subscription news =
        nodeContext.membership().onEachChange(members -> actor.sendMessage(new MembersChanged(members)));
    absence.exitFuture.thenRun(() -> {
      news.close();
      actor.sendPoisonPill();
    });
    actor.sendMessage(new ExitQuery());
    return absence.exitFuture;
  }

  private static ExitReason connectionLost(String why) {
    return new ExitReason.Failed(new TransportException(Failure.NO_RECEIVER, why));
  }

  private void handle(Object message, ActorContext<Object> context) {
    switch (message) {
      case MembersChanged news -> onMembers(news.members);
      case ExitQuery ask -> {
        if (lastOwner.isEmpty()) queryOwner(context.self());
      }
      case ExitQueryResult answer -> {
        if (lastOwner.isPresent()) break;
        if (answer.failure
            .filter(one -> one instanceof TransportException lost && lost.failure() == Failure.NO_RECEIVER).isPresent())
          exitFuture.complete(connectionLost("no node offers an actor '" + name + "'"));
        else context.self().sendMessageLater(new ExitQuery(), ANSWER_TIMEOUT);
      }
      default -> throw new AssertionError(message);
    }
  }

  private void onMembers(List<Member> members) {
    var offering = members.stream().filter(one -> one.offers().contains(name)).findFirst();
    if (offering.isPresent()) lastOwner = offering;
    else lastOwner.ifPresent(before -> exitFuture.complete(exitReason(members, before)));
  }

  private ExitReason exitReason(List<Member> members, Member before) {
    if (members.stream().noneMatch(one -> one.id().equals(before.id())))
      return connectionLost("node '" + before.name() + "', which had actor '" + name + "', is gone");
    return nodeContext.membership().endedOffers(before.name(), name).map(ReplyCodec::reason)
        .orElseGet(ExitReason.Stopped::new);
  }

  /** A node offers the name, though no news of that has come. */
  private void queryOwner(Actor<Object> self) {
    var question = WireMessage.to(nodeContext.subjects().ofName(name), Map.of(Route.PRESENCE, ""), new byte[0]);
    nodeContext.engine().request(question, ANSWER_TIMEOUT)
        .whenComplete((answer, failure) -> self.sendMessage(new ExitQueryResult(Optional.ofNullable(failure))));
  }
}
