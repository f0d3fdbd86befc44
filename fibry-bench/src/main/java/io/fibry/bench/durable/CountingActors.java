package io.fibry.bench.durable;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import java.util.concurrent.atomic.AtomicLong;

/** Actors that count, durable ones and one in memory. */
final class CountingActors {
  record Count() implements Request<Count, Long> {}

  sealed interface Kept {}
  record Add() implements Kept {}
  record Read() implements Kept, Request<Read, Long> {}

  static final Durable<Count> COUNTER = Durable.kind("counter", Count.class).state(0L).handler(CountingActors::count);
  static final Durable<Count> ONE_BY_ONE =
      Durable.kind("one-by-one", Count.class).maxUnstoredTurns(1).state(0L).handler(CountingActors::count);
  static final Durable<Kept> KEEPER =
      Durable.kind("keeper", Kept.class).storeMessages(1_000).state(0L).handler(CountingActors::keep);

  private CountingActors() {}

  private static Long count(Long n, Count message, DurableContext<Count> context) {
    context.reply(message, n + 1);
    return n + 1;
  }

  private static Long keep(Long n, Kept message, DurableContext<Kept> context) {
    return switch (message) {
      case Add add -> n + 1;
      case Read read -> {
        context.reply(read, n);
        yield n;
      }
    };
  }

  static Actor<Count> inMemory(ActorBuilder<Object> builder) {
    return builder.initialState(AtomicLong::new)
        .newActor((AtomicLong n, Count message, ActorContext<Count> context) -> context.reply(message,
            n.incrementAndGet()));
  }

  /** Sends to an actor that keeps messages. Used by one thread at a time. */
  static final class Sender {
    private final Actor<Kept> keeper;
    private long sent;

    Sender(Actor<Kept> keeper) {
      this.keeper = keeper;
    }

    /** Until the time is over; then waits until all is handled and stored. Returns how many. */
    long send(long end) {
      long before = sent;
      do {
        if (!keeper.sendMessage(new Add())) throw new IllegalStateException("a message was not kept");
        sent++;
      } while (System.nanoTime() < end);
      while (keeper.ask(new Read()) < sent) Thread.yield(); // it may have overtaken some
      return sent - before;
    }
  }
}
