package io.fibry.bench.savina;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.bench.savina.SavinaProgram.ProgramSide;
import java.util.ArrayList;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Each worker pings another one at random, waits for its pong and pings the next, while it replies
 * to the others. Savina: 120 workers, 20,000 pings each.
 */
final class Big {
  private Big() {}

  static SavinaProgram program(int workers, int pings) {
    return SavinaProgram.of("big", SavinaProgram.size(workers, "workers, ") + SavinaProgram.size(pings, "pings each"),
        (long) workers * pings,
        new ProgramSide("fibry", round -> fibry(Round.FIBERS, workers, pings, round)),
        new ProgramSide("fibry-pool", round -> fibry(Round.POOL, workers, pings, round)),
        new ProgramSide("pekko", round -> pekko(workers, pings, round)),
        new ProgramSide("queues", round -> queues(workers, pings, round)));
  }

  private sealed interface Message {
    record Ping(int from) implements Message {}

    record Pong(int from) implements Message {}
  }

  private interface Delivery {
    void send(int worker, Message message);
  }

  /**
   * A worker; the same on all sides. It must not block for its pong: two workers that wait for each
   * other would never answer.
   */
  private static final class Worker {
    private final SplittableRandom random;
    private final int me;
    private final int workers;
    private final int pings;
    private final Round round;
    private final Delivery all;
    private int pinged;
    private int heard;

    private Worker(int me, int workers, int pings, Round round, Delivery all) {
      this.random = new SplittableRandom(me);
      this.me = me;
      this.workers = workers;
      this.pings = pings;
      this.round = round;
      this.all = all;
    }

    void ping() {
      all.send(pinged = random.nextInt(workers), new Message.Ping(me));
    }

    void handle(Message message) {
      switch (message) {
        case Message.Ping ping -> all.send(ping.from, new Message.Pong(me));
        case Message.Pong pong -> {
          if (pong.from != pinged)
            round.fail(new IllegalStateException(me + " pinged " + pinged + " and heard from " + pong.from));
          if (++heard == pings) round.part(heard);
          else ping();
        }
      }
    }
  }

  private static void fibry(ActorBuilder<Object> actors, int workers, int pings, Round round) {
    round.parts(workers);
    var all = new ArrayList<Actor<Message>>();
    var inside = new ArrayList<Worker>();
    for (int i = 0; i < workers; i++) {
      inside.add(new Worker(i, workers, pings, round, (to, message) -> all.get(to).sendMessage(message)));
      all.add(actors.newActor(inside.get(i)::handle));
    }
    for (int i = 0; i < workers; i++) all.get(i).execute(inside.get(i)::ping);
  }

  private static void pekko(int workers, int pings, Round round) {
    round.parts(workers);
    round.pekko(Behaviors.setup(context -> {
      var all = new ArrayList<ActorRef<Message>>();
      var inside = new ArrayList<Worker>();
      for (int i = 0; i < workers; i++) {
        var worker = new Worker(i, workers, pings, round, (to, message) -> all.get(to).tell(message));
        inside.add(worker);
        all.add(context.spawnAnonymous(Behaviors.receiveMessage(message -> {
          worker.handle(message);
          return Behaviors.same();
        })));
      }
      inside.forEach(Worker::ping); // happens before the handling of the pong
      return Behaviors.empty();
    }));
  }

  private static void queues(int workers, int pings, Round round) {
    round.parts(workers);
    var all = new ArrayList<BlockingQueue<Message>>();
    for (int i = 0; i < workers; i++) all.add(new LinkedTransferQueue<>());
    for (int i = 0; i < workers; i++) {
      int me = i;
      var worker = new Worker(me, workers, pings, round, (to, message) -> all.get(to).add(message));
      round.start(() -> {
        worker.ping();
        for (;;) worker.handle(all.get(me).take());
      });
    }
  }
}
