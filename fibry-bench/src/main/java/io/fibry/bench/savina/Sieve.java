package io.fibry.bench.savina;

import io.fibry.ActorBuilder;
import io.fibry.bench.savina.SavinaProgram.ProgramSide;
import java.util.concurrent.LinkedTransferQueue;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Odd numbers pass a chain of filters. A filter holds primes, and drops multiples of them. If the
 * last filter is full, the next prime gets a new filter. Size in Savina: numbers to 100,000, and
 * filters of 1,000 primes.
 */
final class Sieve {
  private Sieve() {}

  static SavinaProgram program(int maxNumber, int capacity) {
    return SavinaProgram.of("sieve",
        "primes to " + SavinaProgram.size(maxNumber, "in filters of ") + SavinaProgram.size(capacity, "each"),
        countPrimes(maxNumber),
        new ProgramSide("fibry", round -> fibry(Round.FIBERS, maxNumber, capacity, round)),
        new ProgramSide("fibry-pool", round -> fibry(Round.POOL, maxNumber, capacity, round)),
        new ProgramSide("pekko", round -> pekko(maxNumber, capacity, round)),
        new ProgramSide("queues", round -> queues(maxNumber, capacity, round)));
  }

  private static int countPrimes(int maxNumber) {
    var composite = new boolean[maxNumber + 1];
    int count = 0;
    for (int n = 2; n <= maxNumber; n++) {
      if (composite[n]) continue;
      count++;
      for (long multiple = (long) n * n; multiple <= maxNumber; multiple += n) composite[(int) multiple] = true;
    }
    return count;
  }

  private sealed interface Message {
    record Candidate(int number) implements Message {}

    record End(int primes) implements Message {}
  }

  /** A filter, which all sides use. */
  private static final class Filter {
    private final int[] primes;
    private final Round round;
    private final Function<Filter, Consumer<Message>> starter;
    private int primeCount;
    private Consumer<Message> next; // null for the last filter

    private Filter(int prime, int capacity, Round round, Function<Filter, Consumer<Message>> starter) {
      this.primes = new int[capacity];
      this.round = round;
      this.starter = starter;
      primes[primeCount++] = prime;
    }

    void handle(Message message) {
      switch (message) {
        case Message.Candidate candidate -> sift(candidate);
        case Message.End end -> {
          if (next == null) round.setResult(end.primes + primeCount);
          else next.accept(new Message.End(end.primes + primeCount));
        }
      }
    }

    private void sift(Message.Candidate candidate) {
      for (int i = 0; i < primeCount; i++) if (candidate.number % primes[i] == 0) return;
      if (next != null) next.accept(candidate);
      else if (primeCount < primes.length) primes[primeCount++] = candidate.number;
      else next = starter.apply(new Filter(candidate.number, primes.length, round, starter));
    }
  }

  private static void produce(int maxNumber, Consumer<Message> firstFilter) {
    for (int number = 3; number <= maxNumber; number += 2) firstFilter.accept(new Message.Candidate(number));
    firstFilter.accept(new Message.End(0));
  }

  private static void fibry(ActorBuilder<Object> actors, int maxNumber, int capacity, Round round) {
    Function<Filter, Consumer<Message>> starter = filter -> actors.newActor(filter::handle)::sendMessage;
    produce(maxNumber, starter.apply(new Filter(2, capacity, round, starter)));
  }

  private static void pekko(int maxNumber, int capacity, Round round) {
    round.spawn(Behaviors.setup(context -> {
      produce(maxNumber, spawn(context, 2, capacity, round)::tell);
      return Behaviors.empty();
    }));
  }

  private static ActorRef<Message> spawn(ActorContext<?> parent, int prime, int capacity, Round round) {
    return parent.spawnAnonymous(Behaviors.<Message>setup(
        context -> filterBehavior(
            new Filter(prime, capacity, round,
                nextFilter -> spawn(context, nextFilter.primes[0], capacity, round)::tell))));
  }

  private static Behavior<Message> filterBehavior(Filter filter) {
    return Behaviors.receiveMessage(message -> {
      filter.handle(message);
      return Behaviors.same();
    });
  }

  private static void queues(int maxNumber, int capacity, Round round) {
    Function<Filter, Consumer<Message>> starter = filter -> {
      var queue = new LinkedTransferQueue<Message>();
      round.serve(queue, filter::handle);
      return queue::add;
    };
    produce(maxNumber, starter.apply(new Filter(2, capacity, round, starter)));
  }
}
