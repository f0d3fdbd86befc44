package io.fibry.bench.others;

import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.persistence.typed.PersistenceId;
import org.apache.pekko.persistence.typed.javadsl.CommandHandlerWithReply;
import org.apache.pekko.persistence.typed.javadsl.EventHandler;
import org.apache.pekko.persistence.typed.javadsl.EventSourcedBehaviorWithEnforcedReplies;

/** The program for Pekko Persistence that docs/coming-from.md shows. */
class Account extends EventSourcedBehaviorWithEnforcedReplies<Account.Deposit, Account.Deposited, Long> {
  record Deposit(long cents, ActorRef<Long> replyTo) {}
  record Deposited(long cents) {}

  private Account(String key) {
    super(PersistenceId.of("account", key));
  }

  @Override
  public Long emptyState() {
    return 0L;
  }

  @Override
  public CommandHandlerWithReply<Deposit, Deposited, Long> commandHandler() {
    return newCommandHandlerWithReplyBuilder().forAnyState()
        .onCommand(Deposit.class, deposit -> Effect().persist(new Deposited(deposit.cents()))
            .thenReply(deposit.replyTo(), cents -> cents))
        .build();
  }

  @Override
  public EventHandler<Long, Deposited> eventHandler() {
    return newEventHandlerBuilder().forAnyState()
        .onEvent(Deposited.class, (cents, event) -> cents + event.cents()).build();
  }

  public static void main(String[] args) {
    var config = ConfigFactory.parseString("pekko.persistence.journal.plugin = pekko.persistence.journal.inmem")
        .withFallback(ConfigFactory.load());
    ActorSystem<Deposit> ada = ActorSystem.create(Behaviors.setup(context -> new Account("ada")), "bank", config);
    long cents = AskPattern.ask(ada, (ActorRef<Long> replyTo) -> new Deposit(500, replyTo), Duration.ofMinutes(1),
        ada.scheduler()).toCompletableFuture().join();
    System.out.println(cents); // prints 500
    ada.terminate();
  }
}
