package io.fibry.bench.savina;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.bench.savina.SavinaProgram.ProgramSide;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Actors in a ring pass on a token, which is the number of remaining hops. Size in Savina: 100
 * actors, 100,000 hops.
 */
final class ThreadRing {
  private ThreadRing() {}

  static SavinaProgram program(int members, int hops) {
    return SavinaProgram.of("thread-ring", SavinaProgram.size(members, "actors, ") + SavinaProgram.size(hops, "hops"),
        hops % members,
        new ProgramSide("fibry", round -> fibry(Round.FIBERS, members, hops, round)),
        new ProgramSide("fibry-pool", round -> fibry(Round.POOL, members, hops, round)),
        new ProgramSide("pekko", round -> pekko(members, hops, round)),
        new ProgramSide("queues", round -> queues(members, hops, round)));
  }

  private static void fibry(ActorBuilder<Object> actors, int members, int hops, Round round) {
    var ring = new ArrayList<Actor<Integer>>();
    for (int i = 0; i < members; i++) {
      int number = i;
      ring.add(actors.newActor((Integer remainingHops) -> {
        if (remainingHops == 0) round.setResult(number);
        else ring.get((number + 1) % members).sendMessage(remainingHops - 1);
      }));
    }
    ring.getFirst().sendMessage(hops);
  }

  private static void pekko(int members, int hops, Round round) {
    round.spawn(Behaviors.setup(context -> {
      var ring = new ArrayList<ActorRef<Integer>>();
      for (int i = 0; i < members; i++) {
        int number = i;
        ring.add(context.spawnAnonymous(Behaviors.receiveMessage(remainingHops -> {
          if (remainingHops == 0) round.setResult(number);
          else ring.get((number + 1) % members).tell(remainingHops - 1);
          return Behaviors.same();
        })));
      }
      ring.getFirst().tell(hops);
      return Behaviors.empty();
    }));
  }

  private static void queues(int members, int hops, Round round) throws InterruptedException {
    var ring = new ArrayList<BlockingQueue<Integer>>();
    for (int i = 0; i < members; i++) ring.add(new LinkedTransferQueue<>());
    for (int i = 0; i < members; i++) {
      int number = i;
      round.serve(ring.get(i), remainingHops -> {
        if (remainingHops == 0) round.setResult(number);
        else ring.get((number + 1) % members).put(remainingHops - 1);
      });
    }
    ring.getFirst().put(hops);
  }
}
