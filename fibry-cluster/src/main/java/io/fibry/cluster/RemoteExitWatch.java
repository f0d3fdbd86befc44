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
  private static final Duration PATIENCE = Duration.ofSeconds(2); // with an answer, and with news

  private record MembersChanged(List<Member> members) {}

  private record ExitQuery() {}

  private record ExitQueryResult(Optional<Throwable> failure) {}

  private final String name;
  private final NodeContext around;
  private final CompletableFuture<ExitReason> end = new CompletableFuture<>();
  private Optional<Member> last = Optional.empty(); // that offers it, or was the last one to do so

  private RemoteExitWatch(String name, NodeContext around) {
    this.name = name;
    this.around = around;
  }

  /** Completed on a thread of the node. */
  static CompletableFuture<ExitReason> of(String name, NodeContext around) {
    var absence = new RemoteExitWatch(name, around);
    absence.learn(around.membership().now()); // before it ends, which may be soon
    Actor<Object> actor = around.own().newActor(absence::handle);
    actor.closeOnExit(() -> absence.end.complete(lost("this node has left its app")));
    Subscription news = around.membership().followEach(members -> actor.sendMessage(new MembersChanged(members)));
    absence.end.thenRun(() -> {
      news.close();
      actor.sendPoisonPill();
    });
    actor.sendMessage(new ExitQuery());
    return absence.end;
  }

  private static ExitReason lost(String why) {
    return new ExitReason.Failed(new TransportException(Failure.NO_RECEIVER, why));
  }

  private void handle(Object message, ActorContext<Object> context) {
    switch (message) {
      case MembersChanged news -> learn(news.members);
      case ExitQuery ask -> {
        if (last.isEmpty()) ask(context.self());
      }
      case ExitQueryResult answer -> {
        if (last.isPresent()) break;
        if (answer.failure
            .filter(one -> one instanceof TransportException lost && lost.failure() == Failure.NO_RECEIVER).isPresent())
          end.complete(lost("no node offers an actor '" + name + "'"));
        else context.self().sendMessageLater(new ExitQuery(), PATIENCE);
      }
      default -> throw new AssertionError(message);
    }
  }

  private void learn(List<Member> members) {
    var offering = members.stream().filter(one -> one.offers().contains(name)).findFirst();
    if (offering.isPresent()) last = offering;
    else last.ifPresent(before -> end.complete(why(members, before)));
  }

  private ExitReason why(List<Member> members, Member before) {
    if (members.stream().noneMatch(one -> one.id().equals(before.id())))
      return lost("node '" + before.name() + "', which had actor '" + name + "', is gone");
    return around.membership().ended(before.name(), name).map(ReplyCodec::reason).orElseGet(ExitReason.Stopped::new);
  }

  /** A node offers the name, though no news of that has come. */
  private void ask(Actor<Object> self) {
    var question = WireMessage.to(around.subjects().ofName(name), Map.of(Route.THERE, ""), new byte[0]);
    around.engine().request(question, PATIENCE)
        .whenComplete((answer, failure) -> self.sendMessage(new ExitQueryResult(Optional.ofNullable(failure))));
  }
}
