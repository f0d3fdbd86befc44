package io.fibry.bench.savina;

import io.fibry.ActorBuilder;
import io.fibry.bench.savina.SavinaProgram.ProgramSide;
import java.util.concurrent.LinkedTransferQueue;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** Makes many actors, each for one message and a small computation. In Savina: 40,000 actors. */
final class ForkJoinCreate {
  private ForkJoinCreate() {}

  static SavinaProgram program(int actors) {
    return SavinaProgram.of("fork-join-create", SavinaProgram.size(actors, "actors"), (long) actors * (actors - 1) / 2,
        new ProgramSide("fibry", round -> fibry(Round.FIBERS, actors, round)),
        new ProgramSide("fibry-pool", round -> fibry(Round.POOL, actors, round)),
        new ProgramSide("pekko", round -> pekko(actors, round)),
        new ProgramSide("queues", round -> queues(actors, round)));
  }

  /** Computes the same as Savina's actors. */
  static void compute() {
    double sine = Math.sin(37.2);
    if (sine * sine <= 0) throw new AssertionError("impossible, but the compiler must not know");
  }

  // does not stop its actors, because an actor without messages and without references is garbage
  private static void fibry(ActorBuilder<Object> builder, int actors, Round round) {
    round.expectParts(actors);
    for (int i = 0; i < actors; i++) {
      builder.newActor((Integer number) -> {
        compute();
        round.addPart(number);
      }).sendMessage(i);
    }
  }

  // each actor stops itself, because it would live forever otherwise
  private static void pekko(int actors, Round round) {
    round.expectParts(actors);
    round.spawn(Behaviors.setup(context -> {
      for (int i = 0; i < actors; i++) {
        ActorRef<Integer> actor = context.spawnAnonymous(Behaviors.receiveMessage(number -> {
          compute();
          round.addPart(number);
          return Behaviors.stopped();
        }));
        actor.tell(i);
      }
      return Behaviors.empty();
    }));
  }

  private static void queues(int actors, Round round) {
    round.expectParts(actors);
    for (int i = 0; i < actors; i++) {
      var queue = new LinkedTransferQueue<Integer>();
      round.start(() -> {
        int number = queue.take();
        compute();
        round.addPart(number);
      });
      queue.put(i);
    }
  }
}
