package io.fibry.bench.savina;

import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.bench.savina.SavinaProgram.ProgramSide;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.LinkedTransferQueue;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** A producer sends increments to a counter, then asks for the count. Savina: 1,000,000. */
final class Counting {
  private Counting() {}

  static SavinaProgram program(int times) {
    return SavinaProgram.of("counting", SavinaProgram.size(times, "increments"), times,
        new ProgramSide("fibry", round -> fibry(Round.FIBERS, times, round)),
        new ProgramSide("fibry-pool", round -> fibry(Round.POOL, times, round)),
        new ProgramSide("pekko", round -> pekko(times, round)),
        new ProgramSide("queues", round -> queues(times, round)));
  }

  private static final class Count {
    long value;
  }

  private sealed interface Counter {
    enum Add implements Counter { ONE }

    record Get() implements Counter, Request<Get, Long> {}
  }

  // sendMessages(..) would be faster, but the program is one message per increment
  private static void fibry(ActorBuilder<Object> actors, int times, Round round) {
    var counter =
        actors.initialState(Count::new).newActor((Count count, Counter message, ActorContext<Counter> context) -> {
          switch (message) {
            case Counter.Add one -> count.value++;
            case Counter.Get get -> context.reply(get, count.value);
          }
        });
    Stereotypes.fibers().runOnce(() -> {
      for (int i = 0; i < times; i++) counter.sendMessage(Counter.Add.ONE);
      round.done(counter.ask(new Counter.Get()));
    });
  }

  private sealed interface PekkoCounter {
    enum Add implements PekkoCounter { ONE }

    record Get(ActorRef<Long> replyTo) implements PekkoCounter {}
  }

  private static void pekko(int times, Round round) {
    round.pekko(Behaviors.<Long>setup(context -> {
      var count = new Count();
      ActorRef<PekkoCounter> counter = context.spawnAnonymous(Behaviors.receiveMessage(message -> {
        switch (message) {
          case PekkoCounter.Add one -> count.value++;
          case PekkoCounter.Get get -> get.replyTo.tell(count.value);
        }
        return Behaviors.same();
      }));
      for (int i = 0; i < times; i++) counter.tell(PekkoCounter.Add.ONE);
      counter.tell(new PekkoCounter.Get(context.getSelf()));
      return Behaviors.receiveMessage(value -> {
        round.done(value);
        return Behaviors.same();
      });
    }));
  }

  private static void queues(int times, Round round) throws InterruptedException {
    var counter = new LinkedTransferQueue<Counter>();
    var answers = new LinkedTransferQueue<Long>();
    var count = new Count();
    round.serve(counter, message -> {
      switch (message) {
        case Counter.Add one -> count.value++;
        case Counter.Get get -> answers.put(count.value);
      }
    });
    for (int i = 0; i < times; i++) counter.put(Counter.Add.ONE);
    counter.put(new Counter.Get());
    round.done(answers.take());
  }
}
