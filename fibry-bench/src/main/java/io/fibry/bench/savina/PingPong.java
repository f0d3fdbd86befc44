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

/**
 * Two actors exchange one message at a time: ping sends, and pong replies. Size in Savina: 40,000
 * pings.
 */
final class PingPong {
  private PingPong() {}

  private enum Pong { PONG }

  static SavinaProgram program(int pings) {
    return SavinaProgram.of("ping-pong", SavinaProgram.size(pings, "pings"), pings,
        new ProgramSide("fibry", round -> fibry(Round.FIBERS, pings, round)),
        new ProgramSide("fibry-inline", round -> fibry(Round.INLINE, pings, round)),
        new ProgramSide("fibry-messages", round -> fibryMessages(Round.FIBERS, pings, round)),
        new ProgramSide("fibry-pool", round -> fibryMessages(Round.POOL, pings, round)),
        new ProgramSide("pekko", round -> pekko(pings, round)),
        new ProgramSide("queues", round -> queues(pings, round)),
        new ProgramSide("hand", round -> hand(pings, round)));
  }

  private enum Ping { PING }

  private static void fibry(ActorBuilder<Object> actors, int pings, Round round) {
    var pong = actors.newActorWithReturn((Ping ping) -> Pong.PONG);
    Stereotypes.fibers().runOnce(() -> {
      int replies = 0;
      for (int i = 0; i < pings; i++) if (pong.ask(Ping.PING) == Pong.PONG) replies++;
      round.setResult(replies);
    });
  }

  // ---- Fibry, messages only: no handler waits

  private record FibryPing(Actor<Pong> pinger) {}

  private static void fibryMessages(ActorBuilder<Object> actors, int pings, Round round) {
    var replies = new int[1];
    var pong = actors.newActor((FibryPing ping) -> ping.pinger.sendMessage(Pong.PONG));
    var pinger = actors.newActor((Pong reply, ActorContext<Pong> context) -> {
      if (++replies[0] == pings) round.setResult(replies[0]);
      else pong.sendMessage(new FibryPing(context.self()));
    });
    pong.sendMessage(new FibryPing(pinger));
  }

  private record PekkoPing(ActorRef<Pong> pinger) {}

  private static void pekko(int pings, Round round) {
    round.spawn(Behaviors.setup(context -> {
      ActorRef<PekkoPing> pong = context.spawnAnonymous(Behaviors.receiveMessage(ping -> {
        ping.pinger.tell(Pong.PONG);
        return Behaviors.same();
      }));
      pong.tell(new PekkoPing(context.spawnAnonymous(pingBehavior(pings, pong, round))));
      return Behaviors.empty();
    }));
  }

  private static Behavior<Pong> pingBehavior(int pings, ActorRef<PekkoPing> pong, Round round) {
    var replies = new int[1];
    return Behaviors.receive((context, reply) -> {
      if (++replies[0] == pings) round.setResult(replies[0]);
      else pong.tell(new PekkoPing(context.getSelf()));
      return Behaviors.same();
    });
  }

  private static void queues(int pings, Round round) {
    var pingQueue = new LinkedTransferQueue<Ping>();
    var pongQueue = new LinkedTransferQueue<Pong>();
    round.serve(pingQueue, ping -> pongQueue.put(Pong.PONG));
    round.start(() -> {
      int replies = 0;
      for (int i = 0; i < pings; i++) {
        pingQueue.put(Ping.PING);
        if (pongQueue.take() == Pong.PONG) replies++;
      }
      round.setResult(replies);
    });
  }

  // ---- by hand: a request is the element of the queue, and the place of the answer

  private static final class HandPing extends HandActor.Request<Pong> {}

  private static void hand(int pings, Round round) {
    var pong = HandActor.start(round, (HandPing ping) -> ping.reply(Pong.PONG));
    round.start(() -> {
      int replies = 0;
      for (int i = 0; i < pings; i++) {
        var ping = new HandPing();
        pong.send(ping);
        if (ping.await() == Pong.PONG) replies++;
      }
      round.setResult(replies);
    });
  }
}
