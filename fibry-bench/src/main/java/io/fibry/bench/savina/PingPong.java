package io.fibry.bench.savina;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.bench.savina.SavinaProgram.ProgramSide;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.LinkedTransferQueue;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** Two actors with one message between them: ping asks, pong answers. Savina: 40,000 times. */
final class PingPong {
  private PingPong() {}

  private enum Pong { PONG }

  static SavinaProgram program(int times) {
    return SavinaProgram.of("ping-pong", SavinaProgram.size(times, "pings"), times,
        new ProgramSide("fibry", round -> fibry(times, round)),
        new ProgramSide("fibry-messages", round -> messages(Round.FIBERS, times, round)),
        new ProgramSide("fibry-pool", round -> messages(Round.POOL, times, round)),
        new ProgramSide("pekko", round -> pekko(times, round)),
        new ProgramSide("queues", round -> queues(times, round)));
  }

  private enum Ping { PING }

  private static void fibry(int times, Round round) {
    // .inlineRequests() would switch no thread, which is another question
    var pong = Round.FIBERS.newActorWithReturn((Ping ping) -> Pong.PONG);
    Stereotypes.fibers().runOnce(() -> {
      int heard = 0;
      for (int i = 0; i < times; i++) if (pong.ask(Ping.PING) == Pong.PONG) heard++;
      round.done(heard);
    });
  }

  // ---- Fibry, without waiting

  private record FibryPing(Actor<Pong> pinger) {}

  private static void messages(ActorBuilder<Object> actors, int times, Round round) {
    var heard = new int[1];
    var pong = actors.newActor((FibryPing ping) -> ping.pinger.sendMessage(Pong.PONG));
    var ping = actors.newActor((Pong answer, ActorContext<Pong> context) -> {
      if (++heard[0] == times) round.done(heard[0]);
      else pong.sendMessage(new FibryPing(context.self()));
    });
    pong.sendMessage(new FibryPing(ping));
  }

  private record PekkoPing(ActorRef<Pong> pinger) {}

  private static void pekko(int times, Round round) {
    round.pekko(Behaviors.setup(context -> {
      ActorRef<PekkoPing> pong = context.spawnAnonymous(Behaviors.receiveMessage(ping -> {
        ping.pinger.tell(Pong.PONG);
        return Behaviors.same();
      }));
      pong.tell(new PekkoPing(context.spawnAnonymous(ping(times, pong, round))));
      return Behaviors.empty();
    }));
  }

  private static Behavior<Pong> ping(int times, ActorRef<PekkoPing> pong, Round round) {
    var heard = new int[1];
    return Behaviors.receive((context, answer) -> {
      if (++heard[0] == times) round.done(heard[0]);
      else pong.tell(new PekkoPing(context.getSelf()));
      return Behaviors.same();
    });
  }

  private static void queues(int times, Round round) {
    var pings = new LinkedTransferQueue<Ping>();
    var pongs = new LinkedTransferQueue<Pong>();
    round.serve(pings, ping -> pongs.put(Pong.PONG));
    round.start(() -> {
      int heard = 0;
      for (int i = 0; i < times; i++) {
        pings.put(Ping.PING);
        if (pongs.take() == Pong.PONG) heard++;
      }
      round.done(heard);
    });
  }
}
