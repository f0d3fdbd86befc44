package io.fibry.bench.durable;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import java.util.concurrent.atomic.AtomicLong;

/** Actors that count their messages: durable actors, and an actor in memory. */
final class CountingActors {
  record Count() implements Request<Count, Long> {}

  sealed interface KeeperMessage {}
  record Add() implements KeeperMessage {}
  record Read() implements KeeperMessage, Request<Read, Long> {}

  static final Durable<Count> COUNTER = Durable.kind("counter", Count.class).state(0L).handler(CountingActors::count);
  static final Durable<Count> ONE_BY_ONE =
      Durable.kind("one-by-one", Count.class).maxUnstoredTurns(1).state(0L).handler(CountingActors::count);
  static final Durable<KeeperMessage> KEEPER =
      Durable.kind("keeper", KeeperMessage.class).storeMessages(1_000).state(0L).handler(CountingActors::countStored);

  private CountingActors() {}

  private static Long count(Long count, Count message, DurableContext<Count> context) {
    context.reply(message, count + 1);
    return count + 1;
  }

  private static Long countStored(Long count, KeeperMessage message, DurableContext<KeeperMessage> context) {
    return switch (message) {
      case Add add -> count + 1;
      case Read read -> {
        context.reply(read, count);
        yield count;
      }
    };
  }

  static Actor<Count> inMemory(ActorBuilder<Object> builder) {
    return builder.initialState(AtomicLong::new)
        .newActor((AtomicLong count, Count message, ActorContext<Count> context) -> context.reply(message,
            count.incrementAndGet()));
  }

  /** Sends to an actor that stores its messages first. Used by one thread at a time. */
  static final class Sender {
    private final Actor<KeeperMessage> keeper;
    private long sent;

    Sender(Actor<KeeperMessage> keeper) {
      this.keeper = keeper;
    }

    /**
     * Sends messages until {@code deadline}, a time of {@link System#nanoTime}, and waits until all
     * messages are handled and stored. Returns how many messages it sent.
     */
    long send(long deadline) {
      long sentBefore = sent;
      do {
        if (!keeper.sendMessage(new Add())) throw new IllegalStateException("the actor refused a message");
        sent++;
      } while (System.nanoTime() < deadline);
      while (keeper.ask(new Read()) < sent) Thread.yield(); // the request may overtake stored messages
      return sent - sentBefore;
    }
  }
}
