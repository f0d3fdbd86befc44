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
 * Odd numbers pass a chain of filters, each with a number of primes; a full chain gets another
 * filter. Savina: to 100,000, filters of 1,000.
 */
final class Sieve {
  private Sieve() {}

  static SavinaProgram program(int most, int room) {
    return SavinaProgram.of("sieve",
        "primes to " + SavinaProgram.size(most, "in filters of ") + SavinaProgram.size(room, "each"),
        primes(most),
        new ProgramSide("fibry", round -> fibry(Round.FIBERS, most, room, round)),
        new ProgramSide("fibry-pool", round -> fibry(Round.POOL, most, room, round)),
        new ProgramSide("pekko", round -> pekko(most, room, round)),
        new ProgramSide("queues", round -> queues(most, room, round)));
  }

  private static int primes(int most) {
    var composite = new boolean[most + 1];
    int count = 0;
    for (int n = 2; n <= most; n++) {
      if (composite[n]) continue;
      count++;
      for (long multiple = (long) n * n; multiple <= most; multiple += n) composite[(int) multiple] = true;
    }
    return count;
  }

  private sealed interface Message {
    record Candidate(int number) implements Message {}

    record End(int primes) implements Message {}
  }

  /** A filter; the same on all sides. */
  private static final class Filter {
    private final int[] primes;
    private final Round round;
    private final Function<Filter, Consumer<Message>> make;
    private int known;
    private Consumer<Message> next; // null for the last filter

    private Filter(int prime, int room, Round round, Function<Filter, Consumer<Message>> make) {
      this.primes = new int[room];
      this.round = round;
      this.make = make;
      primes[known++] = prime;
    }

    void handle(Message message) {
      switch (message) {
        case Message.Candidate candidate -> sift(candidate);
        case Message.End end -> {
          if (next == null) round.done(end.primes + known);
          else next.accept(new Message.End(end.primes + known));
        }
      }
    }

    private void sift(Message.Candidate candidate) {
      for (int i = 0; i < known; i++) if (candidate.number % primes[i] == 0) return;
      if (next != null) next.accept(candidate);
      else if (known < primes.length) primes[known++] = candidate.number;
      else next = make.apply(new Filter(candidate.number, primes.length, round, make));
    }
  }

  private static void produce(int most, Consumer<Message> first) {
    for (int number = 3; number <= most; number += 2) first.accept(new Message.Candidate(number));
    first.accept(new Message.End(0));
  }

  private static void fibry(ActorBuilder<Object> actors, int most, int room, Round round) {
    Function<Filter, Consumer<Message>> make = filter -> actors.newActor(filter::handle)::sendMessage;
    produce(most, make.apply(new Filter(2, room, round, make)));
  }

  private static void pekko(int most, int room, Round round) {
    round.pekko(Behaviors.setup(context -> {
      produce(most, spawn(context, 2, room, round)::tell);
      return Behaviors.empty();
    }));
  }

  private static ActorRef<Message> spawn(ActorContext<?> parent, int prime, int room, Round round) {
    return parent.spawnAnonymous(Behaviors.<Message>setup(
        context -> filter(new Filter(prime, room, round, next -> spawn(context, next.primes[0], room, round)::tell))));
  }

  private static Behavior<Message> filter(Filter filter) {
    return Behaviors.receiveMessage(message -> {
      filter.handle(message);
      return Behaviors.same();
    });
  }

  private static void queues(int most, int room, Round round) {
    Function<Filter, Consumer<Message>> make = filter -> {
      var queue = new LinkedTransferQueue<Message>();
      round.serve(queue, filter::handle);
      return queue::add;
    };
    produce(most, make.apply(new Filter(2, room, round, make)));
  }
}
