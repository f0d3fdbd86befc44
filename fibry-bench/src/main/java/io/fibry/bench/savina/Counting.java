package io.fibry.bench.savina;

import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.bench.savina.SavinaProgram.ProgramSide;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.LinkedTransferQueue;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * A producer sends increments to a counter, then asks for the count. Size in Savina: 1,000,000
 * increments.
 */
final class Counting {
  private Counting() {}

  static SavinaProgram program(int increments) {
    return SavinaProgram.of("counting", SavinaProgram.size(increments, "increments"), increments,
        new ProgramSide("fibry", round -> fibry(Round.FIBERS, increments, round)),
        new ProgramSide("fibry-pool", round -> fibry(Round.POOL, increments, round)),
        new ProgramSide("pekko", round -> pekko(increments, round)),
        new ProgramSide("queues", round -> queues(increments, round)));
  }

  private static final class Count {
    long value;
  }

  private sealed interface Counter {
    enum Add implements Counter { ONE }

    record Get() implements Counter, Request<Get, Long> {}
  }

  // sendMessages(..) would be faster, but Savina's program sends each increment by its own call
  private static void fibry(ActorBuilder<Object> actors, int increments, Round round) {
    var counter =
        actors.initialState(Count::new).newActor((Count count, Counter message, ActorContext<Counter> context) -> {
          switch (message) {
            case Counter.Add add -> count.value++;
            case Counter.Get get -> context.reply(get, count.value);
          }
        });
    Stereotypes.fibers().runOnce(() -> {
      for (int i = 0; i < increments; i++) counter.sendMessage(Counter.Add.ONE);
      round.setResult(counter.ask(new Counter.Get()));
    });
  }

  private sealed interface PekkoCounter {
    enum Add implements PekkoCounter { ONE }

    record Get(ActorRef<Long> replyTo) implements PekkoCounter {}
  }

  private static void pekko(int increments, Round round) {
    round.spawn(Behaviors.<Long>setup(context -> {
      var count = new Count();
      ActorRef<PekkoCounter> counter = context.spawnAnonymous(Behaviors.receiveMessage(message -> {
        switch (message) {
          case PekkoCounter.Add add -> count.value++;
          case PekkoCounter.Get get -> get.replyTo.tell(count.value);
        }
        return Behaviors.same();
      }));
      for (int i = 0; i < increments; i++) counter.tell(PekkoCounter.Add.ONE);
      counter.tell(new PekkoCounter.Get(context.getSelf()));
      return Behaviors.receiveMessage(value -> {
        round.setResult(value);
        return Behaviors.same();
      });
    }));
  }

  private static void queues(int increments, Round round) throws InterruptedException {
    var counter = new LinkedTransferQueue<Counter>();
    var answers = new LinkedTransferQueue<Long>();
    var count = new Count();
    round.serve(counter, message -> {
      switch (message) {
        case Counter.Add add -> count.value++;
        case Counter.Get get -> answers.put(count.value);
      }
    });
    for (int i = 0; i < increments; i++) counter.put(Counter.Add.ONE);
    counter.put(new Counter.Get());
    round.setResult(answers.take());
  }
}
