package io.fibry.bench.others;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/** The program for Pekko that docs/coming-from.md shows. */
class Visits extends AbstractBehavior<Visits.Message> {
  sealed interface Message {}
  record Visit(String page) implements Message {}
  record Count(String page, ActorRef<Integer> replyTo) implements Message {}

  private final Map<String, Integer> visits = new HashMap<>();

  private Visits(ActorContext<Message> context) {
    super(context);
  }

  @Override
  public Receive<Message> createReceive() {
    return newReceiveBuilder().onMessage(Visit.class, this::visit).onMessage(Count.class, this::count).build();
  }

  private Behavior<Message> visit(Visit visit) {
    visits.merge(visit.page(), 1, Integer::sum);
    return this;
  }

  private Behavior<Message> count(Count count) {
    count.replyTo().tell(visits.getOrDefault(count.page(), 0));
    return this;
  }

  public static void main(String[] args) {
    ActorSystem<Message> visits = ActorSystem.create(Behaviors.setup(Visits::new), "visits");
    visits.tell(new Visit("home"));
    int count = AskPattern.ask(visits, (ActorRef<Integer> replyTo) -> new Count("home", replyTo), Duration.ofMinutes(1),
        visits.scheduler()).toCompletableFuture().join();
    System.out.println(count); // prints 1
    visits.terminate();
  }
}
