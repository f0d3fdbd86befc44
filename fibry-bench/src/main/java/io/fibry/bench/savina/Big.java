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
 * Each worker pings a random worker, and pings the next when it has the pong. Meanwhile it replies
 * to the pings of the others. Size in Savina: 120 workers, 20,000 pings each.
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
    record Ping(int sender) implements Message {}

    record Pong(int sender) implements Message {}
  }

  private interface Delivery {
    void send(int worker, Message message);
  }

  /**
   * A worker, which all sides use. It must not block until its pong comes, because two workers that
   * wait for each other would never reply.
   */
  private static final class Worker {
    private final SplittableRandom random;
    private final int self;
    private final int workers;
    private final int pings;
    private final Round round;
    private final Delivery delivery;
    private int target;
    private int pongs;

    private Worker(int self, int workers, int pings, Round round, Delivery delivery) {
      this.random = new SplittableRandom(self);
      this.self = self;
      this.workers = workers;
      this.pings = pings;
      this.round = round;
      this.delivery = delivery;
    }

    void ping() {
      delivery.send(target = random.nextInt(workers), new Message.Ping(self));
    }

    void handle(Message message) {
      switch (message) {
        case Message.Ping ping -> delivery.send(ping.sender, new Message.Pong(self));
        case Message.Pong pong -> {
          if (pong.sender != target)
            round.fail(new IllegalStateException(self + " pinged " + target + " and heard from " + pong.sender));
          if (++pongs == pings) round.addPart(pongs);
          else ping();
        }
      }
    }
  }

  private static void fibry(ActorBuilder<Object> actors, int workers, int pings, Round round) {
    round.expectParts(workers);
    var workerActors = new ArrayList<Actor<Message>>();
    var workerStates = new ArrayList<Worker>();
    for (int i = 0; i < workers; i++) {
      workerStates.add(
          new Worker(i, workers, pings, round, (target, message) -> workerActors.get(target).sendMessage(message)));
      workerActors.add(actors.newActor(workerStates.get(i)::handle));
    }
    for (int i = 0; i < workers; i++) workerActors.get(i).execute(workerStates.get(i)::ping);
  }

  private static void pekko(int workers, int pings, Round round) {
    round.expectParts(workers);
    round.spawn(Behaviors.setup(context -> {
      var workerRefs = new ArrayList<ActorRef<Message>>();
      var workerStates = new ArrayList<Worker>();
      for (int i = 0; i < workers; i++) {
        var worker = new Worker(i, workers, pings, round, (target, message) -> workerRefs.get(target).tell(message));
        workerStates.add(worker);
        workerRefs.add(context.spawnAnonymous(Behaviors.receiveMessage(message -> {
          worker.handle(message);
          return Behaviors.same();
        })));
      }
      // safe on this thread: a worker uses `target` and `random` on its own thread only after the
      // pong, and so after this ping
      workerStates.forEach(Worker::ping);
      return Behaviors.empty();
    }));
  }

  private static void queues(int workers, int pings, Round round) {
    round.expectParts(workers);
    var mailboxes = new ArrayList<BlockingQueue<Message>>();
    for (int i = 0; i < workers; i++) mailboxes.add(new LinkedTransferQueue<>());
    for (int i = 0; i < workers; i++) {
      int self = i;
      var worker = new Worker(self, workers, pings, round, (target, message) -> mailboxes.get(target).add(message));
      round.start(() -> {
        worker.ping();
        for (;;) worker.handle(mailboxes.get(self).take());
      });
    }
  }
}
